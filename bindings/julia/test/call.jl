pair() = TensorDict(2; a = [0 1 2; 3 4 5], n = (b = [0, 1],))

@testset "arguments of every kind" begin
    td = pair()
    @test Array(call(td, "aten::clamp", 1; max = 3)["a"]) == [1 1 2; 3 3 3]
    @test Array(call(td, "add", Tensor(fill(1)))["n", "b"]) == [1, 2]
    @test Array(call(td, "sub", td; alpha = 2)["n", "b"]) == [0, -1]
    @test Array(call(td, "rsub", Leaf(), 1)["n", "b"]) == [1, 0]
    @test eltype(call(td, "to", Float64)["a"]) === Float64
    @test device(call(td, "to"; device = Device("meta"))["a"]) == Device("meta")
    @test Array(call(td, "div", 2; rounding_mode = "floor")["a"]) == [0 0 1; 1 2 2]
    @test Array(call(td, "flip", [0])["n", "b"]) == [1, 0]
    @test Array(call(td, "clamp", nothing, 1)["n", "b"]) == [0, 1]
    @test Array(call(td, "mul", 0.5)["n", "b"]) == [0, 0.5]
    @test_throws ArgumentError call(td, "mul", 1:2 => 3)
end

@testset "several results and another batch size" begin
    td = TensorDict(2; a = [0 1 2; 3 4 5])
    values, positions = call(td, "aten::max", 1; keepdim = true)
    @test vec(Array(values["a"])) == [2, 5] && vec(Array(positions["a"])) == [2, 2]
    total = call(td, "aten::sum"; batch_size = ())
    @test size(total) == () && Array(total["a"])[] == 15
    @test_throws DimensionMismatch call(td, "aten::sum")
end

@testset "in place" begin
    td = lock!(pair())
    @test call!(td, "aten::add_", 1) === td
    @test Array(td["n", "b"]) == [1, 2]
    @test_throws TensorDictError call!(td, "aten::div_", 2)
    @test Array(td["n", "b"]) == [1, 2]
    @test_throws ArgumentError call(td, "aten::add_", 1)
    @test_throws ArgumentError call!(td, "aten::add", 1)
end

@testset "what is refused is explained" begin
    told(f) = try
        f()
    catch e
        sprint(showerror, e)
    end
    @test occursin("near it are aten::clamp", told(() -> call(pair(), "aten::clmap")))
    @test occursin("aten::neg(Tensor self) -> Tensor", told(() -> call(pair(), "aten::neg", 1)))
end
