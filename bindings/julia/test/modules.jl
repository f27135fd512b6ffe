const ARCHIVES = joinpath(GOLDEN, "..", "..", "golden2", "data", "modules")
archive(name) = joinpath(ARCHIVES, name)
observations(n) = TensorDict(n; observation = Float32[i / 4 + j for i in 1:n, j in 1:4])
near(a, b) = size(a) == size(b) && all(isapprox.(Array(a), Array(b); atol = 1e-5))

@testset "a network computes what it computed in Python" begin
    m = load_module(archive("mlp.pt"))
    @test in_keys(m) == ["observation"] && out_keys(m) == ["action"]
    @test sprint(show, m) == "ScriptModule(in_keys=[\"observation\"], out_keys=[\"action\"])"
    td = copy(load_memmap(archive("mlp_data")))
    want = load_memmap(archive("mlp_expected"))["action"]
    for _ in 1:3
        @test forward!(m, td) === td
        @test near(td["action"], want)
    end
    frozen = load_module(archive("mlp.pt"); freeze = true)
    @test near(frozen(td)["action"], want)
    @test isempty(keys(parameters(frozen)))
    @test in_keys(load_module(archive("vision.pt"))) == [("agents", "image"), ("agents", "goal")]
    two = load_module(archive("mlp.pt"); dtype = Float64, in_keys = [("a", "b")], out_keys = ["c"])
    @test eltype(parameters(two)["0", "weight"]) == Float64 && in_keys(two) == [("a", "b")]
end

@testset "the gallery acts as in Python" begin
    data(name) = joinpath(GOLDEN, "..", name)
    for name in ("feed_forward", "recurrent", "masked", "image", "multi_agent")
        td = copy(load_memmap(data("gallery/$(name)_data")))
        forward!(load_module(data("gallery/$name.pt")), td)
        @test difference(td, load_memmap(data("gallery/$(name)_expected")); rtol = 1e-5, atol = 1e-5) === nothing
    end
    m = load_module(data("trained/in_training.pt"); train = true)
    for _ in 1:2
        m(load_memmap(data("trained/in_training_data")))
    end
    want = load_memmap(data("trained/in_training_trained_params"))
    @test difference(parameters(m), want; rtol = 1e-5, atol = 1e-5) === nothing
    @test_throws ArgumentError load_module(data("trained/in_training.pt"); train = true, freeze = true)
end

@testset "what is refused" begin
    @test_throws TensorDictError load_module("/no/such/file.pt")
    @test_throws ArgumentError load_module(archive("mlp.pt"); sha256 = "00")
    @test_throws TensorDictError load_module(archive("mlp.pt"); sha256 = "0"^64)
    m = load_module(archive("mlp.pt"))
    @test_throws TensorDictError m(TensorDict(2))
    close(m)
    @test_throws ReleasedError m(observations(2))
    @test sprint(show, m) == "TensorDictModule(closed)"
end

@testset "parameters are dictionaries" begin
    m, td = load_module(archive("mlp.pt")), observations(3)
    sets = load_memmap(archive("mlp_ensemble_params"))
    swapped = m(td; params = sets[2])["action"]
    all = m(td; params = sets)
    @test size(all) == (3, 3) && near(all["action"][2], swapped)
    @test size(m(stack([td, td, td], 1); params = sets, map_input = true)) == (3, 3)
    @test !near(m(td)["action"], swapped)
    @test parameters!(m, sets[2]) === m
    @test near(m(td)["action"], swapped)
    parameters!(m, sets[1]["0"]; part = "0")
    @test Array(parameters(m)["0", "bias"]) == Array(sets[1]["0", "bias"])
    @test_throws TensorDictError parameters!(m, sets[1]["0"])
    @test_throws DimensionMismatch parameters!(m, sets)
    mktempdir() do dir
        again = load_module(save_module(joinpath(dir, "again.pt"), m))
        @test near(again(td)["action"], m(td)["action"])
    end
end

@testset "functions and sequences" begin
    add = TensorDictModule(["x"], ["y"]) do td
        @test keys(td) == ["x"]
        td["y"] = Array(td["x"]) .+ 10
        nothing
    end
    rename = TensorDictModule(td -> TensorDict(2; z = Array(td["y"])), ["y"], ["z"])
    td = TensorDict(2; x = [1, 2], other = [0, 0])
    @test Array(add(td)["y"]) == [11, 12] && !haskey(td, "y")
    row = sequential(add, rename)
    @test in_keys(row) == ["x"] && out_keys(row) == ["y", "z"]
    @test keys(select_out_keys(row, "z")(td)) == ["z"]
    @test out_keys(select_subsequence(row; out_keys = ["y"])) == ["y"]
    @test_throws ArgumentError select_subsequence(row; in_keys = ["q"])
    @test isempty(keys(sequential(add; partial_tolerant = true)(TensorDict(2))))
    out = TensorDict(2)
    @test row(td; out = out) === out && Array(out["z"]) == [11, 12]
    whole = TensorDictModule(td -> (td["n"] = [7, 7]; td))
    @test keys(whole(td)) == ["n"]
    @test Array(row(TensorDict(2; x = [1, 2], y = [5, 5]); skip_existing = true)["z"]) == [5, 5]
