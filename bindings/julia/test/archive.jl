stored() = TensorDict(2; x = Float32[1, 2], n = (y = [3, 4],))

@testset "one file in place of a folder" begin
    mktempdir() do folder
        at(name) = joinpath(folder, name)
        td = memmap(stored(), at("td.tdz"))
        @test td == stored() && !islocked(td) && is_memmap_archive(at("td.tdz"))
        memmap(stored(), at("packed"); archive = true, compression = :deflate, num_threads = 2)
        @test load_memmap(at("packed")) == stored()
        memmap(stored(), at("folder.tdz"); archive = false)
        @test isdir(at("folder.tdz")) && !is_memmap_archive(at("folder.tdz"))
        @test_throws ArgumentError memmap(stored(), at("x.tdz"); compression = :best)
        @test_throws ArgumentError memmap(stored(), at("x"); compression = :deflate)
    end
end

@testset "folders are packed and unpacked" begin
    mktempdir() do folder
        at(name) = joinpath(folder, name)
        memmap(stored(), at("td"))
        pack_memmap(at("td"), at("a"); compression = :deflate, durable = true)
        @test_throws TensorDictError pack_memmap(at("td"), at("a"); fail_if_exists = true)
        unpack_memmap(at("a"), at("back"))
        @test load_memmap(at("back")) == stored()
        write(at("text"), "no archive")
        @test !is_memmap_archive(at("text")) && !is_memmap_archive(at("nothing"))
        e = try unpack_memmap(at("text"), at("x")); nothing catch e; e end
        @test e isa TensorDictError && e.status == TensorDicts.TD_ERR_FORMAT
    end
end

@testset "an archive and a consolidated file are written to" begin
    mktempdir() do folder
        at(name) = joinpath(folder, name)
        memmap(stored(), at("td.tdz"))
        td = load_memmap(at("td.tdz"); write_through = true)
        fill!(td["x"], 7)
        flush(td)
        @test Array(load_memmap(at("td.tdz"); num_threads = 2)["x"]) == [7, 7]
        @test_throws TensorDictError unpack_memmap(at("td.tdz"), at("back"))
        refresh_archive_checksums(at("td.tdz"))
        unpack_memmap(at("td.tdz"), at("back"))
        @test Array(load_memmap(at("back"))["x"]) == [7, 7]
        consolidate(stored(), at("c"); durable = true)
        @test consolidate(stored(); num_threads = 2) == stored()
        fill!(load_consolidated(at("c"); write_through = true)["x"], 8)
        @test Array(load_consolidated(at("c"))["x"]) == [8, 8]
    end
end
