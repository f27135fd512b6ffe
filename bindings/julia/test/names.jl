@testset "names follow the dimensions" begin
    td = TensorDict((2, 3); a = zeros(2, 3), n = (b = zeros(2, 3, 4),))
    @test names(td) == [nothing, nothing]
    set_names!(td, ["x", "y"])
    @test names(td["n"]) == ["x", "y"] && names(td[:, 1]) == ["x"]
    @test names(set_names!(td, [])) == [nothing, nothing]
end

@testset "names are changed" begin
    td = TensorDict((2, 3, 4))
    refine_names!(td, ["a", "..."])
    refine_names!(td, ["...", "c"])
    @test names(td) == ["a", nothing, "c"]
    @test names(rename_dims(td, "a" => "x", "c" => nothing)) == ["x", nothing, nothing]
    @test names(rename_dims!(td, "a" => "x")) == ["x", nothing, "c"]
    @test_throws ArgumentError rename_dims!(td, "q" => "x")
    @test_throws ArgumentError refine_names!(td, ["y", "..."])
    @test_throws ArgumentError set_names!(td, ["a"])
    @test names(td) == ["x", nothing, "c"]
end
