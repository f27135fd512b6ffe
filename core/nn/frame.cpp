#include "core/nn/frame.h"

#include "core/keys/entries.h"
#include "core/nn/mapped.h"
#include "core/tree/kinds.h"
#include "core/tree/paths.h"

#include <algorithm>

namespace td {

std::string show_keys(const KeyPaths& keys) {
  std::string text;
  for (const KeyPath& key : keys) text += (text.empty() ? "" : ", ") + show_path(key);
  return text.empty() ? "none" : text;
}

bool contains(const KeyPaths& keys, const KeyPath& key) noexcept {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool nested(const KeyPath& one, const KeyPath& other) noexcept {
  const std::size_t n = std::min(one.names().size(), other.names().size());
  return std::equal(one.names().begin(), one.names().begin() + static_cast<std::ptrdiff_t>(n),
                    other.names().begin());
}

std::mutex& Pins::mutex() {
  static auto* const mutex = new std::mutex;  // never destroyed: nothing runs at exit
  return *mutex;
}

const c10::IValue& Pins::of(const Module* module) const {
  for (const auto& [pinned, params] : pinned_) {
    if (pinned == module) return params;
  }
  fail(Code::internal, "the parameters of a module were not noted down");
}

std::optional<Value> Frame::find(const KeyPath& key) const {
  bool beside = false;
  for (auto at = written_.rbegin(); at != written_.rend(); ++at) {
    const bool same = at->key == &key || *at->key == key;
    if (same && !beside) return at->value;
    beside = beside || nested(*at->key, key);
  }
  if (beside) return look_up(whole().node(), key);
  if (level_ == nullptr || !call_.map_input) {
    if (const at::Tensor* stored = td_.stored(key)) return Value(*stored);
    return look_up(td_.node(), key);
  }
  std::optional<Value> found = look_up(td_.node(), key);
  if (found && !found->is_node()) return Value(level_->wrap(found->tensor()));
  return found;
}

bool Frame::has_all(const KeyPaths& keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](const KeyPath& key) { return has(key); });
}

at::Tensor Frame::tensor(const KeyPath& key) const {
  const std::optional<Value> found = find(key);
  if (!found) return {};
  if (found->is_node()) fail_kind(key, *found, "tensor");
  return found->tensor();
}

void Frame::put(const KeyPath& key, Value value) {
  if (!key.is_dropped()) written_.push_back({&key, std::move(value)});
}

void Frame::put_at(KeyPath key, Value value) {
  keys_.push_back(std::move(key));
  put(keys_.back(), std::move(value));
}

bool Frame::replaced(std::size_t i) const noexcept {
  for (std::size_t later = i + 1; later < written_.size(); ++later) {
    if (*written_[later].key == *written_[i].key) return true;
  }
  return false;
}

TensorDict Frame::whole() const {
  TensorDict all = td_.clone(/*recurse=*/false);
  if (!all.is_dense()) all = TensorDict(dense_form(all.node()));
  write_to(all);
  return all;
}

void Frame::keep_since(std::size_t mark, const KeyPaths& keys) {
  const auto first = written_.begin() + static_cast<std::ptrdiff_t>(mark);
  written_.erase(std::remove_if(first, written_.end(),
                                [&](const Entry& one) { return !contains(keys, *one.key); }),
                 written_.end());
}

void Frame::keep_last(std::size_t mark) {
  written_.erase(written_.begin(), written_.begin() + static_cast<std::ptrdiff_t>(mark));
}

void Frame::expand(SizesView front) {
  for (Entry& one : written_) {
    if (one.value.is_node()) continue;
    const at::Tensor& tensor = one.value.tensor();
    Sizes sizes(front.begin(), front.end());
    sizes.append(tensor.sizes().begin(), tensor.sizes().end());
    one.value = Value(tensor.expand(sizes));
  }
}

void Frame::unwrap_to(Frame& other) const {
  for (const Entry& one : written_) {
    if (one.value.is_node()) {
      fail(Code::unsupported, "the output ", show_path(*one.key),
           " is a dictionary; with a batch of parameters it must be a tensor");
    }
    other.put_at(*one.key, level_->unwrap(one.value.tensor()));
  }
}

void Frame::plan_into(const TensorDict& target, Assignments& entries) const {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    if (!replaced(i)) entries.plan(target.node(), *written_[i].key, written_[i].value);
  }
}

void Frame::write_to(const TensorDict& target) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < written_.size(); ++i) count += replaced(i) ? 0 : 1;
  if (count == 0) return;
  if (count == 1) {  // the last one
    const Entry& one = written_.back();
    TensorDict into = target;
    if (one.value.is_node()) return into.set(*one.key, TensorDict(one.value.node()));
    return into.set(*one.key, one.value.tensor());
  }
  // A sub-tensordict takes several entries at once only from a dictionary.
  const bool direct = target.node()->kind() != NodeKind::sub_tensordict;
  const TensorDict aside = direct ? target : TensorDict(target.batch_size());
  Assignments entries;
  plan_into(aside, entries);
  entries.run();
  if (!direct) update(target, aside);
}

}  // namespace td
