struct Inner
    cell::Int32
    alive::Bool
end
struct Particle
    mass::Float64
    at::NTuple{3,Float32}
    grid::NTuple{2,NTuple{2,UInt8}}
    inner::Inner
end
particles() = [Particle(i + 0.5, (3i, 3i + 1, 3i + 2), ((i, 1), (2, 3)), Inner(-i, i == 1)) for i in 0:2]

@testset "there and back" begin
    v = particles()
    td = from_structs(v)
    @test size(td) == (3,) && keys(td) == ["mass", "at", "grid", "inner"]
    @test Array(td["mass"]) == [0.5, 1.5, 2.5]
    @test Array(td["at"]) == [0 1 2; 3 4 5; 6 7 8]
    @test size(td["grid"]) == (3, 2, 2) && Array(td["grid"])[2, :, :] == [1 1; 2 3]
    @test Array(td["inner", "cell"]) == [0, -1, -2] && Array(td["inner", "alive"]) == [false, true, false]
    @test to_structs(Particle, td) == v
    @test to_structs!(similar(v), td) == v
    @test to_structs(Inner, td["inner"]) == [p.inner for p in v]
    @test_throws DimensionMismatch to_structs!(particles()[1:2], td)
    @test size(from_structs(Particle[])) == (0,)
end

@testset "without a copy" begin
    v = particles()
    td = view_structs(v)
    v[2] = Particle(9, (9, 9, 9), ((9, 9), (9, 9)), Inner(9, false))
    @test Array(td["mass"]) == [0.5, 9, 2.5] && Array(td["at"])[2, :] == [9, 9, 9]
    set_inplace!(td, ("inner", "cell"), Int32[7, 7, 7])
    @test v[3].inner.cell == 7
end

@testset "what cannot be" begin
    @test_throws ArgumentError from_structs(["text"])
    @test_throws ArgumentError from_structs([(1, 2.0)])
    @test_throws ArgumentError from_structs(['c'])
end
