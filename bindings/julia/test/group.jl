# Process groups: the wire is tested in C; here the way into the language.

one_rank() = try
    open_group("tcp://127.0.0.1:0"; rank = 0, world_size = 1, timeout = 60)
catch e
    e isa TensorDictError && e.status == TensorDicts.TD_ERR_UNSUPPORTED ? nothing : rethrow()
end

group = one_rank()
if group !== nothing
    numbers(td) = Array(td["a"])
    row(first) = TensorDict(2; a = [first, first + 1])

    @testset "all ranks together" begin
        @test (TensorDicts.rank(group), length(group), string(group)) == (0, 1, "Group(rank 0 of 1)")
        barrier(group; timeout = 5)
        @test numbers(broadcast_from(group, row(1), 0)) == [1, 2]
        @test numbers(all_reduce!(group, :sum, row(2); fused = true)) == [2, 3]
        @test numbers(all_reduce!(group, :sum, row(2); bucket_bytes = 8)) == [2, 3]
        @test numbers(reduce!(group, :max, row(2), 0; bucket_bytes = 8)) == [2, 3]
        @test_throws TensorDictError all_reduce!(group, :average, row(2))
        @test_throws ArgumentError all_reduce!(group, :median, row(2))
        @test numbers.(all_gather(group, row(3))) == [[3, 4]]
        @test numbers(scatter(group, [row(4)], 0)) == [4, 5]
        @test_throws ArgumentError scatter(group, [], 0)
        @test size(gather_and_stack(group, row(5), 0)) == (1, 2)
        part = split_group(group, [0]; name = "part")
        @test length(part) == 1
        close(part)
    end

    @testset "all ranks in the background" begin
        sums = [all_reduce!(group, :sum, row(10i); later = true, fused = isodd(i)) for i in 1:4]
        all = broadcast_from(group, row(1), 0; later = true)
        largest = reduce!(group, :max, row(2), 0; later = true)
        part = scatter(group, [row(3)], 0; later = true)
        @test numbers(all_reduce!(group, :product, row(4))) == [4, 5]
        @test numbers.(fetch.((all, largest, part))) == ([1, 2], [2, 3], [3, 4])
        @test numbers.(fetch.(sums)) == [[10i, 10i + 1] for i in 1:4]
        td = row(5)
        fetch(all_reduce!(group, :min, td; later = true, timeout = 60))
        @test numbers(td) == [5, 6]
        @test_throws TensorDictError all_reduce!(group, :average, row(2); later = true)
        @test_throws ArgumentError reduce!(group, :sum, row(2), 1; later = true)
        @test_throws ArgumentError broadcast_from(group, nothing, 0; later = true)
        @test_throws ArgumentError scatter(group, [], 0; later = true)
    end

    # The other rank is a process of its own, and ends before it has answered all.
    @testset "a rank that comes late, and goes" begin
        mktempdir() do dir
            url = "file://" * joinpath(dir, "meet")
            script = """
                using TensorDicts
                group = open_group($(repr(url)); rank = 1, world_size = 2, timeout = 600)
                recv_message(group, 0)
                for first in 1:2
                    all_reduce!(group, :sum, TensorDict(2; a = [first, first + 1]))
                end
                td = fetch(all_reduce!(group, :sum, TensorDict(2; a = [3, 4]); later = true))
                print(Array(td["a"]))
                recv_message(group, 0)
                """
            other = open(`$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project()) -e $script`)
            two = open_group(url; rank = 0, world_size = 2, timeout = 600)
            late, told = row(1), row(2)
            first = all_reduce!(two, :sum, late; later = true, timeout = 0.1)
            second = all_reduce!(two, :sum, told; later = true)
            @test_throws TensorDictError fetch(first)
            @test !isready(second)
            TensorDicts.cancel(second)
            @test_throws TensorDictError fetch(second)
            @test (numbers(late), numbers(told)) == ([1, 2], [2, 3])
            send_message(two, late, 1)
            @test numbers(fetch(all_reduce!(two, :sum, row(3); later = true))) == [6, 8]
            waiting = all_reduce!(two, :sum, late; later = true)
            send_message(two, late, 1)
            @test_throws TensorDictError fetch(waiting)
            @test numbers(late) == [1, 2]
            @test endswith(read(other, String), "[6, 8]")  # a gloo of today tells of its connections before
            close(two)
        end
    end

    @testset "ranks that are not there" begin
        for send in (send_to, send_message, init_remote), dst in (0, 1, -1)
            @test_throws ArgumentError send(group, row(1), dst)
        end
        @test_throws ArgumentError send_to(group, row(1), 1; later = true)
        @test_throws ArgumentError send_message(group, row(1), 1; later = true)
        @test_throws ArgumentError receive_from!(group, row(1), 0; consolidated = true)
        @test_throws ArgumentError receive_from!(group, row(1), 0; later = true)
        @test_throws ArgumentError from_remote_init(group, 0)
        @test_throws ArgumentError recv_message(group, 0)
        waiting = recv_message(group; later = true)
        @test !isready(waiting)
        TensorDicts.cancel(waiting)
        @test_throws TensorDictError fetch(waiting)
        close(waiting)
        @test_throws TensorDictError recv_message(group; timeout = 0.05)
        mktempdir() do dir
            saving = memmap_start(row(1), joinpath(dir, "td"))
            @test_throws TensorDictError TensorDicts.cancel(saving)
            close(saving)
        end
    end
    close(group)
    @test_throws ReleasedError barrier(group)
end