end

struct OddError <: Exception end

@testset "what a function throws comes out" begin
    td = TensorDict(2; x = [1, 2])
    bad = TensorDictModule(_ -> throw(OddError()), ["x"], ["y"])
    @test_throws OddError bad(td)
    @test_throws OddError forward!(sequential(TensorDictModule(identity, ["x"], ["x"]), bad), td)
    @test keys(td) == ["x"]
    @test_throws TensorDictError TensorDictModule(identity, ["x"], ["y"])(td)
    @test_throws TensorDictError TensorDictModule(identity, ["q"], ["y"]; strict = true)(td)
    again = TensorDictModule(inner -> TensorDictModule(identity, ["x"], ["x"])(inner), ["x"], ["x"])
    @test Array(again(td)["x"]) == [1, 2]
end

@testset "distributions" begin
    act = probabilistic(Distribution(:IndependentNormal, "action"; loc = "loc", scale = "scale");
                        return_log_prob = true, seed = 3)
    row, td = sequential(load_module(archive("sequence.pt")), act), observations(4)
    sure = row(td)
    @test Array(sure["action"]) == Array(sure["loc"])
    drawn = row(td; interaction = :random)
    @test !near(drawn["action"], sure["action"])
    td["action"] = drawn["action"]
    @test near(log_prob(row, td)["action_log_prob"], drawn["action_log_prob"])
    @test log_prob(row, td; params = parameters(row)) == log_prob(row, td)
    @test_throws ArgumentError probabilistic(Distribution(:Delta, "x"; logits = "loc"))
    @test_throws ArgumentError Distribution(:Gaussian, "x")
    @test_throws ArgumentError row(td; interaction = :best)
    several = probabilistic(Distribution(:TanhNormal, "a"; loc = "loc", scale = "scale", low = 0, high = 2,
                                         tanh_loc = true, log_prob_key = ("lp", "a")),
                            Distribution(:Normal, "b"; loc = "loc", scale = "scale");
                            num_samples = 3, interaction = :random, return_log_prob = true)(sure)
    @test size(several) == (3, 4) && haskey(several, ("lp", "a")) && haskey(several, "b_log_prob")
    square = TensorDict(1; low = [0.0 1.0], high = [2.0 5.0])
    middle = probabilistic(Distribution(:Uniform, "x"; low = "low", high = "high", event = true); return_log_prob = true)(square)
    @test Array(middle["x"]) == [1.0 3.0] && near(middle["x_log_prob"], [-log(8.0)])
    joints = Distribution(:TanhNormal, "x"; loc = "loc", scale = "scale", low = [-1, 2], high = [1, 6])
    bounded = probabilistic(joints)(TensorDict(1; loc = [0.0 0.0], scale = [1.0 1.0]))
    @test near(bounded["x"], [0.0 4.0])
    @test_throws ArgumentError Distribution(:TanhNormal, "x"; loc = "loc", scale = "scale", low = [-1, 2], high = [1, 6, 7])
    either = TensorDict(1; logits = [0.0 log(3.0)], loc = [2.0 6.0], scale = [1.0 1.0])
    mixed = Distribution(:Normal, "x"; logits = "logits", loc = "loc", scale = "scale", mixture = true)
    @test near(probabilistic(mixed)(either)["x"], [5.0])
    rates = TensorDict(1; rate = [2.0 0.5])
    @test near(probabilistic(Distribution(:Poisson, "x"; rate = "rate"); interaction = :mode, return_log_prob = true)(rates)["x_log_prob"],
               [log(2.0) - 2 -0.5])
    seeded = probabilistic(Distribution(:Normal, "x"; loc = "loc", scale = "scale"); interaction = :random, seed_key = "rng")
    one, two = (forward!(seeded, TensorDict(1; loc = [0.0], scale = [1.0], rng = [5])) for _ in 1:2)
    @test one == two && Array(one["rng"]) != [5]
    halves = normal_params("h"; scale_mapping = "exp", loc = "mu", scale = ("n", "sigma"))
    @test Array(halves(TensorDict(1; h = Float32[7 0]))["n", "sigma"]) == ones(Float32, 1, 1)
end
