make() = TensorDict(3; x = Float32[1 2; 3 4; 5 6], n = (y = [7, 8, 9],))

@testset "shared memory" begin
    td = make()
    before = td["n", "y"]
    @test !isshared(td) && share_memory!(td) === td && isshared(td) && islocked(td) && td == make()
    @test isshared(unsqueeze(td, 1)) && isshared(td["n"]) && !isshared(copy(td))
    other = open_shared(shared_name(td))
    @test other == td && isshared(other) && islocked(other)
    other["n", "y"][2] = 80
    @test Array(td["n", "y"]) == [7, 80, 9] == Array(before)
    @test_throws ArgumentError shared_name(td["n"])
    unlock!(td)
    @test !isshared(td)
    @test_throws ArgumentError shared_name(td)
    @test_throws ArgumentError open_shared("no name")
    foreach(close, (td, other))
end

@testset "another process" begin
    td = share_memory!(make())
    program = """
        using TensorDicts
        td = open_shared(ARGS[1])
        Array(td["n", "y"])[1] == 7 || exit(3)
        td["n", "y"][3] = 900
        """
    # This Julia, not that of the PATH.
    @test success(`$(Base.julia_cmd()) --startup-file=no -e $program $(shared_name(td))`)
    @test Array(td["n", "y"]) == [7, 8, 900]
    close(td)
end

@testset "one buffer" begin
    td = make()
    packed = consolidate(td)
    @test packed == td && islocked(packed) && isconsolidated(packed) && !isconsolidated(td)
    @test !isconsolidated(copy(packed)) && device(consolidate(td; device = cpu())) == cpu()
    mktempdir() do folder
        file = joinpath(folder, "größe")
        mapped = consolidate(td, file)
        @test mapped == td && isconsolidated(mapped)
        loaded = load_consolidated(file)
        @test loaded == td && !islocked(loaded)
        loaded["x"][1, 1] = -1
        @test load_consolidated(file) == td
        @test device(load_consolidated(file; device = Device("meta"))) == Device("meta")
        @test_throws TensorDictError load_consolidated(file; max_entries = 1)
        foreach(close, (mapped, loaded))
    end
    python = load_consolidated(joinpath(GOLDEN, "consolidated"))
    @test size(python) == (4,) && Array(python["n", "b"]) == [19573, 13151, 10989, 10183]
    @test consolidate!(td) === td && isconsolidated(td)
    @test !isconsolidated(unlock!(td))
    pinned = try
        consolidate(td; pin_memory = true)
    catch e # no accelerator
        e
    end
    @test pinned isa TensorDictError || pinned == td
end

@testset "messages" begin
    td = make()
    line = IOBuffer()
    @test write(line, td) == write(line, td) == position(line) ÷ 2
    seekstart(line)
    got = read(line, TensorDict)
    @test got == td && !islocked(got)
    target = lock!(copy(td))
    target["n", "y"][1] = 0
    @test read!(line, target) === target && target == td && eof(line)

    bytes = take!(line)
    @test_throws TensorDictError read(IOBuffer(bytes), TensorDict; max_bytes = 64)
    @test_throws TensorDictError read(IOBuffer(bytes), TensorDict; max_entries = 1)
    @test_throws EOFError read(IOBuffer(bytes[1:100]), TensorDict)
    @test_throws EOFError read(IOBuffer(bytes[1:10]), TensorDict)
    @test_throws TensorDictError read(IOBuffer(reverse(bytes)), TensorDict)
    @test_throws TensorDictError read!(IOBuffer(bytes), TensorDict(3; x = [1, 2, 3]))

    pipe = Base.Pipe() # a stream of Julia, with a task at the other end
    Base.link_pipe!(pipe; reader_supports_async = true, writer_supports_async = true)
    long = TensorDict((); x = collect(1:300_000))
    sender = @async (write(pipe, long); close(Base.pipe_writer(pipe)))
    @test read(pipe, TensorDict) == long
    wait(sender)

    mktempdir() do folder
        open(joinpath(folder, "line"), "w+") do file
            @test send_fd(fd(file), td; timeout = 60) === nothing
            send_fd(Integer(reinterpret(Int32, RawFD(fd(file)))), td)
            seekstart(file)
            @test recv_fd(fd(file); timeout = 60) == td
            target["n", "y"][1] = 0
            @test recv_fd(fd(file); into = target) === target && target == td
            @test_throws TensorDictError recv_fd(fd(file)) # nothing more
        end
    end
end

@testset "locks for a while" begin
    td = make()
    @test locked(td) do t
        @test islocked(t)
        unlocked(t) do free
            free["new"] = [1, 2, 3]
        end
        @test islocked(t)
        5
    end == 5
    @test !islocked(td) && haskey(td, "new")
    @test_throws ErrorException locked(_ -> error("on the way"), td)
    @test !islocked(td)
    lock!(td)
    locked(identity, td)
    @test islocked(td)
    @test_throws ErrorException unlocked(_ -> error("on the way"), td)
    @test islocked(td)
end
