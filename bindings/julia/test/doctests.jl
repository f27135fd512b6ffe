# Runs the ```jldoctest blocks of the guide and of the docstrings: what follows `julia> ` is evaluated
# in a fresh module, and must show as it stands below.

const SOURCES = [joinpath(@__DIR__, "..", "..", "..", "docs", "guide", "julia.md");
                 sort(readdir(joinpath(@__DIR__, "..", "src"); join = true))]

blocks(text) = [m[1] for m in eachmatch(r"^```jldoctest[^\n]*\n(.*?)^```$"ms, text)]

# Pairs of input and output of one block; more lines of an input are indented by seven.
function steps(block)
    found = Pair{String,String}[]
    for part in split(block, r"^julia> "m)[2:end]
        lines = split(chomp(part), '\n')
        input = [lines[1]]
        while length(input) < length(lines) && startswith(lines[length(input)+1], "       ")
            push!(input, lines[length(input)+1][8:end])
        end
        push!(found, join(input, '\n') => strip(join(lines[length(input)+1:end], '\n')))
    end
    found
end

function shown(place, input)
    value = try
        include_string(place, input)
    catch e
        e isa LoadError && (e = e.error)
        return "ERROR: " * sprint(showerror, e)
    end
    value === nothing || endswith(input, ';') ? "" :
    strip(sprint((io, x) -> show(IOContext(io, :limit => true, :module => place), MIME("text/plain"), x), value))
end

# Julia 1.6 and newer say Vector{Int64} for Array{Int64,1}.
plain(text) = replace(replace(text, r"Array\{(\w+),1\}" => s"Vector{\1}"), r"Array\{(\w+),2\}" => s"Matrix{\1}")

counted = Ref(0)
mktempdir() do folder
    cd(folder) do
        for file in SOURCES, (number, block) in enumerate(blocks(read(file, String)))
            place = Module(:doctest)
            Core.eval(place, :(using TensorDicts))
            for (input, expected) in steps(block)
                text = shown(place, input)
                plain(text) == plain(expected) || @info "block $number of $(basename(file))" input text
                @test plain(text) == plain(expected)
                counted[] += 1
            end
        end
    end
end
@test counted[] > 20
