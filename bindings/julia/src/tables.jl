# Dictionaries as tables in text files, one row for each element of the batch.

table_format(file, format::Symbol) =
    format === :csv ? TD_TABLE_CSV :
    format === :json ? TD_TABLE_JSON : throw(ArgumentError("a table is :csv or :json, not $(repr(format))"))
function with_table_options(f, file, format, separator)
    text = String(separator)
    GC.@preserve text begin
        f(Ref(td_table_options(format = table_format(file, format), separator = Base.unsafe_convert(Cstring, text))))
    end
end

table_format(file, ::Nothing) = endswith(lowercase(file), ".json") ? TD_TABLE_JSON : TD_TABLE_CSV

"""
    load_table(file; format = nothing, separator = "")
    save_table(file, td; format = nothing, separator = "")

Read a table into a dictionary with one row for each element of the batch, or write one. `format` is
`:csv` or `:json`; if it is not given the name of the file says it. `separator` splits names of columns
into nested keys and joins them.

Columns of whole numbers become `Int64`, of numbers and missing ones `Float64`, of truths `Bool`, all
others non-tensor values.
"""
load_table(file::AbstractString; format::Union{Symbol,Nothing} = nothing, separator::AbstractString = "") =
    with_table_options(o -> call(TensorDict, td_table_load, String(file), o), file, format, separator)

function save_table(file::AbstractString, td::TensorDict; format::Union{Symbol,Nothing} = nothing,
                    separator::AbstractString = "")
    with_table_options(o -> check(td_table_save(td, String(file), o)), file, format, separator)
    file
end
