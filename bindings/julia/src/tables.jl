# Dictionaries as tables in text files, one row for each element of the batch.

table_format(file, format::Symbol) =
    format === :csv ? TD_TABLE_CSV :
    format === :json ? TD_TABLE_JSON : throw(ArgumentError("a table is :csv or :json, not $(repr(format))"))
function with_table_options(f, file, format, separator, flatten)
    text = String(separator)
    GC.@preserve text begin
        f(Ref(td_table_options(format = table_format(file, format), separator = Base.unsafe_convert(Cstring, text),
                               flags = flatten ? TD_TABLE_FLATTEN : 0)))
    end
end

table_format(file, ::Nothing) = endswith(lowercase(file), ".json") ? TD_TABLE_JSON : TD_TABLE_CSV

"""
    load_table(file; format = nothing, separator = "", flatten = false)
    save_table(file, td; format = nothing, separator = "", flatten = false)

Read a table into a dictionary with one row for each element of the batch, or write one. `format` is
`:csv` or `:json`; if it is not given the name of the file says it. `separator` splits names of columns
into nested keys and joins them.

Columns of whole numbers become `Int64`, of numbers and missing ones `Float64`, of truths `Bool`, all
others non-tensor values.

With `flatten`, a tensor has a column for each element of a row, counted as in C and Python (`action[0]`), and the
batch may have several dimensions: two give the first columns `episode` and `step`. Reading joins them again;
episodes of different lengths become a lazy stack.
"""
load_table(file::AbstractString; format::Union{Symbol,Nothing} = nothing, separator::AbstractString = "",
           flatten::Bool = false) =
    with_table_options(o -> call(TensorDict, td_table_load, String(file), o), file, format, separator, flatten)

function save_table(file::AbstractString, td::TensorDict; format::Union{Symbol,Nothing} = nothing,
                    separator::AbstractString = "", flatten::Bool = false)
    with_table_options(o -> check(td_table_save(td, String(file), o)), file, format, separator, flatten)
    file
end
