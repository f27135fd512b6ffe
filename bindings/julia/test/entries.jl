sample() = TensorDict(3; a = [1, 2, 3], n = (b = [4, 5, 6], c = [1.0 2.0; 3.0 4.0; 5.0 6.0]))
all_keys(td) = keys(td; nested = true)

@testset "update" begin
    td = sample()
    n, a = td["n"], td["a"]
    update!(td, (a = [7, 8, 9], n = (new = [0, 0, 0],)))
    @test Array(td["a"]) == [7, 8, 9] && Array(a) == [1, 2, 3]
    @test issame(td["n"], n) && haskey(n, "new") && haskey(n, "b")
    @test_throws ArgumentError update!(td, sample(); mode = :other)
    a = td["a"]
    update!(td, (a = [1, 1, 1], z = [0, 0, 0]); mode = :inplace)
    @test Array(a) == [1, 1, 1] && haskey(td, "z")
    lock!(td)
    @test_throws TensorDictError update!(td, (a = [2, 2, 2],))
    update_inplace!(td, (a = [2, 2, 2],))
    @test Array(a) == [2, 2, 2]
    @test_throws KeyError update_inplace!(td, (a = [3, 3, 3], nothing_there = [1, 1, 1]))
    @test Array(a) == [2, 2, 2]
    update!(td, (q = [1, 1, 1],); ignore_lock = true)
    @test haskey(td, "q")
    copyto!(td, TensorDict(3; a = [4, 4, 4]))
    @test Array(a) == [4, 4, 4]
    fresh = update!(TensorDict(3), sample(); keys = [("n", "b")])
    @test all_keys(fresh) == ["n", ("n", "b")]
    more = updated(fresh, (x = [1, 2, 3],))
    @test haskey(more, "x") && !haskey(fresh, "x")
    @test all_keys(merge!(TensorDict(3), (x = [1, 2, 3],), (y = [1, 2, 3],))) == ["x", "y"]
    source = TensorDict(3; x = [1, 2, 3])
    @test pointer(update!(TensorDict(3), source; clone = true)["x"]) != pointer(source["x"])
    @test size(update!(TensorDict(2; x = [1, 2]), source; update_batch_size = true)) == (3,)
    @test !haskey(update!(sample(), (n = (x = [1, 2, 3],),); whole_dicts = true), "n", "b")
end

@testset "a part of the entries" begin
    td = sample()
    update_at!(td, TensorDict((); a = 9, n = (c = 0.5,)), 2)
    @test Array(td["a"]) == [1, 9, 3] && Array(td["n", "c"]) == [1 2; 0.5 0.5; 5 6]
    @test_throws ArgumentError update_at!(td, TensorDict((); a = 9), [1, 2]; exact = true)
    @test_throws KeyError update_at!(td, TensorDict((); zz = 9), 2)
    @test Array(get_at(td, ("n", "c"), :, 2)) == [2, 0.5, 6]
    set_at!(td, ("n", "c"), 0, 1, :)
    @test Array(td["n", "c"])[1, :] == [0, 0]
    @test_throws BoundsError get_at(td, "a", 4)
    @test_throws KeyError get_at(td, "zz", 1)
end

@testset "one entry" begin
    td = sample()
    a = td["a"]
    write!(td, "a", [0, 0, 0])
    write!(td, ("m", "x"), [1, 2, 3])
    @test Array(a) == [0, 0, 0] && haskey(td, "m", "x")
    fill_entry!(td, "n", 7)
    @test all(==(7), Array(td["n", "b"])) && all(==(7), Array(td["n", "c"]))
    @test Array(get!(td, "a", [5, 5, 5])) == [0, 0, 0]
    @test Array(get!(td, "new", [5, 5, 5])) == [5, 5, 5] && haskey(td, "new")
    @test get!(td, "n", [1, 2, 3]) isa TensorDict
    @test Array(get!(() -> [6, 6, 6], td, ("m", "y"))) == [6, 6, 6]
    @test Array(get!(() -> error("it is there"), td, ("m", "y"))) == [6, 6, 6]
end

@testset "pop!" begin
    td = sample()
    @test Array(pop!(td, ("n", "b"))) == [4, 5, 6] && all_keys(td) == ["a", "n", ("n", "c")]
    @test_throws KeyError pop!(td, "zz")
    @test pop!(td, "zz", nothing) === nothing
    td["s"] = NonTensorData("\"text\"")
    @test pop!(td) == ("s" => NonTensorData("\"text\""))
    name, n = pop!(td)
    @test name == "n" && haskey(n, "c")
    lock!(td)
    @test_throws TensorDictError pop!(td, "a")
    @test first(pop!(unlock!(td))) == "a"
    @test_throws ArgumentError pop!(td)
