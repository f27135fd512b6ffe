@testset "what is written is read again" begin
    td = TensorDict(2; x = [1, -2], n = (y = [0.1, 1.0],))
    mktempdir() do dir
        for name in ("t.csv", "t.json")
            file = save_table(joinpath(dir, name), td; separator = ".")
            @test load_table(file; separator = ".") == td
            @test keys(load_table(file)) == ["x", "n.y"]
        end
        @test startswith(read(joinpath(dir, "t.csv"), String), "x,n.y\n1,0.1\n")
        @test startswith(read(joinpath(dir, "t.json"), String), "[\n{\"x\":1")
        @test_throws ArgumentError save_table(joinpath(dir, "t.csv"), td)
        @test_throws ArgumentError load_table(joinpath(dir, "t.csv"); format = :xml)
        @test_throws TensorDictError load_table(joinpath(dir, "t.csv"); format = :json)
    end
end

@testset "a recording is flattened" begin
    td = TensorDict((2, 2); a = reshape(collect(0:7), 2, 2, 2))
    mktempdir() do dir
        file = save_table(joinpath(dir, "t.csv"), td; flatten = true)
        @test startswith(read(file, String), "episode,step,a[0],a[1]\n0,0,0,4\n0,1,2,6\n")
        @test load_table(file; flatten = true) == td
        @test_throws DimensionMismatch save_table(file, td)
    end
end
