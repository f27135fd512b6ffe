sample() = TensorDict(2; x = [1, -2], n = (y = Float32[0.5 1; 2 4],))

@testset "what is written is read again" begin
    td = sample()
    mktempdir() do dir
        for name in ("f.safetensors", "f.npy", "f.npz", "f.pt")
            file = save_file(joinpath(dir, name), td; deflate = true, durable = true)
            @test load_file(file; batch_dims = 1) == td
        end
        @test_throws TensorDictError save_file(joinpath(dir, "f.tdz"), td)
        @test_throws ArgumentError load_file(joinpath(dir, "f.npz"); format = :xml)
        @test_throws TensorDictError load_file(joinpath(dir, "none"))
    end
end

@testset "metadata and names" begin
    td = sample()
    td["note"] = NonTensorData("\"hello\"")
    mktempdir() do dir
        file = save_file(joinpath(dir, "f"), td; format = :safetensors, separator = "/", metadata = "{\"format\":\"pt\"}")
        @test startswith(file_metadata(file), "{\"format\":\"pt\",\"tensordict\":")
        @test load_file(file; separator = "/") == td
        @test "n" in keys(load_file(file; separator = "/")) && "n" in keys(load_file(file; separator = "")) # the file tells
        @test_throws TensorDictError load_file(file; max_entries = 1)
    end
end

@testset "one tensor" begin
    mktempdir() do dir
        file = save_tensor(joinpath(dir, "f.npy"), Tensor([1.5, 2.5]))
        t = load_tensor(file; write_through = true)
        t .= [3.0, 4.0]
        @test Array(load_tensor(file)) == [3.0, 4.0]
        @test Array(load_file(file)["arr_0"]) == [3.0, 4.0]
    end
end

struct LogRow
    x::Int32
    y::NTuple{2,Float32}
end

@testset "raw records" begin
    mktempdir() do dir
        rows = [LogRow(1, (0.5, 1)), LogRow(2, (1.5, 2))]
        file = joinpath(dir, "log.bin")
        open(io -> (write(io, zeros(UInt8, 4)); write(io, rows)), file, "w")
        td = load_file(file; records = LogRow, header_bytes = 4)
        @test to_structs(LogRow, td) == rows
        again = save_file(joinpath(dir, "again.bin"), td; records = LogRow, header_bytes = 4)
        @test read(again) == read(file)
    end
end