end

@testset "renamed, made, emptied" begin
    td = sample()
    rename_key!(td, "a" => ("n", "a"))
    @test all_keys(td) == ["n", ("n", "b"), ("n", "c"), ("n", "a")]
    @test_throws TensorDictError rename_key!(td, ("n", "a") => ("n", "b"); safe = true)
    @test_throws KeyError rename_key!(td, "zz" => "y")
    create_nested!(td, ("x", "y"))
    @test size(td["x", "y"]) == (3,)
    @test keys(empty(td)) == String[] && size(empty(td)) == (3,)
    @test all_keys(empty(td; nested = true)) == ["n", "x", ("x", "y")]
    @test !haskey(remove_empty!(td), "x")
    td["s"] = NonTensorData("1")
    @test !haskey(filter_non_tensor(td), "s") && haskey(td, "s")
    @test isempty(empty!(td)) && size(td) == (3,)
end

@testset "select, exclude, split" begin
    td = sample()
    @test all_keys(select(td, ("n", "c"), "a")) == ["n", ("n", "c"), "a"]
    @test_throws KeyError select(td, "zz")
    @test all_keys(select(td, "zz", "a"; strict = false)) == ["a"]
    @test all_keys(exclude(td, "a", ("n", "b"), "zz")) == ["n", ("n", "c")]
    one, two, rest = split_keys(td, ["a"], [("n", "b") => "x"])
    @test all_keys(one) == ["a"] && all_keys(two) == ["x"] && all_keys(rest) == ["n", ("n", "c")]
    @test_throws KeyError split_keys(td, ["zz"])
    @test all_keys(split_keys(td, ["zz"]; strict = false, keep_structure = true)[1]) == ["n"]
    taken = separate!(td, ("n", "b"), ("n", "c"))
    @test all_keys(taken) == ["n", ("n", "b"), ("n", "c")] && all_keys(td) == ["a"]
    td = sample()
    @test all_keys(exclude!(td, ("n", "b"))) == ["a", "n", ("n", "c")]
    @test all_keys(select!(td, "a")) == ["a"] == all_keys(td)
end

@testset "flattened and merged" begin
    td = sample()
    flat = flatten_keys(td, "/")
    @test keys(flat) == ["a", "n/b", "n/c"] && unflatten_keys(flat, "/") == td
    @test all_keys(flatten_keys(td; is_leaf = ==("n"))) == all_keys(td)
    @test_throws DivideError flatten_keys(td; is_leaf = key -> div(1, 0) == 1)
    @test all_keys(flatten_keys!(td)) == ["a", "n.b", "n.c"] && haskey(td, "n.b")
    @test haskey(unflatten_keys!(td), "n", "b")
    @test_throws ArgumentError flatten_keys(td, "")
    other = TensorDict(3; a = [10, 20, 30], n = (z = [0, 0, 0],))
    @test Array(merge(td, other)["a"]) == [10, 20, 30]
    @test Array(merge_tensordicts(td, other)["a"]) == [1, 2, 3]
    @test Array(mergewith((x, y) -> x .+ y, td, other)["a"]) == [11, 22, 33]
    @test haskey(merge(td, other), "n", "b") && haskey(merge(td, other), "n", "z")
    @test_throws DivideError mergewith((x, y) -> div(1, 0), td, other)
end

@testset "what is known" begin
    td = sample()
    td["s"] = NonTensorData("1")
    @test keys(td; nested = true, leaves = true, data = true) == ["a", ("n", "b"), ("n", "c"), "s"]
    @test keys(td; nested = true, contents_first = true)[2:4] == [("n", "b"), ("n", "c"), "n"]
    @test keys(td; nested = true, leaves = true, is_leaf = ==("n")) == ["a", "n"]
    @test depth(td) == 1 && depth(TensorDict(())) == 0
    @test entry_size(td, ("n", "c")) == (3, 2) && entry_size(td, "n") == (3,)
    @test_throws KeyError entry_size(td, "zz")
    @test unravel_key((("a",), ("b", (:c,)))) == ("a", "b", "c")
    @test all_keys(from_keys(["a", ("n", "b")], 0)) == ["a", "n", ("n", "b")]
    wide = TensorDict((); a = zeros(3, 4, 5), n = (b = zeros(3, 4, 6),))
    @test size(auto_batch_size!(wide)) == (3, 4) && size(wide["n"]) == (3, 4, 6)
    @test size(auto_batch_size!(wide; max_dims = 1, keep_compliant = true)["n"]) == (3, 4, 6)
    @test size(auto_batch_size!(wide; max_dims = 1)["n"]) == (3,)
end
