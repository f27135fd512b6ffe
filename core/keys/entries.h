// core/keys/entries.h: updates, selects, renames and removes entries. On failure, functions throw td::Error
// and change no dictionary.
#pragma once

#include "core/tree/paths.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td {

using PathList = c10::ArrayRef<Path>;

// Puts entries of another dictionary into this one. Common nested dictionaries are merged and keep their
// identity.
enum class UpdateMode {
  store,    // stores the source's tensors
  inplace,  // writes values into existing tensors; stores new entries
  strict,   // writes values; all entries of the source must exist
};
struct UpdateOptions {
  UpdateMode mode = UpdateMode::store;
  bool clone = false;              // store: copies
  bool whole_nodes = false;        // store: replaces nested dictionaries instead of merging
  bool update_batch_size = false;  // takes over the batch size; all entries must then be replaced
  bool ignore_lock = false;
  std::optional<PathList> keys;  // only these entries of the source, and what is below
};
void update(const TensorDict& td, const TensorDict& source, const UpdateOptions& options = {});

// Writes values of another dictionary into a part of the existing entries.
struct UpdateAtOptions {
  bool exact = false;  // sizes must equal the part's, which must be a view
};
void update_at(const TensorDict& td, c10::ArrayRef<IndexItem> items, const TensorDict& source,
               const UpdateAtOptions& options = {});

// Single entries.
void write(const TensorDict& td, Path path,
           const at::Tensor& value);  // in place if it exists, else set
void fill(const TensorDict& td, Path path,
          const at::Tensor& value);  // for a dictionary: all tensors
at::Tensor get_at(const TensorDict& td, Path path, c10::ArrayRef<IndexItem> items);
void set_entry_at(const TensorDict& td, Path path, c10::ArrayRef<IndexItem> items,
                  const at::Tensor& value);
at::Tensor get_or_set(const TensorDict& td, Path path, const at::Tensor& value);
void create_nested(const TensorDict& td, Path path);
TensorDict holding(std::string_view name, const Value& node);  // a dictionary with this entry
void rename_key(const TensorDict& td, Path from, Path to, bool safe);
void clear(const TensorDict& td);

// A new dictionary over the same tensors, with several entries at other paths, which may be exchanged. Dictionaries that
// this empties are not in it.
TensorDict rename_keys(const TensorDict& td, PathList from, PathList to,
                       bool ignore_missing = false);

// Selects keys. The result has new dictionaries over the same tensors; `inplace` changes the dictionary
// itself.
struct SelectOptions {
  bool inplace = false;
  bool ignore_missing = false;  // always true for exclude()
};
TensorDict select(const TensorDict& td, PathList paths, const SelectOptions& options = {});
TensorDict exclude(const TensorDict& td, PathList paths, const SelectOptions& options = {});

// One dictionary for each set of keys; the last result holds the rest.
struct KeySet {
  PathList paths;
  PathList names;  // names in the result, one for each path; empty: unchanged
};
struct SplitOptions {
  bool inplace = false;  // the rest is the dictionary itself
  bool ignore_missing = false;
  bool keep_structure = false;  // all results have all nested dictionaries, even empty ones
  bool keep_emptied = false;    // the rest keeps emptied nested dictionaries
};
std::vector<TensorDict> split_keys(const TensorDict& td, c10::ArrayRef<KeySet> sets,
                                   const SplitOptions& options = {});

// A dictionary without entries; `recurse` keeps nested dictionaries.
TensorDict empty(const TensorDict& td, bool recurse);
void remove_empty(const TensorDict& td);  // removes nested dictionaries without entries
TensorDict filter_non_tensor(const TensorDict& td);

// Decides whether a dictionary or a non-tensor value counts as a leaf.
using LeafFn = std::function<bool(Path path, EntryKind kind)>;

struct FlattenOptions {
  bool inplace = false;
  const LeafFn* is_leaf = nullptr;  // nested dictionaries to keep whole
};
TensorDict flatten_keys(const TensorDict& td, std::string_view separator,
                        const FlattenOptions& options = {});
TensorDict unflatten_keys(const TensorDict& td, std::string_view separator, bool inplace = false);

// Merges entries; if several sources have a key, the first one's tensor is taken. With a function: its result for
// tensors that all sources have; an empty value drops the entry.
using MergeFn = std::function<Value(Path path, c10::ArrayRef<Value> tensors)>;
TensorDict merge(c10::ArrayRef<TensorDict> sources, const MergeFn* callback = nullptr);

struct KeyQuery {
  bool include_nested = false;
  bool leaves_only = false;
  bool sort = false;
  bool include_non_tensor = false;  // with leaves_only: includes non-tensor values
  bool contents_first = false;      // lists a dictionary after its content
  const LeafFn* is_leaf = nullptr;  // leaves are not entered
};
KeyList list_keys(const TensorDict& td, const KeyQuery& query = {});
KeyList last_key(const TensorDict& td);  // Code::key_not_found if it is empty

// Properties of the tree.
std::size_t depth(const TensorDict& td);
Sizes entry_sizes(const TensorDict& td, Path path);  // of a dictionary: its batch size

// Sets the longest common batch size of all entries; `max_dims` limits its dimensions unless negative.
void auto_batch_size(const TensorDict& td, std::int64_t max_dims, bool keep_compliant);

}  // namespace td
