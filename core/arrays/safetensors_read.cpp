#include "core/arrays/safetensors.h"
#include "core/arrays/safetensors_document.h"
#include "core/base/quote.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"

#include <unordered_map>

namespace td::safetensors {

TensorDict load(const FileBytes& file, const FileOptions& options) {
  const Header header = Header::read(file.text(), file.where(), options.max_entries);
  std::optional<FlatExtras> extras;
  std::optional<FlatExtras> native;
  std::optional<Plain> document;
  for (const auto& [name, text] : header.metadata) {
    if (name == native_key) native = FlatExtras::parse(text, file.where());
    if (name != extras_key) continue;
    document = read_json(text, file.where(), max_json_depth);
    if (!is_own(*document)) continue;
    extras = FlatExtras::of(*document, file.where());
    document.reset();
  }
  if (document) return of_document(*document, native ? &*native : nullptr, header, file, options);
  std::unordered_map<std::string_view, const OwnedPath*> exact;
  if (extras) {
    for (const FlatExtras::Exact& entry : extras->exact) exact[entry.name] = &entry.path;
  }
  std::vector<FlatLeaf> leaves;
  leaves.reserve(header.entries.size());
  for (const Header::Entry& entry : header.entries) {
    const auto found = exact.find(entry.name);
    const c10::ScalarType dtype = need_scalar_type(entry.dtype, file.where());
    leaves.push_back({entry.name,
                      found == exact.end() ? split_name(entry.name, options) : *found->second,
                      file.tensor(entry.start, entry.sizes, {}, dtype, false, entry.name)});
  }
  return build_tree(leaves, extras ? &*extras : nullptr, options, file.where());
}

std::string metadata(const FileBytes& file, const FileOptions& options) {
  std::string text = "{";
  for (const auto& [name, value] :
       Header::read(file.text(), file.where(), options.max_entries).metadata) {
    if (text.size() > 1) text += ',';
    text += quote(name) + ':' + quote(value);
  }
  return text + '}';
}

}  // namespace td::safetensors
