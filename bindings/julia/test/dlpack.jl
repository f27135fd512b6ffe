for versioned in (true, false)
    before = TensorDicts.live_handles()
    t = Tensor(Float32[1 2; 3 4])
    lent = to_dlpack(t; versioned = versioned)
    @test lent isa (versioned ? Ptr{TensorDicts.DLManagedTensorVersioned} : Ptr{TensorDicts.DLManagedTensor})
    back = from_dlpack(lent)
    @test back == t && pointer(back) == pointer(t) && strides(back) == strides(t)
    close(t)
    @test Array(back) == [1 2; 3 4]
    close(back)
    @test TensorDicts.live_handles() == before
end

# Nobody took it: the deleter lets the array go.
let lent_before = TensorDicts.lent(), t = Tensor([1, 2, 3])
    for versioned in (true, false)
        TensorDicts.delete_dlpack(to_dlpack(t; versioned = versioned))
    end
    @test Array(t) == [1, 2, 3]
    kept = to_dlpack(t)
    close(t)
    @test TensorDicts.lent() == lent_before + 1
    TensorDicts.delete_dlpack(kept)
    @test TensorDicts.lent() == lent_before
end
