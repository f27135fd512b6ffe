// core/tree/paths.h: where a path leads, through nodes of every kind, and what is put there.
#pragma once

#include "core/tree/names.h"

#include <vector>

namespace td {

// The entry as it reads, or nothing where the path leads nowhere.
std::optional<Value> look_up(const NodePtr& root, Path path);

// As look_up(); throws Code::key_not_found, wrong_entry or key_invalid where there is none.
Value find_entry(const NodePtr& root, Path path);

// The stored entry itself, when only dense nodes stand on the way; else nullptr.
const Value* find_stored(const NodePtr& root, Path path) noexcept;

// The dictionaries that hold an entry: one, or the elements of lazy stacks on the way. One that stands there
// in several places may come several times.
using Holders = c10::SmallVector<const DenseNode*, 4>;
Holders dicts_holding(const NodePtr& root, Path path);

EntryKind kind_of(const Value& value) noexcept;
const char* kind_word(const Value& value) noexcept;  // for messages: "tensor", "dictionary", …
[[noreturn]] void fail_kind(Path path, const Value& value, const char* wanted);

[[noreturn]] void fail_locked();
void require_unlocked(const Node& node);
void require_batch(Path path, SizesView sizes, SizesView batch);

// A value as a dictionary takes it: of its batch size and on its device; `full` for messages.
Value fitted(const DenseNode& node, Path full, const Value& value);

// An entry under a path, in all elements of lazy stacks on the way. Missing dictionaries on the way are made.
void plan_set(Changes& changes, const NodePtr& root, Path path, const Value& value);

// An entry is removed, in the parent of a sub-tensordict. Throws where there is none, or it must stay.
void plan_remove(Changes& changes, const NodePtr& root, Path path);

// Whether `from` is one of `targets` or holds one, at any depth.
bool reaches(const NodePtr& from, c10::ArrayRef<const Node*> targets);

}  // namespace td
