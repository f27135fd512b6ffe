recorded() = TensorDict(2; x = Float32[1, 2], n = (y = [3, 4],))

@testset "damaged files are named" begin
    mktempdir() do folder
        dir = joinpath(folder, "m")
        memmap(recorded(), dir; checksums = true, durable = true, num_threads = 2)
        @test isfile(joinpath(dir, "checksums"))
        told = (0, 0)
        @test isempty(verify_memmap(dir; num_threads = 2, progress = (done, total) -> (told = (done, total))))
        @test told[1] == told[2] > 24
        write(joinpath(dir, "n", "y.memmap"), zeros(UInt8, 16))
        write(joinpath(dir, "x.memmap"), zeros(UInt8, 7))
        found = verify_memmap(dir)
        @test [(one.path, one.kind) for one in found] == [("n/y.memmap", :changed), ("x.memmap", :short)]
        @test (found[2].expected, found[2].found) == (8, 7) && occursin("too short", found[2].message)
        @test_throws TensorDictError checksum_memmap(dir)
        write(joinpath(dir, "x.memmap"), zeros(UInt8, 8))
        checksum_memmap(dir; num_threads = 2)
        @test isempty(verify_memmap(dir))
    end
end

@testset "a verification that is ended" begin
    mktempdir() do folder
        dir = joinpath(folder, "m")
        memmap(recorded(), dir)
        @test_throws ErrorException checksum_memmap(dir; progress = (done, total) -> error("enough"))
        @test !ispath(joinpath(dir, "checksums"))
        @test_throws TensorDictError verify_memmap(joinpath(folder, "none"))
    end
end
