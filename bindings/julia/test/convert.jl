sample() = TensorDict(2; a = [1, 2], n = (b = Float32[3, 4],))

@testset "both at once, and like another" begin
    td = sample()
    both = to(td; dtype = Float64, device = cpu())
    @test iscpu(both) && !iscuda(both) && !iscpu(td)
    @test eltype_of(both) === Float64 && eltype_of(td) === nothing
    @test isfloat(both) && !isfloat(td)
    like = to(td; like = both)
    @test eltype_of(like) === Float64 && device(like) == cpu()
    each = to(td; like = TensorDict((); a = 0.5f0, n = (b = 0x01,)), each_like = true)
    @test eltype(each["a"]) === Float32 && Array(each["n", "b"]) == UInt8[3, 4]
    @test_throws TensorDictError to(td; like = TensorDict((); a = 1), each_like = true)
end

@testset "in place" begin
    td = sample()
    @test to!(td; dtype = Int8) === td && eltype_of(td) === Int8
    @test_throws TensorDictError to!(lock!(td); dtype = Int16)
    @test device(auto_device!(td)) == cpu() == device(td["n"])
    if !cuda_available()
        @test_throws TensorDictError pin_memory(td)
        @test_throws TensorDictError pin_memory!(sample())
        @test_throws TensorDictError record_stream(td, cuda(0), 0)
        @test !ispinned(td)
    end
end

@testset "counted together" begin
    td = sample()
    td["again"] = td["a"]
    @test (param_count(td), param_count(td; duplicates = false)) == (6, 4)
    @test (bytes(td), bytes(td; duplicates = false)) == (40, 24)
    @test data_pointers(td) == Ptr{Cvoid}.([pointer(td["a"]), pointer(td["n", "b"]), pointer(td["again"])])
    @test data_pointers(td[2]; storage = true) == data_pointers(td)
    @test data_pointers(td[2])[1] == pointer(td["a"]) + 8
end
