"""Reads the public headers through SWIG's parse tree and writes the raw layers of the bindings."""
