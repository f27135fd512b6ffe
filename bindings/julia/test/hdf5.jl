function built_with_hdf5(path)
    try
        save_hdf5(path, TensorDict(2; x = [1, 2]))
        true
    catch error
        occursin("HDF5", sprint(showerror, error)) || rethrow()
        false
    end
end

mktempdir() do folder
    path = joinpath(folder, "a.h5")
    built_with_hdf5(path) || return
    @testset "rows are read without the rest" begin
        save_hdf5(path, TensorDict(10; x = 1:10, n = TensorDict(10; y = 11:20)); deflate = 4, chunk_rows = 3)
        @test Array(load_hdf5(path)["n", "y"]) == 11:20
        @test Array(load_file(path)["x"]) == 1:10
        file = open_hdf5(path)
        @test size(file) == (10,)
        @test sort(collect(keys(file)); by = string) == [("n", "y"), "x"]
        @test Array(file[3:5]["x"]) == 3:5
        @test Array(file[[9, 2]]["n", "y"]) == [19, 12]
        close(file)
        @test collect(keys(load_hdf5(path; keys = [("n", "y")]))) == ["n"]
        @test_throws Exception load_hdf5(path; group = "none")
    end
    @testset "demonstrations are a lazy stack" begin
        stack = lazy_stack([TensorDict(n; x = 1:n) for n in (2, 5)])
        save_hdf5(path, stack; group = "data", stack = true)
        again = load_hdf5(path; group = "data", stack = true)
        @test length(again) == 2
        @test Array(again[2]["x"]) == 1:5
        @test get_json(load_hdf5(path; group = "data/demo_1", attributes = true), "num_samples") == "5"
    end
end
