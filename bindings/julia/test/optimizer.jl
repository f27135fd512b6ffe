make_params() = requires_grad!(TensorDict((); w = [1.0, 2.0]))

# One step down the square of each parameter.
function descend!(params, optimizer)
    backward(TensorDicts.set_grad_enabled(() -> sum(params ^ 2), true))
    step!(optimizer)
    zero_grad!(optimizer)
end

@testset "each kind descends" begin
    params = make_params()
    sgd = Optimizer(params, :sgd; lr = 0.25)
    descend!(params, sgd)
    @test Array(params["w"]) == [0.5, 1.0] && grad(params) === nothing
    sgd.lr = 0.5
    @test sgd.lr == 0.5
    descend!(params, sgd)
    @test Array(params["w"]) == [0.0, 0.0]
    for (kind, amsgrad) in ((:adam, false), (:adamw, true))
        params = make_params()
        descend!(params, Optimizer(params, kind; lr = 0.125, betas = (0.5, 0.5), eps = 0, weight_decay = 0, amsgrad = amsgrad))
        @test Array(params["w"]) == [0.875, 1.875]
    end
end

@testset "a state goes to another optimizer" begin
    whole, half = make_params(), make_params()
    make(params) = Optimizer(params, :sgd; lr = 0.1, momentum = 0.9, nesterov = true)
    first, second = make(whole), make(half)
    for _ in 1:2
        descend!(whole, first)
        descend!(half, second)
    end
    state = optimizer_state(second)
    @test size(state["w", "momentum_buffer"]) == (2,)
    third = load_optimizer_state!(make(half), state)
    descend!(whole, first)
    descend!(half, third)
    @test Array(whole["w"]) == Array(half["w"])
    @test_throws TensorDictError load_optimizer_state!(third, half)
end

@testset "what is refused" begin
    @test_throws ArgumentError Optimizer(TensorDict((); w = 1.0))
    @test_throws ArgumentError Optimizer(make_params(), :lbfgs)
    @test_throws ArgumentError Optimizer(make_params(); lr = -1)
    optimizer = Optimizer(make_params())
    close(optimizer)
    @test_throws ReleasedError step!(optimizer)
end
