x = reshape(collect(0:23), 3, 4, 2)
td = TensorDict((3, 4); x = x, n = (y = x[:, :, 1],))
same(part, expected) = size(part) == size(expected)[1:ndims(part)] && Array(part["x"]) == expected

@testset "views" begin
    @test size(td[1]) == (4,) && same(td[1], x[1, :, :])
    @test same(td[1, :], x[1, :, :]) && same(td[:, 2], x[:, 2, :]) && same(td[2, 3], x[2, 3, :])
    @test size(td[2, 3]) == () && Array(td[2, 3]["n", "y"])[] == x[2, 3, 1]
    @test same(td[end], x[end, :, :]) && same(td[end, end-1], x[end, end-1, :])
    @test same(td[:, end-1:end], x[:, 3:4, :]) && same(td[2:3], x[2:3, :, :])
    @test same(td[1:2:end], x[1:2:3, :, :]) && same(td[:, 2:2:end], x[:, 2:2:4, :])
    @test same(td[begin, begin+1], x[1, 2, :])
    @test same(td[1:0], x[1:0, :, :]) && same(td[5:4], x[1:0, :, :]) && same(td[5:2:4], x[1:0, :, :])
    @test same(td[.., 2], x[:, 2, :]) && same(td[2, ..], x[2, :, :]) && same(td[..], x)
    @test same(td[1, .., 2], x[1, 2, :]) && same(td[1, 2, ..], x[1, 2, :])
    @test size(td[newaxis]) == (1, 3, 4) && size(td[:, newaxis, 1]) == (3, 1)
    @test size(td[1:2:end, .., newaxis]) == (2, 4, 1)
    @test size(td[true]) == (1, 3, 4) && size(td[false]) == (0, 3, 4)
    @test same(td[CartesianIndex(2, 3)], x[2, 3, :]) && same(td[CartesianIndex(2), 3], x[2, 3, :])
    @test same(view(td, 1:2, 1), x[1:2, 1, :])

    part = td[:, 1:2]
    part["x"][1, 1, 1] = 100
    @test x[1, 1, 1] == 100
    x[1, 1, 1] = 0
end

# `end` stands for the size of the dimension that it is used for, whatever comes before it.
@testset "end" begin
    wide = TensorDict((2, 3, 5); v = reshape(collect(1:30), 2, 3, 5))
    v = Array(wide["v"])
    @test Array(wide[.., end]["v"]) == v[:, :, end]
    @test Array(wide[.., end-1:end]["v"]) == v[:, :, 4:5]
    @test Array(wide[newaxis, end, end]["v"]) == reshape(v[end, end, :], 1, 5)
    @test Array(wide[.., 1:2:end]["v"]) == v[:, :, 1:2:5]
    @test Array(wide[.., end:-2:1]["v"]) == v[:, :, 5:-2:1]
    @test Array(wide[.., [1, end]]["v"]) == v[:, :, [1, 5]]
    @test Array(wide[1, .., end÷2]["v"]) == v[1, :, 2]
    @test Array(wide[.., min(end, 9)]["v"]) == v[:, :, 5]
    @test Array(wide[CartesianIndex(1, 2), end]["v"])[] == v[1, 2, 5]
    @test Array(wide["v"][.., end, 1]) == v[:, end, 1]
end

@testset "arrays as indices copy" begin
    @test same(td[[3, 1]], x[[3, 1], :, :]) && same(td[:, [4, 4, 1]], x[:, [4, 4, 1], :])
    @test same(td[3:-1:1], x[3:-1:1, :, :]) && same(td[UInt8[2]], x[2:2, :, :])
    @test Array(td[[1 2; 3 1]]["x"]) == x[[1 2; 3 1], :, :]
    @test same(td[[true, false, true]], x[[1, 3], :, :]) && same(td[BitArray([true, false, true])], x[[1, 3], :, :])
    @test same(td[Int[]], x[Int[], :, :])
    mask = x[:, :, 1] .> 5
    # The library lists what a mask picks in row-major order.
    rows = [(i, j) for i in 1:3 for j in 1:4 if mask[i, j]]
    @test Array(td[mask]["x"]) == [x[i, j, k] for (i, j) in rows, k in 1:2]
    part = td[[1, 2]]
    part["x"][1, 1, 1] = 100
    @test x[1, 1, 1] == 0
    # Tensors hold the numbers of the library, which count from 0.
    @test same(td[Tensor([2, 0])], x[[3, 1], :, :])
    @test same(td[Tensor([true, false, true])], x[[1, 3], :, :])
end

