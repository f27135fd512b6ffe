// core/keys/entries.h: the entries of a dictionary as those of any dictionary: updated, selected, renamed,
// taken out. Whatever fails throws td::Error and leaves every dictionary as it was.
#pragma once

#include "core/tree/paths.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td {

using PathList = c10::ArrayRef<Path>;

// Entries of another dictionary into this one. Dictionaries that both have are merged and stay the same
// dictionaries.
enum class UpdateMode {
  store,    // tensors of the source are stored, in place of those that were there
  inplace,  // values are written into tensors that are there; what is new is stored
  strict,   // values are written; every entry of the source must be there
};
struct UpdateOptions {
  UpdateMode mode = UpdateMode::store;
  bool clone = false;        // store copies
  bool whole_nodes = false;  // UpdateMode::store replaces dictionaries instead of merging them
  bool update_batch_size =
      false;  // take over the batch size too: then all entries must be replaced
  bool ignore_lock = false;
  std::optional<PathList> keys;  // only these entries of the source, and what lies below them
};
void update(const TensorDict& td, const TensorDict& source, const UpdateOptions& options = {});

// Values of another dictionary into a part of the entries that are there.
struct UpdateAtOptions {
  bool exact = false;  // sizes must be those of the part, which must be a view
};
void update_at(const TensorDict& td, c10::ArrayRef<IndexItem> items, const TensorDict& source,
               const UpdateAtOptions& options = {});

// One entry.
void write(const TensorDict& td, Path path,
           const at::Tensor& value);  // in place if there, else set
void fill(const TensorDict& td, Path path,
          const at::Tensor& value);  // of a dictionary every tensor
at::Tensor get_at(const TensorDict& td, Path path, c10::ArrayRef<IndexItem> items);
void set_entry_at(const TensorDict& td, Path path, c10::ArrayRef<IndexItem> items,
                  const at::Tensor& value);
at::Tensor get_or_set(const TensorDict& td, Path path, const at::Tensor& value);
void create_nested(const TensorDict& td, Path path);
TensorDict holding(std::string_view name, const Value& node);  // a dictionary of this one entry
void rename_key(const TensorDict& td, Path from, Path to, bool safe);
void clear(const TensorDict& td);

// A part of the keys. The result has dictionaries of its own over the same tensors; in place it is the
// dictionary itself.
struct SelectOptions {
  bool inplace = false;
  bool ignore_missing = false;  // exclude() always does
};
TensorDict select(const TensorDict& td, PathList paths, const SelectOptions& options = {});
TensorDict exclude(const TensorDict& td, PathList paths, const SelectOptions& options = {});

// One dictionary for each set of keys, and the rest as the last one.
struct KeySet {
  PathList paths;
  PathList names;  // as many, or none: what the entries are called in the result
};
struct SplitOptions {
  bool inplace = false;  // the rest is the dictionary itself
  bool ignore_missing = false;
  bool keep_structure = false;  // every result has all nested dictionaries, empty or not
  bool keep_emptied = false;    // the rest keeps nested dictionaries that lost all entries
};
std::vector<TensorDict> split_keys(const TensorDict& td, c10::ArrayRef<KeySet> sets,
                                   const SplitOptions& options = {});

// The dictionary without entries; `recurse` keeps the nested dictionaries.
TensorDict empty(const TensorDict& td, bool recurse);
void remove_empty(const TensorDict& td);  // nested dictionaries in which nothing stands
TensorDict filter_non_tensor(const TensorDict& td);

// Decides whether a dictionary, or a non-tensor value, counts as a leaf.
using LeafFn = std::function<bool(Path path, EntryKind kind)>;

struct FlattenOptions {
  bool inplace = false;
  const LeafFn* is_leaf = nullptr;  // dictionaries for which it holds stay whole
};
TensorDict flatten_keys(const TensorDict& td, std::string_view separator,
                        const FlattenOptions& options = {});
TensorDict unflatten_keys(const TensorDict& td, std::string_view separator, bool inplace = false);

// The entries of several dictionaries; where several have a tensor, the first one's stays. With a
// function: what it makes of the tensors that all have; nothing leaves the entry out.
using MergeFn = std::function<Value(Path path, c10::ArrayRef<Value> tensors)>;
TensorDict merge(c10::ArrayRef<TensorDict> sources, const MergeFn* callback = nullptr);

// The keys in one of several orders.
struct KeyQuery : KeysOptions {
  bool include_non_tensor = false;  // with leaves_only: non-tensor values too
  bool contents_first = false;      // a dictionary after what lies in it
  const LeafFn* is_leaf = nullptr;  // what is a leaf is not descended into
};
KeyList list_keys(const TensorDict& td, const KeyQuery& query);
KeyList last_key(const TensorDict& td);  // Code::key_not_found when there is none

// What is known of the tree.
std::size_t depth(const TensorDict& td);
Sizes entry_sizes(const TensorDict& td, Path path);  // of a dictionary its batch size

// The longest batch size that all entries begin with, of at most `max_dims` dimensions if not negative.
void auto_batch_size(const TensorDict& td, std::int64_t max_dims, bool keep_compliant);

}  // namespace td
