# The package alone: the library beside it loads, computes, saves and loads.
using Test, TensorDicts

@testset "TensorDicts" begin
    td = TensorDict((3, 4); obs = ones(Float32, 3, 4, 2), next = (reward = zeros(3, 4),))
    @test size(td) == (3, 4)
    @test size(td[1, :]) == (4,)
    @test Array((td + 1)["obs"])[1] == 2
    mktempdir() do folder
        memmap(td, joinpath(folder, "td"))
        loaded = load_memmap(joinpath(folder, "td"))
        @test loaded == td
        Writer(joinpath(folder, "rows"), TensorDict(1; step = zeros(Int64, 1))) do writer
            step = bind!(writer, "step")
            foreach(row -> (put!(writer, step, row); next!(writer)), 1:5)
        end
        @test Array(load_memmap(joinpath(folder, "rows"))["step"]) == 1:5
    end
    @test isfile(TensorDicts.library_path())
end
