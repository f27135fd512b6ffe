# Printing: dictionaries and tensors read as in Python.

dims_text(dims) = isempty(dims) ? "0-dimensional" : length(dims) == 1 ? "$(dims[1])-element" : join(dims, "×")

Base.summary(io::IO, td::TensorDict) = print(io, dims_text(size(td)), " TensorDict")
Base.summary(io::IO, t::Tensor) = print(io, dims_text(size(t)), " Tensor of ", eltype(t))

shown(io, f, x) = isopen(x) ? print(io, asktext(f, x)) : print(io, "closed ", typeof(x))

Base.show(io::IO, td::TensorDict) = shown(io, td_to_string, td)
Base.show(io::IO, t::Tensor) = shown(io, td_tensor_to_string, t)
Base.show(io::IO, w::Writer) = print(io, isopen(w) ? "Writer($(rows(w)) rows written)" : "closed Writer")

# In errors such as BoundsError one line is enough.
Base.show(io::IO, ::MIME"text/plain", td::TensorDict) = show(io, td)
