@test TensorDicts.abi_version() == TensorDicts.TD_ABI_VERSION
@test TensorDicts.supports_abi(TensorDicts.TD_ABI_VERSION)
@test !TensorDicts.supports_abi(0)
@test TensorDicts.version() == v"0.3.0"
@test occursin(r"^\d+\.\d+", TensorDicts.torch_version())

if haskey(ENV, "TENSORDICT_LIBRARY")
    @test realpath(TensorDicts.library_path()) == realpath(ENV["TENSORDICT_LIBRARY"])
end
@test_throws ArgumentError TensorDicts.set_library("/elsewhere.so")

# A library that is not there: the message names the file and the ways out.
let script = "using TensorDicts; try TensorDict(3) catch e; print(e.msg) end"
    text = withenv("TENSORDICT_LIBRARY" => "/nowhere/lib.so") do
        read(`$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project()) -e $script`, String)
    end
    @test occursin("/nowhere/lib.so", text) && occursin("TENSORDICT_LIBRARY", text)
end

@testset "gradients" begin
    @test TensorDicts.set_grad_enabled(true) == false
    @test TensorDicts.set_grad_enabled(false) == true
    TensorDicts.set_grad_enabled(true) do
        @test TensorDicts.set_grad_enabled(true) == true
    end
    @test TensorDicts.set_grad_enabled(false) == false
    t = Tensor([1.0, 2.0])
    @test !requires_grad(t)
    @test requires_grad(requires_grad!(t))
    @test !requires_grad(requires_grad!(t, false))
    @test_throws TensorDictError requires_grad!(Tensor([1, 2]))
end

@testset "log" begin
    lines = Tuple{Symbol,String}[]
    TensorDicts.set_log((level, message) -> push!(lines, (level, message)))
    before = TensorDicts.lent()
    TensorDicts.log_line(pointer_from_objref(last(TensorDicts.ROOTS)), TensorDicts.TD_LOG_WARNING,
                         Base.unsafe_convert(Cstring, "näh"))
    @test lines == [(:warning, "näh")]
    TensorDicts.set_log(nothing)
    @test TensorDicts.lent() == before - 1
end
