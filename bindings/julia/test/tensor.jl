@testset "values of every type" begin
    for T in (UInt8, Int8, Int16, Int32, Int64, Float16, Float32, Float64, ComplexF32, ComplexF64, Bool)
        A = T === Bool ? [true false true; false false true] : T[1 2 3; 4 5 6]
        t = Tensor(A)
        @test eltype(t) === T
        @test size(t) == (2, 3) && ndims(t) == 2 && length(t) == 6
        @test nbytes(t) == 6 * sizeof(T)
        @test Array(t) == A && Array(t) isa Array{T,2}
        @test TensorDicts.dtype_size(T) == sizeof(T)
    end
    @test TensorDicts.dtype_name(Float32) == "torch.float32"
    @test TensorDicts.dtype_name(BFloat16) == "torch.bfloat16"
    @test_throws ArgumentError Tensor(["text"])
    @test_throws ArgumentError Tensor(Any[1, 2.0])
end

@testset "bfloat16" begin
    @test Float32(BFloat16(1.5)) === 1.5f0
    @test BFloat16(1 + 2^-8).bits == 0x3f80 && BFloat16(1 + 3 * 2^-8).bits == 0x3f82    # ties to even
    @test isnan(Float32(BFloat16(NaN))) && Float32(BFloat16(-Inf)) == -Inf
    t = to(Tensor([1.5, -2.0]), BFloat16)
    @test eltype(t) === BFloat16 && nbytes(t) == 4
    @test Float32.(Array(t)) == [1.5, -2.0]
    @test Tensor(BFloat16[1.5, -2]) == t
end

@testset "memory is shared with arrays" begin
    A = zeros(Float32, 2, 3)
    t = Tensor(A)
    @test pointer(t) == pointer(A) && strides(t) == (1, 2) && !iscontiguous(t)
    A[2, 1] = 5
    @test Array(t)[2, 1] == 5
    t[1, 3] = 7
    @test A[1, 3] == 7

    part = view(A, 1:1, 1:2:3)
    @test Array(Tensor(part)) == [0 7] && strides(Tensor(part)) == (1, 4)
    turned = PermutedDimsArray(A, (2, 1))
    @test iscontiguous(Tensor(turned)) && pointer(Tensor(turned)) == pointer(A)
    @test Array(Tensor(turned)) == permutedims(A)

    # Others are copied.
    @test Array(Tensor(view(A, 2:-1:1, :))) == A[2:-1:1, :]
    @test Array(Tensor(1:3)) == [1, 2, 3]
    @test Array(Tensor(BitArray([true, false]))) == [true, false]
    @test Array(Tensor(A')) == permutedims(A)

    v = [1, 2, 3]
    shared = Tensor(v)
    @test_throws ErrorException push!(v, 4)
    @test Array(shared) == [1, 2, 3]
end

@testset "numbers and zeros" begin
    @test size(Tensor(2.5)) == () && Tensor(2.5)[] === 2.5
    @test Tensor(true)[] === true && Array(Tensor(Int32(3)))[] === Int32(3)
    z = zeros(Tensor, Int16, 2, 0)
    @test size(z) == (2, 0) && isempty(z) && Array(z) == zeros(Int16, 2, 0)
    @test Array(zeros(Tensor, Float64, (2,))) == [0, 0]
    @test size(zeros(Tensor, Float64, ())) == ()
    @test_throws ArgumentError z[]
    @test Array(Tensor(zeros(Float32, 0))) == Float32[]
end

@testset "copies, writing, comparing" begin
    t = Tensor(Float32[1 2; 3 4])
    c = copy(t)
    @test c == t && pointer(c) != pointer(t) && deepcopy(t) == t
    s = share(t)
    s[1, 1] = 9
    @test t[1, 1][] == 9 && !isuniquelyowned(t)
    close(s)
    @test isuniquelyowned(zeros(Tensor, Float32, 2))
    dense = contiguous(t)
    @test iscontiguous(dense) && dense == t && strides(dense) == (2, 1)
    @test strides(contiguous(dense)) == (2, 1) && pointer(contiguous(dense)) == pointer(dense)

    @test Array(copyto!(c, [5.0 6.0; 7.0 8.0])) == [5 6; 7 8]
    @test Array(copyto!(c, Float32[1 2; 3 4])) == [1 2; 3 4]
    @test Array(copyto!(c, Tensor([10, 20]))) == [10 20; 10 20]
    @test Array(fill!(c, 3)) == [3 3; 3 3]
    @test_throws DimensionMismatch copyto!(c, [1, 2, 3])
    A = zeros(Float32, 2, 2)
    @test copyto!(A, t) === A && A == [9 2; 3 4]
    @test_throws DimensionMismatch copyto!(zeros(Float32, 4), t)

    @test Tensor([1, 2]) != Tensor([1, 3]) && Tensor([1, 2]) != Tensor([1.0, 2.0])
    @test Tensor([NaN]) != Tensor([NaN])
    @test hash(Tensor([1, 2])) == hash(Tensor([1, 2]))
    @test eltype(to(t, Int64)) === Int64 && Array(to(t, Int64)) == [9 2; 3 4]
    @test device(t) == cpu() && to(t, cpu()) == t && Array(to(t, Int32, cpu())) == [9 2; 3 4]
    @test device(to(t, Device("meta"))) == Device("meta")
    @test sprint(show, t) == "Tensor(shape=torch.Size([2, 2]), device=cpu, dtype=torch.float32, is_shared=False)"
end

@testset "devices" begin
    @test Device("cuda:1") == cuda(1) && Device("cpu") == cpu()
    @test repr(cuda(1)) == "Device(\"cuda:1\")" && repr(cpu()) == "Device(\"cpu\")"
    @test_throws ArgumentError Device("gpu")
    @test TensorDicts.available(cpu())
    @test cuda_available() isa Bool
    cuda_available() || @test_throws TensorDictError to(Tensor([1]), cuda(0))
end
