// core/tree/paths.h: looks up and sets entries by path, through nodes of every kind.
#pragma once

#include "core/tree/names.h"

#include <vector>

namespace td {

// The entry as it reads; nullopt if it does not exist.
std::optional<Value> look_up(const NodePtr& root, Path path);

// look_up() that throws Code::key_not_found, wrong_entry or key_invalid.
Value find_entry(const NodePtr& root, Path path);

// The stored entry if the path has only dense nodes; else nullptr.
const Value* find_stored(const NodePtr& root, Path path);

// The dictionaries that hold an entry: one, or elements of lazy stacks on the path. May repeat a shared one.
struct Holder {
  const DenseNode* dict;
  std::size_t position;  // of the entry
};
using Holders = c10::SmallVector<Holder, 4>;
Holders dicts_holding(const NodePtr& root, Path path);

EntryKind kind_of(const Value& value) noexcept;
const char* kind_word(const Value& value) noexcept;  // for messages: "tensor", "dictionary", …
[[noreturn]] void fail_kind(Path path, const Value& value, const char* wanted);

[[noreturn]] void fail_locked();
void require_unlocked(const Node& node);
void require_batch(Path path, SizesView sizes, SizesView batch);

// Converts a value to a dictionary's batch size and device; `full` is for messages.
Value fitted(const DenseNode& node, Path full, const Value& value);

// Sets an entry, in all elements of lazy stacks on the path. Creates missing dictionaries.
void plan_set(Changes& changes, const NodePtr& root, Path path, const Value& value);

// Removes an entry; for a sub-tensordict, in its parent. Throws if it does not exist or must stay.
void plan_remove(Changes& changes, const NodePtr& root, Path path);

// Whether `from` is one of `targets`, or holds one at any depth.
bool reaches(const NodePtr& from, c10::ArrayRef<const Node*> targets);

}  // namespace td
