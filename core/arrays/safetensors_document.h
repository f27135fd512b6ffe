// core/arrays/safetensors_document.h: what Python's tensordict writes beside the tensors of a safetensors file: batch
// sizes, names, kinds and values of all levels, as a JSON text.
#pragma once

#include "core/flat/flat_tree.h"
#include "core/formats/safetensors_header.h"

#include <string>

namespace td::safetensors {

struct Document {
  std::string text;
  bool has_kinds = false;  // there are lazy stacks or tensorclasses
  bool too_deep = false;   // for a reader of JSON; the text is empty
};
Document document_of(const TensorDict& td, const FileOptions& options);

// Whether the text is of the form that FlatExtras reads.
bool is_own(const Plain& document);

// The dictionary of a document; `native` has stacks of values, which the document has as lists. Throws Code::format, and
// Code::unsupported for other versions and for tensors without the batch dimensions of their dictionary.
TensorDict of_document(const Plain& document, const FlatExtras* native, const Header& header,
                       const FileBytes& file, const FileOptions& options);

}  // namespace td::safetensors
