using Test, TensorDicts

# Each file is a module of its own: no name of one meets one of another.
function run_file(file)
    place = Module(Symbol("test_", file))
    Core.eval(place, :(using Test, TensorDicts))
    Core.eval(place, :(const GOLDEN = $(joinpath(@__DIR__, "..", "..", "..", "tests", "data", "golden"))))
    Base.include(place, joinpath(@__DIR__, "$file.jl"))
end

@testset "TensorDicts" begin
    for file in ("process", "tensor", "strided", "dict", "keys", "index", "conformance", "shape", "rearrange", "rows", "sequences", "lazy", "nested_tensor", "values", "apply", "call", "names", "entries", "map", "modules", "batches", "replay", "group", "optimizer", "gradient", "convert", "states", "structs", "tables", "files", "datasets", "hdf5", "arrow", "store", "errors", "math", "memmap", "reload", "archive", "verify", "share",
                 "golden", "writer", "grow", "dlpack", "tensorclass", "serialize", "memory", "doctests", "example", "guide")
        @testset "$file" begin
            run_file(file)
        end
    end
end
