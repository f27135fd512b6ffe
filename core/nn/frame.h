// core/nn/frame.h: what a call of a module works on: the dictionary that was given, which stays as it is, and
// what modules have written since. Only a call that has succeeded writes into a dictionary.
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

// The parameters that a call uses to its end: those of all its modules, of one moment.
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

  // Held while parameters are noted down, and while they are swapped.
  static std::mutex& mutex();

 private:
  c10::SmallVector<std::pair<const Module*, c10::IValue>, 4> pinned_;
  mutable std::size_t next_ = 0;  // modules ask in the order in which they were pinned
};

// Throws Code::wrong_entry for a non-tensor value.
void check_input(const TensorDict& td);

class Frame {
 public:
  // `target`: where the outputs go; nullptr where a dictionary is made for them.
  Frame(const TensorDict& td, const ModuleCall& call, const Pins& pins, const TensorDict* target,
        const MappedLevel* level = nullptr)
      : td_(td), call_(call), pins_(pins), target_(target), level_(level) {}
  Frame(const Frame&) = delete;  // entries point to keys_
  Frame& operator=(const Frame&) = delete;

  const TensorDict& input() const noexcept { return td_; }
  const ModuleCall& call() const noexcept { return call_; }
  const MappedLevel* level() const noexcept { return level_; }
  const Pins& pins() const noexcept { return pins_; }

  // Whether an output of these sizes can go where the outputs go without the dimensions of samples in front.
  bool takes(SizesView sizes) const noexcept;

  // The entry as it reads now, or nothing.
  std::optional<Value> find(const KeyPath& key) const;
  bool has(const KeyPath& key) const { return find(key).has_value(); }
  bool has_all(const KeyPaths& keys) const;

  // The same, and a tensor; undefined where there is none. Throws Code::wrong_entry.
  at::Tensor tensor(const KeyPath& key) const;

  // The same, but there must be one.
  at::Tensor wanted(const KeyPath& key) const;

  // The key lives as long as the frame, as those of modules do; put_at() keeps a copy.
  void put(const KeyPath& key, Value value);
  void put_at(KeyPath key, Value value);

  // The dictionary with everything that was written, over the same tensors.
  TensorDict whole() const;

  // What was written since a mark is left out, unless it is one of these keys.
  std::size_t mark() const noexcept { return written_.size(); }
  void keep_since(std::size_t mark, const KeyPaths& keys);

  // Tensors that were written so far get dimensions in front.
  void expand(SizesView front);

  // What was written before a mark is left out.
  void keep_last(std::size_t mark);

  // What was written, with the dimension of the level again, into another frame.
  void unwrap_to(Frame& other) const;

  // All that was written, into a dictionary: everything or nothing.
  void write_to(const TensorDict& target) const;
  void plan_into(const TensorDict& target, Changes& changes) const;

 private:
  using Entries = c10::SmallVector<Written::Entry, 4>;

  // What counts in the end: a later entry replaces those of its key and below, or goes into the dictionary
  // that an earlier one is. So no key leads through another, and what is planned for one entry cannot be
  // dropped by the next.
  Entries settled() const;

  const TensorDict& td_;
  const ModuleCall& call_;
  const Pins& pins_;
  const TensorDict* target_;
  const MappedLevel* level_;
  Written written_;                  // a later one counts
  std::forward_list<KeyPath> keys_;  // of put_at(); none costs nothing
};

}  // namespace td
