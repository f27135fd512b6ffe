make() = contiguous(TensorDict((2, 3); x = zeros(Float32, 2, 3, 2, 2), r = zeros(2, 3),
                               n = (done = fill(false, 2, 3, 1),)))

@testset "rows" begin
    td = make()
    Writer(td) do w
        x, r, done = bind!(w, "x"), bind!(w, :r), bind!(w, "n", "done")
        @test [TensorDicts.row_bytes(w, field) for field in (x, r, done)] == [16, 8, 1]
        for row in 1:6
            put!(w, x, Float32[row 2row; 3row 4row])
            put!(w, r, row / 2)
            put!(w, done, [row == 6])
            next!(w)
        end
        @test rows(w) == 6 && flush(w) === nothing
        e = try put!(w, r, 1); nothing catch e; e end
        @test e isa TensorDictError && e.status == TensorDicts.TD_ERR_CAPACITY
        @test_throws TensorDictError next!(w)
    end
    @test Array(td["x"])[1, 2, :, :] == [2 4; 6 8] && Array(td["x"])[2, 3, :, :] == [6 12; 18 24]
    @test Array(td["r"]) == [0.5 1 1.5; 2 2.5 3]
    @test Array(td["n", "done"])[:, :, 1] == [false false false; false false true]
end

@testset "part of the rows" begin
    td = make()
    w = Writer(td; first = 5, capacity = 1)
    r = bind!(w, "r")
    put!(w, r, Int8(9))
    next!(w)
    @test rows(w) == 1 && repr(w) == "Writer(1 rows written)"
    @test_throws TensorDictError put!(w, r, 1)
    @test Array(td["r"]) == [0 0 0; 0 9 0]
    close(w)
    @test !isopen(w) && close(w) === nothing && repr(w) == "closed Writer"
    @test_throws ReleasedError put!(w, r, 1.0)
end

@testset "mistakes" begin
    td = make()
    w = Writer(td)
    @test_throws KeyError bind!(w, "none")
    @test_throws DimensionMismatch Writer(w -> bind!(w, "x"), TensorDict(2; x = zeros(2, 3)))
    @test_throws TensorDictError bind!(w, "n")
    x = bind!(w, "x")
    @test_throws DimensionMismatch put!(w, x, zeros(Float32, 2, 3))
    @test_throws MethodError put!(w, x, zeros(Float32, 4))
    @test_throws DimensionMismatch put!(w, x, 1)
    @test_throws DimensionMismatch Writer(TensorDict(()))
    @test_throws ArgumentError Writer(td; first = 8)
    @test_throws ArgumentError Writer(td; first = 0)
    close(w)
end

@testset "to disk, without allocating" begin
    mktempdir() do folder
        td = memmap_like(expand(TensorDict((); x = Float32[1, 2, 3]), 100), folder)
        function fill_rows(td)
            w = Writer(td)
            x, row = bind!(w, "x"), Float32[0, 0, 0]
            put!(w, x, row)
            bytes = @allocated for i in 1:100
                row .= i
                put!(w, x, row)
                next!(w)
            end
            close(w)
            bytes
        end
        @test fill_rows(td) == 0
        flush(td)
        @test reinterpret(Float32, read(joinpath(folder, "x.memmap")))[end] == 100
        close(td)
    end
end
