# Printing: dictionaries and tensors read as in Python.

dims_text(dims) = isempty(dims) ? "0-dimensional" : length(dims) == 1 ? "$(dims[1])-element" : join(dims, "×")

Base.summary(io::IO, td::TensorDict) = print(io, dims_text(size(td)), " TensorDict")
Base.summary(io::IO, t::Tensor) = print(io, dims_text(size(t)), " Tensor of ", eltype(t))

shown(io, f, x) = isopen(x) ? print(io, asktext(f, x)) : print(io, "closed ", typeof(x))

const PRINT_PARTS = (batch_size = TD_PRINT_PART_BATCH_SIZE, device = TD_PRINT_PART_DEVICE,
                     is_shared = TD_PRINT_PART_IS_SHARED, shape = TD_PRINT_PART_SHAPE,
                     field_device = TD_PRINT_PART_FIELD_DEVICE, dtype = TD_PRINT_PART_DTYPE,
                     field_is_shared = TD_PRINT_PART_FIELD_IS_SHARED, grad = TD_PRINT_PART_GRAD,
                     is_contiguous = TD_PRINT_PART_IS_CONTIGUOUS, is_view = TD_PRINT_PART_IS_VIEW,
                     storage_size = TD_PRINT_PART_STORAGE_SIZE, plain = TD_PRINT_PART_PLAIN)

print_parts(names) = reduce(|, (PRINT_PARTS[name] for name in names); init = UInt32(0))

"""
    printed(td; compact = nothing, show = (), hide = (), brief = false, sorted = true)

The dictionary as text, as Python's tensordict prints it with these options. Without `compact` it is the
compact form, unless a part is shown or hidden that only the detailed form prints.

- `show`, `hide`: names of parts: `:batch_size`, `:device`, `:is_shared`, `:shape`, `:field_device`, `:dtype`,
  `:field_is_shared`; shown only on demand are `:grad`, `:is_contiguous`, `:is_view`, `:storage_size`, and
  `:plain`, which is about the values
- `brief`: without devices, dtypes and `is_shared`

```jldoctest
julia> printed(TensorDict(2; x = [1, 2]); hide = (:dtype,))
"TensorDict(batch_size=[2], fields={x: []})"
```
"""
function printed(td::TensorDict; compact::Union{Bool,Nothing} = nothing, show = (), hide = (), brief::Bool = false,
                 sorted::Bool = true)
    form = compact === nothing ? TD_PRINT_AUTO : compact ? TD_PRINT_COMPACT : TD_PRINT_DETAILED
    options = td_print_options(; form, show = print_parts(show), hide = print_parts(hide), brief, unsorted = !sorted)
    asktext(td_print, td, Ref(options))
end

Base.show(io::IO, td::TensorDict) = shown(io, td_to_string, td)
Base.show(io::IO, t::Tensor) = shown(io, td_tensor_to_string, t)
Base.show(io::IO, w::Writer) = print(io, isopen(w) ? "Writer($(rows(w)) rows written)" : "closed Writer")

# In errors such as BoundsError one line is enough.
Base.show(io::IO, ::MIME"text/plain", td::TensorDict) = show(io, td)