@testset "text" begin
    @test same(td[index"..., ::2"], x[:, 1:2:end, :]) && same(td[index"-1"], x[end, :, :])
    @test size(td[index"..., ::2, None"]) == (3, 2, 1) && td[index""] == td
    text = "1:, 0"
    @test same(td[parse_index(text)], x[2:end, 1, :])
    @test Array(td["x"][index"0, 1"]) == x[1, 2, :]
    @test size(td[parse_index(join(fill("None", 20), ","))]) == (ntuple(i -> 1, 20)..., 3, 4)
    @test_throws ArgumentError parse_index("1:2:3:4")
    @test_throws ArgumentError parse_index("x")
    @test_throws ArgumentError td[index"0", 1]
    @test_throws BoundsError td[index"3"]
end

@testset "tensors" begin
    t = Tensor(x)
    @test Array(t[2]) == x[2, :, :] && Array(t[:, [1, 3], end]) == x[:, [1, 3], end]
    @test t[1, 2, 2][] == x[1, 2, 2] && size(t[1, 2, 2]) == ()
    c = copy(t)
    c[1] = 0
    @test all(==(0), Array(c)[1, :, :]) && Array(c)[2:3, :, :] == x[2:3, :, :]
    c[:, end, 1] = [1.0, 2.0, 3.0]
    @test Array(c)[:, 4, 1] == [1, 2, 3]
    c[.., 2] = Tensor([1, 2, 3, 4])
    @test Array(c)[3, :, 2] == [1, 2, 3, 4]
    c[] = 5
    @test all(==(5), Array(c))
    @test_throws DimensionMismatch c[1] = [1, 2, 3]
end

@testset "writing" begin
    d = deepcopy(td)
    d[1, 2] = d[3, 4]
    @test Array(d["x"])[1, 2, :] == x[3, 4, :] && Array(d["n", "y"])[1, 2] == x[3, 4, 1]
    d[2] = 0
    @test all(==(0), Array(d["x"])[2, :, :]) && all(==(0), Array(d["n", "y"])[2, :])
    d[[1, 3]] = td[[3, 1]]
    @test Array(d["x"])[1, :, :] == x[3, :, :] && Array(d["x"])[3, :, :] == x[1, :, :]
    d[:, end] = (x = fill(-1, 3, 2), n = (y = [7, 8, 9],))
    @test all(==(-1), Array(d["x"])[:, 4, :]) && Array(d["n", "y"])[:, 4] == [7, 8, 9]
    d[1] = TensorDict(4; fresh = Float32[1, 2, 3, 4])
    @test Array(d["fresh"]) == [1 2 3 4; 0 0 0 0; 0 0 0 0]
    d[index"-1, 0"] = 42
    @test Array(d["n", "y"])[3, 1] == 42
    d[..] = td
    @test d["x"] == td["x"] && d["n"] == td["n"]
    @test_throws DimensionMismatch d[1] = TensorDict(3; x = zeros(Int, 3, 2))
    @test_throws TensorDictError lock!(d)[1] = TensorDict(4; other = [1, 2, 3, 4])
end

@testset "out of bounds" begin
    for bad in ((0,), (4,), (-1,), (1, 5), (1, 1, 1), (0:1,), (2:4,), (1:2:5,), ([1, 4],), ([0],), (:, :, :),
                (CartesianIndex(1, 5),), ([true, false],), (trues(4, 3),), (Tensor([3]),))
        @test_throws BoundsError td[bad...]
        @test_throws BoundsError td[bad...] = 0
    end
    @test_throws ArgumentError td[.., ..]
    @test_throws ArgumentError td[1.5]
    @test_throws ArgumentError td[[1.5]]
    error = try td[1, 5] catch e e end
    @test error.i == (1, 5) && occursin(r"3×4 TensorDict\s+at index \[1, 5\]", sprint(showerror, error))
end

@testset "views write through, whatever picks them" begin
    td = TensorDict((3, 2); x = [1 2; 3 4; 5 6], n = (y = [1 1; 2 2; 3 3],))
    view(td, [3, 1])[1] = 7
    @test Array(td["x"]) == [1 2; 3 4; 7 7] && Array(td["n", "y"])[3, :] == [7, 7]
    view(td, [true, false, true])[:] = 0
    @test Array(td["x"]) == [0 0; 3 4; 0 0]
    back = view(td, 3:-1:2)
    back[1] = 8
    @test Array(back["x"]) == [8 8; 3 4] && Array(td["x"]) == [0 0; 3 4; 8 8]
    view(td, Tensor([1]))[1] = 9
    @test Array(td["x"]) == [0 0; 9 9; 8 8]
    view(td, 2)["x"][1] = 4
    @test Array(td["x"]) == [0 0; 4 9; 8 8]
    @test dict_kind(view(td, [1])) == :sub_tensordict && dict_kind(view(td, 1:2)) == :dense
    @test_throws BoundsError view(td, [4])
    t = td["x"]
    view(t, 1, :)[1] = 3
    @test t[1, 1][] == 3
    @test_throws ArgumentError view(t, [1, 2])
    @test_throws ArgumentError view(t, Array(t) .> 3)
end
