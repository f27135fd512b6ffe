@tensorclass struct MyData
    image::tensorfield(Float32, 3, :, :)
    mask
    label::Union{Tensor,Nothing}
end

@tensorclass struct Pair2
    left::MyData
    right::Union{MyData,Nothing}
    more::TensorDict
    note::Union{NonTensorData,Nothing}
end

mask_image(data::MyData) = Array(data.image)[Array(data.mask)]
select_label(data::MyData, label) = data[Array(data.label) .== label]

images = reshape(collect(Float32, 1:6*3*2*2), 6, 3, 2, 2)
masks = images .> 60
make() = MyData(6, copy(images), copy(masks), [0, 1, 2, 0, 1, 2])
data = make()

@testset "tensorclass: fields" begin
    @test pointer(data.image) == pointer(parent(data)["image"]) && Array(data.image) == images
    @test propertynames(data) == (:image, :mask, :label)
    @test mask_image(data) == filter(>(60), images)
    x = MyData(2; image = zeros(Float32, 2, 3, 1, 1), mask = falses(2, 1, 1, 1))
    @test x.label === nothing
    x.label = [5, 6]
    @test Array(x.label) == [5, 6]
    x.label = nothing
    @test x.label === nothing && occursin("    label: None})", repr(x))
    @test_throws TensorDictError x.image = zeros(2, 3, 1, 1)
    @test_throws DimensionMismatch x.image = zeros(Float32, 2, 4, 1, 1)
    @test_throws ArgumentError x.mask = nothing
    @test_throws ArgumentError x.picture
    @test_throws ArgumentError x.picture = [1, 2]
    @test_throws ArgumentError x["image"]
    @test_throws ArgumentError x["image"] = [1, 2]
    @test_throws ArgumentError MyData(2, zeros(Float32, 2, 3, 1, 1))
    @test_throws TensorDictError MyData(2; mask = falses(2))
    @test_throws ArgumentError MyData(TensorDict(2; other = [1, 2]))
end

@testset "tensorclass: parts and shapes" begin
    @test select_label(data, 1) isa MyData && size(select_label(data, 1)) == (2,)
    @test Array(data[end].label)[] == 2 && data[2:3] isa MyData && length(data[2:end]) == 5
    grid = reshape(data, 2, 3)
    @test grid isa MyData && size(grid) == (2, 3) && size(grid.image) == (2, 3, 3, 2, 2)
    @test permutedims(grid, (2, 1)) isa MyData && size(unsqueeze(grid, 1)) == (1, 2, 3) && ndims(squeeze(grid)) == 2
    @test unbind(grid) isa Vector{MyData} && stack(unbind(grid)) == grid && size(cat(grid, grid; dims = 2)) == (2, 6)
    @test length([data; data]) == 12
    other = deepcopy(data)
    @test other isa MyData && other == data && !issame(other, data) && hash(other) == hash(data)
    other[1:2] = data[5:6]
    @test Array(other.label) == [1, 2, 2, 0, 1, 2] && Array(data.label)[1] == 0
    @test map(t -> t, data) == data && apply!(t -> t, other) === other
    @test map(t -> to(t, Float64), data) isa MyData && eltype(to(data, Float64).image) === Float64
    @test islocked(lock!(copy(data))) && device(to(data, cpu())) == cpu()
    @test nameof(tensorclass_type(data)) == :MyData && check_tensorclass(data) === nothing
    @test startswith(repr(data), "MyData(batch_size=[6], fields={\n    image: f32[3,2,2],")
end

@testset "tensorclass: nested" begin
    pair = Pair2(6, make(), nothing, TensorDict(6), NonTensorData("[1,\"two\"]"))
    @test pair.note == NonTensorData("[1,\"two\"]") && pair[2].note == pair.note
    pair.note = nothing
    @test pair.note === nothing
    @test pair.left isa MyData && pair.right === nothing && pair.more isa TensorDict
    pair.right = make()
    first = pair[1]
    @test first.right isa MyData && size(first.right.image) == (3, 2, 2)
    pair.left.label = nothing
    @test pair.left.label === nothing
    @test_throws TensorDictError pair.left = TensorDict(6)
    plain = TensorDict(pair)
    @test tensorclass_type(plain) === nothing && tensorclass_type(plain["left"]) === nothing
    @test Pair2(plain).left isa MyData
end

@testset "tensorclasses" begin
    base = TensorclassType("Base", "a" => tensorfield(; default = Int32[1, 2]))
    thing = TensorclassType("Thing", "b" => tensorfield(Float64, 2), "c" => valuefield(; default = "[1, \"two\"]"),
                       "d" => dictfield(), "e" => tensorclassfield(base), "f" => tensorfield(; optional = true);
                       autocast = true, frozen = true, base = base)
    @test repr(thing) == "TensorclassType(Thing)" && nameof(thing) == :Thing
    @test [f.name for f in fields(thing)] == ["a", "b", "c", "d", "e", "f"]
    @test fields(thing)[2] == (name = "b", kind = :tensor, eltype = Float64, sizes = (2,), optional = false, has_default = false)
    @test fields(thing)[1].has_default && fields(thing)[6].optional && fields(thing)[6].sizes === nothing
    td = TensorDict(thing, 3)
    @test islocked(td) && Array(td["a"]) == [1 2; 1 2; 1 2] && size(td["e", "a"]) == (3, 2)
    @test device(TensorDict(thing, (), cpu())) == cpu()
    plain = TensorDict(1; b = [1 2], d = TensorDict(1), e = (a = [1],))
    @test_throws TensorDictError check_tensorclass(plain, thing)
    @test tensorclass!(plain, thing) === plain && eltype(plain["b"]) === Float64 && check_tensorclass(plain, thing) === nothing
    @test tensorclass_type(plain["e"]) isa TensorclassType
    @test tensorclass_type(tensorclass!(TensorDict(1), TensorclassType("Empty"))) isa TensorclassType
    @test_throws ArgumentError TensorclassType("")
    @test_throws ArgumentError check_tensorclass(TensorDict(1))
    @test tensorfield(Int8, ()).sizes == []
end
