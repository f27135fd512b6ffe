# A schema and an array, as words.
arrow_table() = (zeros(UInt, 9), zeros(UInt, 10))

@testset "a dictionary is a record batch without a copy" begin
    schema, array = arrow_table()
    td = TensorDict(2; x = Float32[1 2; 3 4], n = TensorDict(2; y = [5, 6]))
    GC.@preserve schema array begin
        to_arrow(td, pointer(schema), pointer(array))
        @test array[1] == 2 && array[5] == 2
        lists = unsafe_load(Ptr{Ptr{UInt}}(array[7]))
        again = from_arrow(pointer(schema), pointer(array))
        @test schema[8] == 0 && array[9] == 0
        @test again == td
        @test lists != C_NULL
        @test_throws Exception from_arrow(pointer(schema), pointer(array))
        @test_throws ArgumentError from_arrow(pointer(schema), pointer(array); nulls = :none)
        close(again)

        to_arrow(td, pointer(schema), pointer(array); separator = ".", complex_pairs = true)
        @test schema[5] == 2
        again = from_arrow(pointer(schema), pointer(array); separator = ".", copy = true, nulls = :mask)
        @test Array(again["n", "y"]) == [5, 6]
        close(again)

        to_arrow(td, pointer(schema), pointer(array))
        TensorDicts.release_arrow(pointer(schema), pointer(array))
        @test schema[8] == 0 && array[9] == 0
        @test_throws Exception to_arrow(TensorDict(), pointer(schema), pointer(array))
    end
end

# A stream whose structs the test fills beforehand.
const arrow_given = Ref{Any}(nothing)
function arrow_get_schema(stream::Ptr{Cvoid}, schema::Ptr{UInt})::Cint
    array = zeros(UInt, 10)
    GC.@preserve array begin
        to_arrow(arrow_given[], schema, pointer(array))
        ccall(Ptr{Cvoid}(array[9]), Cvoid, (Ptr{UInt},), pointer(array))
    end
    0
end
function arrow_get_next(stream::Ptr{UInt}, array::Ptr{UInt})::Cint
    left = unsafe_load(stream, 5)
    left == 0 && (unsafe_store!(array, 0, 9); return 0)
    left > 9 && return 5
    unsafe_store!(stream, left - 1, 5)
    schema = zeros(UInt, 9)
    GC.@preserve schema begin
        to_arrow(arrow_given[], pointer(schema), array)
        ccall(Ptr{Cvoid}(schema[8]), Cvoid, (Ptr{UInt},), pointer(schema))
    end
    0
end
arrow_release(stream::Ptr{UInt})::Cvoid = (unsafe_store!(stream, 0, 4); nothing)

@testset "a stream is read to its end" begin
    arrow_given[] = TensorDict(2; y = [5, 6])
    stream_of(batches) = UInt[@cfunction(arrow_get_schema, Cint, (Ptr{Cvoid}, Ptr{UInt})),
                              @cfunction(arrow_get_next, Cint, (Ptr{UInt}, Ptr{UInt})), 0,
                              @cfunction(arrow_release, Cvoid, (Ptr{UInt},)), batches]
    stream = stream_of(3)
    GC.@preserve stream begin
        all = from_arrow_stream(pointer(stream))
        @test Array(all["y"]) == [5, 6, 5, 6, 5, 6] && stream[4] == 0
        close(all)
    end
    stream = stream_of(99)
    GC.@preserve stream @test_throws Exception from_arrow_stream(pointer(stream))
    @test stream[4] == 0
    close(arrow_given[])
    arrow_given[] = nothing
end

@testset "a dictionary is a stream of record batches" begin
    td = TensorDict(5; x = Float32[1 2; 3 4; 5 6; 7 8; 9 10], n = TensorDict(5; y = 1:5))
    stream = zeros(UInt, 5)
    GC.@preserve stream for rows in (1, 2, 5, 9)
        to_arrow_stream(td, rows, pointer(stream))
        @test stream[4] != 0
        again = from_arrow_stream(pointer(stream))
        @test stream[4] == 0 && again == td
        close(again)
    end
    GC.@preserve stream begin
        to_arrow_stream(td, 2, pointer(stream); separator = ".")
        again = from_arrow_stream(pointer(stream); separator = ".")
        @test Array(again["n", "y"]) == 1:5
        close(again)
        @test_throws Exception to_arrow_stream(td, 0, pointer(stream))
        @test stream[4] == 0
    end
    close(td)
end
