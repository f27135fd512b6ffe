# Tensors of random numbers, their generators, and numbers in order.

Generator(seed::Integer) = call(Generator, td_generator_create, seed % UInt64)

"""
    TensorDicts.state(generator) -> Tensor
    TensorDicts.load_state!(generator, state) -> generator

The state of a generator, for a checkpoint; another one goes on where it was.
"""
state(generator::Generator) = call(Tensor, td_generator_state, generator)

load_state!(generator::Generator, state::Tensor) = (check(td_generator_load_state(generator, state)); generator)

# libtorch's own generator where there is none.
given(generator) = generator === nothing ? Ptr{td_generator}(C_NULL) : live_pointer(generator)

"""
    TensorDicts.randperm(n; generator = nothing) -> Tensor

The whole numbers from 0 to `n - 1` in random order.
"""
randperm(n::Integer; generator::Union{Generator,Nothing} = nothing) =
    GC.@preserve generator call(Tensor, td_tensor_randperm, n, given(generator))

"""
    TensorDicts.randint(numbers::UnitRange, dims...; dtype = Int64, generator = nothing) -> Tensor

Random whole numbers out of a range.
"""
randint(numbers::UnitRange, dims::Integer...; dtype::Type = Int64, generator::Union{Generator,Nothing} = nothing) =
    GC.@preserve generator call(Tensor, td_tensor_randint, first(numbers), last(numbers) + 1, sizes(dims), length(dims),
                                dtype_code(dtype), given(generator))

"""
    TensorDicts.arange(numbers::OrdinalRange; dtype = Int64) -> Tensor

The numbers of a range.
"""
arange(numbers::OrdinalRange; dtype::Type = Int64) =
    call(Tensor, td_tensor_arange, first(numbers), last(numbers) + sign(step(numbers)), step(numbers), dtype_code(dtype))
