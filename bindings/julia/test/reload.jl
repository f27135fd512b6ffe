pair(values) = TensorDict(length(values); x = values, n = (y = -values,))

@testset "a part of a folder" begin
    mktempdir() do folder
        dir = joinpath(folder, "td")
        memmap(TensorDict(2; a = Dict("b/c" => Dict("x" => [1, 2]))), dir)
        @test Array(load_memmap(dir, "a", "b/c")["x"]) == [1, 2]
        @test Array(load_memmap(dir, ("a", "b/c"); private = true)["x"]) == [1, 2]
        e = try load_memmap(dir, "b"); nothing catch e; e end
        @test e isa KeyError || (e isa TensorDictError && e.status == TensorDicts.TD_ERR_KEY_NOT_FOUND)
    end
end

@testset "a folder read into a dictionary" begin
    mktempdir() do folder
        dir = joinpath(folder, "td")
        memmap(pair([1, 2]), dir)
        td = TensorDict(2; x = [7.0, 8.0], own = [1, 1])
        @test load_memmap!(td, dir) === td
        @test Array(td["x"]) == [1, 2] && Array(td["n", "y"]) == [-1, -2] && Array(td["own"]) == [1, 1]
        @test saved_path(td) == dir
        @test_throws DimensionMismatch load_memmap!(pair([1, 2, 3]), dir)
        memmap(pair([3, 4, 5]), dir)
        delete!(td, "own")
        @test refresh!(td) === td
        @test size(td) == (3,) && Array(td["n", "y"]) == [-3, -4, -5]
        @test_throws ArgumentError refresh!(pair([1]))
    end
end

@testset "new entries of a folder" begin
    mktempdir() do folder
        dir = joinpath(folder, "td")
        td = memmap(pair([1, 2]), dir)
        z = make_memmap!(td, "z", Int16, (2, 3))
        @test size(z) == (2, 3) && eltype(z) == Int16 && ismemmap(z) && all(iszero, Array(z))
        made = make_memmap!(td, ("deep", "er"), [5.0, 6.0])
        @test Array(made) == [5, 6] && islocked(td)
        @test Array(make_memmap!(td, "t", Tensor([1, 2]))) == [1, 2]
        @test load_memmap(dir) == td
        e = try make_memmap!(td, "z", Int16, 2); nothing catch e; e end
        @test e isa TensorDictError && e.status == TensorDicts.TD_ERR_KEY_EXISTS
    end
end

@testset "saving in the background" begin
    mktempdir() do folder
        dir = joinpath(folder, "td")
        td = pair([1, 2])
        saving = memmap_start(td, dir; num_threads = 2)
        wait(saving)
        @test isready(saving)
        @test TensorDicts.progress(saving) == (2, 2)
        @test fetch(saving) == td && issame(fetch(saving), fetch(saving))
        close(saving)
        close(saving)
        @test load_memmap(dir) == td
        @test_throws ReleasedError isready(saving)
        write(joinpath(folder, "file"), "x")
        saving = memmap_start(td, joinpath(folder, "file", "td"))
        e = try fetch(saving); nothing catch e; e end
        @test e isa TensorDictError && e.status == TensorDicts.TD_ERR_IO
        memmap_start(td, joinpath(folder, "other")) # forgotten: a finalizer does not wait
        GC.gc()
    end
end
