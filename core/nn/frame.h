// core/nn/frame.h: the data of one module call: the input dictionary, which stays unchanged, and the entries
// that modules have written. Only a call that succeeds writes into a dictionary.
#pragma once

#include "core/nn/module.h"
#include "core/nn/written.h"

#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>

#include <forward_list>
#include <mutex>
#include <utility>

namespace td {

class MappedLevel;
class Changes;

// The parameters that a call uses from start to end: a snapshot over all its modules.
class Pins {
 public:
  Pins() = default;
  explicit Pins(const Module& module) {
    const std::lock_guard<std::mutex> hold(mutex());
    module.pin(*this);
  }
  void add(const Module* module, c10::IValue params) {
    pinned_.emplace_back(module, std::move(params));
  }
  const c10::IValue& of(const Module* module) const;

  // Held while parameters are pinned or swapped.
  static std::mutex& mutex();

 private:
  c10::SmallVector<std::pair<const Module*, c10::IValue>, 4> pinned_;
  mutable std::size_t next_ = 0;  // modules look up their parameters in pinning order
};

// Throws Code::wrong_entry for a non-tensor value.
void check_input(const TensorDict& td);

class Frame {
 public:
  // `target`: receives the outputs; with nullptr a new dictionary does.
  Frame(const TensorDict& td, const ModuleCall& call, const Pins& pins, const TensorDict* target,
        const MappedLevel* level = nullptr)
      : td_(td), call_(call), pins_(pins), target_(target), level_(level) {}
  Frame(const Frame&) = delete;  // entries point to keys_
  Frame& operator=(const Frame&) = delete;

  const TensorDict& input() const noexcept { return td_; }
  const ModuleCall& call() const noexcept { return call_; }
  const MappedLevel* level() const noexcept { return level_; }
  const Pins& pins() const noexcept { return pins_; }

  // Whether an output of these sizes fits the target without the leading sample dimensions.
  bool takes(SizesView sizes) const noexcept;

  // The current value of an entry, or nullopt.
  std::optional<Value> find(const KeyPath& key) const;
  bool has(const KeyPath& key) const { return find(key).has_value(); }
  bool has_all(const KeyPaths& keys) const;

  // The entry as a tensor; undefined if it is missing. Throws Code::wrong_entry.
  at::Tensor tensor(const KeyPath& key) const;

  // The entry as a tensor. Throws Code::key_not_found or Code::wrong_entry.
  at::Tensor wanted(const KeyPath& key) const;

  // put() borrows the key, which must outlive the frame; put_at() keeps a copy.
  void put(const KeyPath& key, Value value);
  void put_at(KeyPath key, Value value);

  // The input with all written entries, over the same tensors.
  TensorDict whole() const;

  // Drops entries written since a mark, except those with one of these keys, or of `inputs`; without `inputs`, of an
  // entry that was there at the mark.
  std::size_t mark() const noexcept { return written_.size(); }
  void keep_since(std::size_t mark, const KeyPaths& keys, const KeyPaths* inputs = nullptr);

  // Adds leading dimensions to all tensors, those of the input as later modules find them.
  void expand(SizesView front);

  // Drops entries written before a mark.
  void keep_last(std::size_t mark);

  // Puts all written entries into another frame, with the dimension of the vmap level restored.
  void unwrap_to(Frame& other) const;

  // Writes all entries into a dictionary; all or nothing.
  void write_to(const TensorDict& target) const;
  void plan_into(const TensorDict& target, Changes& changes) const;

 private:
  using Entries = c10::SmallVector<Written::Entry, 4>;

  // The final entries. A later entry replaces earlier ones at or below its key; one below an earlier
  // dictionary is merged into a copy of it. So no key is a prefix of another, and planned changes cannot undo
  // each other.
  Entries settled() const;

  std::optional<Value> find_in_input(const KeyPath& key) const;

  const TensorDict& td_;
  const ModuleCall& call_;
  const Pins& pins_;
  const TensorDict* target_;
  const MappedLevel* level_;
  Sizes front_;                      // dimensions that were added
  Written written_;                  // the last entry of a key counts
  std::forward_list<KeyPath> keys_;  // keys of put_at()
};

}  // namespace td
