@testset "one value or one for each" begin
    td = TensorDict(2)
    td["v"] = NonTensorData("5")
    @test td["v"].json == "5" && get_json(td, "v") == "5" && get_json(td, "v"; each = true) == "[5, 5]"
    spread_non_tensor!(td, "v")
    @test td["v"].json == "[5, 5]" && get_json(td, "v") == "5"
    set_json!(td, "v", "[\"a\", \"b\"]"; each = true)
    @test td[2]["v"].json == "\"b\""
    @test_throws TensorDictError get_json(td, "v")
    @test_throws DimensionMismatch set_json!(td, "v", "[1]"; each = true)
    @test_throws TensorDictError set_json!(td, "v", "{")
end

@testset "texts" begin
    td = TensorDict(2)
    td["v"] = "a \"b\"\n"
    @test get_text(td, "v") == "a \"b\"\n" == get_text(td, "v"; row = 2)
    set_texts!(td, "v", ["left", "ɣ"])
    @test get_text(td, "v"; row = 1) == "left" && get_text(td, "v"; row = 2) == "ɣ"
    @test_throws BoundsError get_text(td, "v"; row = 3)
    @test_throws TensorDictError get_text(td, "v")
    @test_throws DimensionMismatch set_texts!(td, "v", ["one"])
    square = TensorDict((2, 2))
    set_texts!(square, "v", ["a" "b"; "c" "d"])
    @test get_json(square, "v"; each = true) == "[[\"a\", \"b\"], [\"c\", \"d\"]]"
    td["v"] = NonTensorData("1")
    @test_throws TensorDictError get_text(td, "v")
end

@testset "bytes" begin
    td = TensorDict(())
    for bytes in (UInt8[], UInt8[0, 255], codeunits("abc"))
        set_bytes!(td, "v", bytes)
        @test get_bytes(td, "v") == bytes
    end
    set_json!(td, "v", "1")
    @test_throws TensorDictError get_bytes(td, "v")
end
