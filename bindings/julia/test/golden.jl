# Folders that Python has written.
td = load_memmap(joinpath(GOLDEN, "basic"); private = true)
@test size(td) == (4,) && keys(td; nested = true, leaves = true, sort = true) == ["a", ("b", "c"), ("b", "d", "e")]
@test Array(td["a"])[1, :] == Float32[1.5409960746765137, -0.293428897857666, -2.1787893772125244]
@test Array(td["a"])[2, 1] === 0.5684312582015991f0
@test Array(td["b", "c"]) == [12824, 7841, 17269, 20969]
@test Array(td["b", "d", "e"])[1, :, :] ==
      [0.16645534336566925 0.8743818402290344; -0.14347384870052338 -0.1116093322634697]

types = load_memmap(joinpath(GOLDEN, "dtypes"); private = true)
@test eltype(types["bfloat16"]) === BFloat16 && Float32(Array(types["bfloat16"])[1, 2]) == -1.734375f0
@test eltype(types["complex64"]) === ComplexF32 && eltype(types["bool"]) === Bool
@test Array(types["bool"])[2, 1:2] == [true, false]

digits = load_memmap(joinpath(GOLDEN, "digits"); private = true)
@test size(digits) == (1797,) && size(digits["image"]) == (1797, 8, 8) && eltype(digits["image"]) === UInt8
@test digits["source"] === NonTensorData("\"UCI optical digits\"") && digits["source"].json == "\"UCI optical digits\""
@test repr(digits["source"]) == "NonTensorData(\"UCI optical digits\")"

others = load_memmap(joinpath(GOLDEN, "nontensor"); private = true)
@test others["none"].json == "null" && others["bool"] isa NonTensorData && others["t"] isa Tensor
@test_throws TensorDictError TensorDicts.entry(others, ["str"], TensorDicts.TD_ENTRY_TENSOR, "str")

escaped = load_memmap(joinpath(GOLDEN, "keys"); private = true)
@test "a/b" in keys(escaped) && "üñí" in keys(escaped) && ".." in keys(escaped)
