# Julia's own serialization: to a file, to another process, within other values.
using Serialization

function travel(x)
    io = IOBuffer()
    serialize(io, x)
    seekstart(io)
    y = deserialize(io)
    @test eof(io)
    y
end

# A type travels by the name of its module, which must be found from Main.
Core.eval(Main, :(module SentTypes
                  using TensorDicts
                  @tensorclass struct Sent
                      x
                      n::Union{TensorDict,Nothing}
                  end
                  end))
const Sent = Main.SentTypes.Sent

@testset "dictionaries and tensors" begin
    td = TensorDict(2; x = [1 2; 3 4], n = (y = Float32[1, 2],), t = NonTensorData("\"text\""))
    td["r"] = NestedTensor([[1, 2], [3]])
    got = travel(td)
    @test got == td && !issame(got, td)
    got["x"][1, 1] = 9
    @test td["x"][1, 1][] == 1
    for t in (Tensor([1.0 2.0; 3.0 4.0]), Tensor(true), Tensor(BFloat16[1, 2]), zeros(Tensor, Int16, 0, 3))
        @test travel(t) == t && eltype(travel(t)) == eltype(t)
    end
    @test Array(travel(NestedTensor([[1, 2], [3]]))[1]) == [1, 2]
    @test travel(asarray(Tensor([1 2; 3 4]))) == [1 2; 3 4]
    @test travel(lazy_stack([td[1], td[2]])) == lazy_stack([td[1], td[2]])
end

@testset "within other values" begin
    td = TensorDict(2; x = [1, 2])
    got = travel(Dict(:a => [td, td], :b => (td["x"], 1)))
    @test got[:a][1] === got[:a][2] && got[:a][1] == td && got[:b] == (td["x"], 1)
    x = Sent(2; x = [1, 2], n = TensorDict(2; y = [3, 4]))
    y = travel([x, x])
    @test y isa Vector{Sent} && y[1] == x && Array(y[2].n["y"]) == [3, 4]
    @test tensorclass_type(y[1]) !== nothing
end

@testset "what belongs to this process" begin
    td = TensorDict(2; x = zeros(Tensor, Float32, 2))
    w = Writer(td)
    @test_throws ArgumentError travel(w)
    @test_throws ArgumentError deepcopy(w)
    close(w)
    @test_throws ReleasedError travel(close(td) === nothing ? td : td)
    @test_throws ArgumentError travel(TensorclassType("Alone", "x" => tensorfield()))
    A = deepcopy(asarray(Tensor([1, 2])))
    GC.gc()
    @test A == [1, 2]
    A[1] = 5
    @test Array(Tensor(A)) == [5, 2]
end

@testset "another process" begin
    td = TensorDict(2; x = [1, 2])
    file = tempname()
    serialize(file, td)
    script = "using TensorDicts, Serialization; td = deserialize(ARGS[1]); td[\"x\"][1] = 7; serialize(ARGS[1], td)"
    run(`$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project()) -e $script $file`)
    @test Array(deserialize(file)["x"]) == [7, 2]
end
