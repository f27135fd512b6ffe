// core/nn/frame.h: what a call of a module works on: the dictionary that was given, which stays as it is, and
// what modules have written since. Only a call that has succeeded writes into a dictionary.
#pragma once

#include "core/nn/module.h"

namespace td {

class MappedLevel;
class Assignments;

class Frame {
 public:
  Frame(const TensorDict& td, const ModuleCall& call, const MappedLevel* level = nullptr)
      : td_(td), call_(call), level_(level) {}

  const TensorDict& input() const noexcept { return td_; }
  const ModuleCall& call() const noexcept { return call_; }
  const MappedLevel* level() const noexcept { return level_; }

  // The entry as it reads now, or nothing.
  std::optional<Value> find(const KeyPath& key) const;
  bool has(const KeyPath& key) const { return find(key).has_value(); }
  bool has_all(const KeyPaths& keys) const;

  // The same, and a tensor; undefined where there is none. Throws Code::wrong_entry.
  at::Tensor tensor(const KeyPath& key) const;

  void put(const KeyPath& key, Value value);

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
  void plan_into(const TensorDict& target, Assignments& entries) const;

 private:
  struct Entry {
    KeyPath key;
    Value value;
  };

  const TensorDict& td_;
  const ModuleCall& call_;
  const MappedLevel* level_;
  std::vector<Entry> written_;  // a later one counts
};

}  // namespace td
