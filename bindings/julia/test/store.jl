# What lies in the server is tested in C; here the way into the language.
mktempdir() do folder
    Sys.which("redis-server") === nothing && return
    socket = joinpath(folder, "s")
    server = run(pipeline(`redis-server --port 0 --save "" --appendonly no --unixsocket $socket --dir $folder`; stdout = devnull); wait = false)
    try
        answers = false
        for _ in 1:1000
            try
                TensorDicts.erase(TensorDictStore(1; unix_socket = socket))
                answers = true
                break
            catch error
                occursin("built without", sprint(showerror, error)) && return
                sleep(0.01)
            end
        end
        @test answers
        @testset "one writes and another reads" begin
            td = TensorDict(4; x = reshape(1:12, 4, 3), n = TensorDict(4; y = 1:4))
            options = (unix_socket = socket, prefix = "p", id = "one", timeout = 20)
            store = TensorDictStore(td; options...)
            other = TensorDictStore(; options...)
            @test other.id == "one"
            @test size(other) == (4,)
            @test sort(collect(keys(other)); by = string) == [("n", "y"), "x"]
            @test TensorDict(other) == td
            @test Array(other["n"]["y"]) == 1:4
            @test Array(other["n", "y"]) == 1:4
            set_at!(store, "x", 9, 2:4, 1)
            set_at!(store, ("n", "y"), 5)
            store["z"] = [1, 2, 3, 4]
            store["note"] = NonTensorData("{\"a\": 1}")
            set_json!(store, "other", "2")
            store["m"] = td
            @test Array(get_at(other, "x", 3)) == [9, 7, 11]
            @test Array(get_at(other, "x", :, 2)) == 5:8
            @test Array(other[2]["z"])[] == 2
            @test Array(other[3:4]["n", "y"]) == [5, 5]
            @test get_json(other, "note") == "{\"a\":1}"
            @test other["other"] == NonTensorData("2")
            update!(store, td)
            @test Array(other["m", "n", "y"]) == 1:4
            lock(store)
            @test islocked(store)
            @test_throws Exception delete!(store, "z")
            unlock(store)
            delete!(store, "z")
            @test_throws Exception other["z"]
            @test occursin("one", sprint(show, store))
            TensorDicts.erase(store)
            @test_throws Exception TensorDictStore(; options...)
            refused(; more...) = try
                TensorDictStore(1; options..., more...)
                ""
            catch error
                sprint(showerror, error)
            end
            # The server is one without TLS; a file that is none is found before that.
            @test occursin("\"/nowhere/ca.pem\"", refused(; tls = true, tls_ca = "/nowhere/ca.pem"))
            @test occursin("key without its certificate", refused(; tls = true, tls_key = "k"))
            zeros = TensorDictStore(schema(td); options...)
            @test Array(zeros["n", "y"]) == [0, 0, 0, 0]
            foreach(close, (zeros, store, other))
        end
    finally
        kill(server)
        wait(server)
    end
end
