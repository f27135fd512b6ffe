make() = TensorDict(3; x = Float32[1 2; 3 4; 5 6], n = (größe = [7, 8, 9],))

@testset "save and load" begin
    mktempdir() do folder
        dir = joinpath(folder, "Ordner mit Umlaut ö 観測")
        td = make()
        disk = memmap(td, dir)
        @test disk == td && islocked(disk) && ismemmap(disk) && device(disk) == cpu() && !ismemmap(td)
        @test realpath(saved_path(disk)) == realpath(dir)
        @test isfile(joinpath(dir, "meta.json")) && filesize(joinpath(dir, "x.memmap")) == 24

        @test ismemmap(disk["x"]) && ismemmap(disk["x"][2]) && !ismemmap(copy(disk["x"])) && !ismemmap(td["x"])

        again = load_memmap(dir)
        @test again == td && !islocked(again) && realpath(saved_path(again)) == realpath(dir)
        again["x"][1, 1] = 100
        @test disk["x"][1, 1][] == 100
        @test flush(again) === nothing && flush(disk) === nothing
        @test reinterpret(Float32, read(joinpath(dir, "x.memmap")))[1:2] == [100, 2]

        apart = load_memmap(dir; private = true)
        apart["x"][1, 1] = -1
        @test apart["x"][1, 1][] == -1 && disk["x"][1, 1][] == 100
        shapes = load_memmap(dir; device = Device("meta"))
        @test size(shapes["x"]) == (3, 2) && device(shapes["x"]) == Device("meta")
        @test_throws TensorDictError load_memmap(dir; max_entries = 1)

        @test_throws TensorDictError memmap(td, dir; fail_if_exists = true)
        other = memmap(disk, joinpath(folder, "copy"); copy_existing = true, num_threads = 2)
        @test other == disk && filesize(joinpath(folder, "copy", "x.memmap")) == 24
        verbatim = memmap(TensorDict(2, "a b" => [1, 2]), joinpath(folder, "verbatim"); verbatim_names = true)
        @test isfile(joinpath(folder, "verbatim", "a b.memmap"))
        @test Array(load_memmap(joinpath(folder, "verbatim"); verbatim_names = true)["a b"]) == [1, 2]
        foreach(close, (disk, again, apart, other, verbatim))
    end
end

@testset "in place, like, without a name" begin
    mktempdir() do folder
        td = make()
        @test memmap!(td, joinpath(folder, "own")) === td && ismemmap(td) && islocked(td)
        @test td == load_memmap(joinpath(folder, "own"))
        blank = memmap_like(expand(TensorDict((); x = Float32[1, 2]), 1000), joinpath(folder, "blank"))
        @test size(blank) == (1000,) && size(blank["x"]) == (1000, 2) && all(==(0), Array(blank["x"]))
        @test filesize(joinpath(folder, "blank", "x.memmap")) == 8000
        nameless = memmap(make())
        @test nameless == make() && ismemmap(nameless) && saved_path(nameless) === nothing
        foreach(close, (td, blank, nameless))
    end
end

@test_throws ArgumentError load_memmap("a\0b")
