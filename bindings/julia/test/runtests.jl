using Test, TensorDicts

const GOLDEN = joinpath(@__DIR__, "..", "..", "..", "tests", "data", "golden")

# Each file in a function of its own module-level testset: nothing that one made outlives it.
@testset "TensorDicts" begin
    for file in ("process", "tensor", "strided", "dict", "keys", "index", "shape", "apply", "errors", "memmap",
                 "golden", "writer", "dlpack", "memory", "doctests", "example")
        @testset "$file" begin
            include("$file.jl")
        end
    end
end
