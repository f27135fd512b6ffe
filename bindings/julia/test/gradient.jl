parameters() = requires_grad!(TensorDict((); w = Float32[1, 2], n = (v = 3f0,)))
computed(td) = TensorDicts.set_grad_enabled(() -> to(td, Float64), true)
seeds(x) = TensorDict((); w = fill(x, 2), n = (v = x,))

@testset "recording is switched and history left behind" begin
    td = parameters()
    @test requires_grad(td)
    for data in (false, true)
        copy = detach(td; data = data)
        @test !requires_grad(copy) && pointer(copy["w"]) == pointer(td["w"])
    end
    result = computed(td)
    @test requires_grad(result) && !requires_grad(detach!(result))
    @test !requires_grad(requires_grad!(td, false))
    @test_throws TensorDictError requires_grad!(TensorDict((); i = 1))
    @test !TensorDicts.set_grad_enabled(true) && TensorDicts.set_grad_enabled(false)
end

@testset "gradients are computed, added and taken away" begin
    td = parameters()
    @test grad(td) === nothing
    result = computed(td)
    backward(result, seeds(2.0); retain_graph = true)
    backward(result, seeds(2.0))
    g = grad(td)
    @test Array(g["w"]) == [4, 4] && Array(g["n", "v"])[] == 4
    zero_grad!(td; set_to_none = false)
    @test Array(g["w"]) == [0, 0]
    @test grad(zero_grad!(td)) === nothing
    @test_throws DimensionMismatch backward(computed(td))
    @test_throws TensorDictError backward(TensorDict((); x = 1f0))
end

@testset "only the inputs receive" begin
    td = parameters()
    inputs = TensorDict(())
    inputs["x"] = td["w"]
    backward(computed(td), seeds(1.0); inputs = inputs, create_graph = true)
    @test keys(grad(td)) == ["w"]
end

@testset "gradients are set" begin
    td = parameters()
    grad!(td, TensorDict((); w = Float32[5, 5]))
    @test Array(grad(td)["w"]) == [5, 5]
    @test_throws DimensionMismatch grad!(td, TensorDict((); w = Float32[5]))
    @test grad(grad!(td, nothing)) === nothing
end

# Each task waits for the other while it has its own mode.
@testset "the mode is that of a task" begin
    td = parameters()
    recorded() = requires_grad(to(td, Float64))
    here, there = Channel{Bool}(1), Channel{Bool}(1)
    other = @async begin
        take!(there)
        inside = recorded()
        put!(here, true)
        take!(there)
        (inside, recorded(), TensorDicts.set_grad_enabled(recorded, true), recorded())
    end
    TensorDicts.set_grad_enabled(true) do
        @test recorded()
        put!(there, true)
        take!(here)
        @test recorded()
        @test !fetch(@async recorded())
        @test recorded()
    end
    @test !recorded()
    put!(there, true)
    @test fetch(other) == (false, false, true, false)
    @test !recorded()
    # Callbacks run on the task that calls.
    inside = Bool[]
    TensorDicts.set_grad_enabled(() -> apply((t) -> (push!(inside, recorded()); t), td), true)
    @test all(inside) && length(inside) == 2
end

@testset "gradients are clipped" begin
    td = parameters()
    grad!(td, TensorDict((); w = Float32[3, 4]))
    @test clip_grad_norm!(td, 10) == 5
    @test Array(grad(td)["w"]) == [3, 4]
    clip_grad_norm!(td, 2.5)
    @test Array(grad(td)["w"]) ≈ [1.5, 2] atol = 1e-5
    @test_throws ArgumentError clip_grad_norm!(td, -1)
end
