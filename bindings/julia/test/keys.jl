td = TensorDict(2; b = [1, 2], n = (y = [3, 4], deep = (x = [5, 6],)), a = [7, 8])

@test keys(td) == ["b", "n", "a"]
@test keys(td; sort = true) == ["a", "b", "n"]
@test keys(td; leaves = true) == ["b", "a"]
@test keys(td; nested = true) == ["b", "n", ("n", "y"), ("n", "deep"), ("n", "deep", "x"), "a"]
@test keys(td; nested = true, leaves = true, sort = true) == ["a", "b", ("n", "deep", "x"), ("n", "y")]
@test "b" in keys(td) && ("n", "y") in keys(td; nested = true)

@test Array.(values(td; leaves = true)) == [[1, 2], [7, 8]]
@test Dict(key => Array(t) for (key, t) in pairs(td; nested = true, leaves = true)) ==
      Dict("b" => [1, 2], ("n", "y") => [3, 4], ("n", "deep", "x") => [5, 6], "a" => [7, 8])
@test last(pairs(td)[2]) isa TensorDict

@test haskey(td, "b") && haskey(td, :n, :y) && haskey(td, ("n", "deep", "x"))
@test !haskey(td, "x") && !haskey(td, "b", "x")
@test Array(get(td, "b", nothing)) == [1, 2] && get(td, ("n", "no"), 5) == 5 && get(() -> 6, td, "no") == 6
@test Array(get(td, ("n", "y"), nothing)) == [3, 4]

# A list is a snapshot.
for key in keys(td)
    td["copy of $key"] = td[key]
end
@test length(keys(td)) == 6

delete!(td, "copy of a")
delete!(td, "copy of a")
@test !haskey(td, "copy of a")
@test Array(pop!(td, ("n", "deep", "x"))) == [5, 6] && isempty(td["n", "deep"])
@test pop!(td, "no", 1) == 1
@test_throws KeyError pop!(td, "no")

# Names are text of any script; only NUL has no place in one.
for name in ("größe", "観測", "🙂", "with space", "a.b", "a/b")
    td[name] = [1, 2]
    td["nested " * name, name] = [3, 4]
    @test Array(td[name]) == [1, 2] && Array(td["nested " * name, name]) == [3, 4]
    @test name in keys(td) && ("nested " * name, name) in keys(td; nested = true)
end
@test_throws ArgumentError td["a\0b"]
@test_throws ArgumentError td["a\0b"] = [1, 2]
@test_throws ArgumentError haskey(td, 1.5)
@test_throws ArgumentError td[()]
