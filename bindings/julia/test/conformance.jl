# The cases of tests/conformance, which every language runs; the README there describes the form.

numbers(text) = parse.(Int, split(text))
path(text) = Tuple(name == "''" ? "" : String(name) for name in split(text, '/')) # '' has no letters
shown(name) = isempty(name) ? "''" : name
halves(text) = (parts = split(text, ' '; limit = 2); (parts[1], length(parts) == 2 ? parts[2] : ""))

# The row-major order of torch against the column-major one of Julia.
turned(array) = ndims(array) < 2 ? array : permutedims(array, ndims(array):-1:1)
rowmajor(array) = vec(turned(array))
function counting(T, sizes)
    array = turned(reshape(collect(0:prod(sizes)-1), reverse(sizes)))
    contiguous(Tensor(convert(Array{T}, T === Bool ? map(!iszero, array) : array)))
end
eltype_named(name) = first(T for (T, _) in TensorDicts.DTYPES if TensorDicts.dtype_name(T) == "torch.$name")

listed(key::String) = shown(key)
listed(key::Tuple) = join(shown.(key), "/")

# A command that changes something, or looks something up; gives the dictionary of the case.
function act(td, aside, word, rest)
    first, more = halves(rest)
    if word == "dict"
        return TensorDict(Tuple(numbers(rest)))
    elseif word == "tensor"
        dtype, sizes = halves(more)
        td[path(first)] = counting(eltype_named(dtype), Tuple(numbers(sizes)))
    elseif word == "nested"
        td[path(first)] = TensorDict(Tuple(numbers(more)))
    elseif word == "remove"
        delete!(td, path(first))
    elseif word == "lock"
        lock!(td)
    elseif word == "unlock"
        unlock!(td)
    elseif word == "resize"
        set_batch_size!(td, Tuple(numbers(rest)))
    elseif word == "view"
        return reshape(td, Tuple(numbers(rest)); copy = false)
    elseif word == "index"
        return td[parse_index(rest)]
    elseif word == "get"
        td[path(first)]
    elseif word == "aside"
        push!(aside, td)
        return TensorDict(())
    elseif word == "lazy"
        return lazy_stack(splice!(aside, eachindex(aside)), numbers(rest)[1] + 1)
    elseif word == "through"
        name, tensor = halves(more)
        dtype, sizes = halves(tensor)
        sub_tensordict(td, parse_index(first))[path(name)] = counting(eltype_named(dtype), Tuple(numbers(sizes)))
    elseif word == "clamp"
        return clamp(td, numbers(rest)...)
    else
        error("no such command: $word")
    end
    td
end

# Several statuses share one type of Base: the code of the library must be one that gives this type.
function status_of(failure)
    failure isa KeyError && return "TD_ERR_KEY_NOT_FOUND"
    code = TensorDicts.td_last_error_code()
    code == TensorDicts.TD_ERR_INDEX && failure isa BoundsError && return "TD_ERR_INDEX"
    typeof(TensorDicts.failure(code)) === typeof(failure) || rethrow()
    TensorDicts.status_name(code)
end

function run_cases(file)
    td, status, name, printed, cases = TensorDict(()), "TD_OK", "", String[], 0
    aside = TensorDict[]
    same(found, expected, number) = (found == expected || @info("$name, line $number", found, expected); @test found == expected)
    for (number, line) in enumerate(eachline(file))
        (isempty(line) || startswith(line, '#')) && continue
        if startswith(line, '|')
            same(isempty(printed) ? "" : popfirst!(printed), line[2:end], number)
            continue
        end
        word, rest = halves(line)
        if word == "status"
            same(status, rest, number)
            status = "TD_OK"
            continue
        end
        same(status, "TD_OK", number)
        if word == "case"
            name, cases = rest, cases + 1
            empty!(aside)
        elseif word == "batch"
            same(join(size(td), " "), rest, number)
        elseif word == "keys"
            same(join(listed.(keys(td; nested = true)), " "), rest, number)
        elseif word == "values"
            key, expected = halves(rest)
            same(Int.(rowmajor(Array(td[path(key)]))), numbers(expected), number)
        elseif word == "prints"
            printed = String.(split(sprint(show, td), '\n'))
        elseif word == "end"
            same(length(printed), 0, number)
        else
            try
                td = act(td, aside, word, rest)
            catch failure
                status = status_of(failure)
            end
        end
    end
    @test status == "TD_OK" && cases > 40
end

run_cases(joinpath(@__DIR__, "..", "..", "..", "tests", "conformance", "cases.txt"))
