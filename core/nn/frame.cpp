#include "core/nn/frame.h"

#include "core/keys/entries.h"
#include "core/nn/distribution.h"
#include "core/nn/mapped.h"
#include "core/tensor/assign.h"
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

bool leads_through(const KeyPath& path, const KeyPath& place) noexcept {
  return place.names().size() <= path.names().size() &&
         std::equal(place.names().begin(), place.names().end(), path.names().begin());
}

void check_input(const TensorDict& td) {
  if (!is_dict(*td.node())) fail(Code::wrong_entry, "a module wants a dictionary as its input");
}

std::mutex& Pins::mutex() {
  static auto* const mutex = new std::mutex;  // never destroyed: nothing runs at exit
  return *mutex;
}

const c10::IValue& Pins::of(const Module* module) const {
  for (std::size_t tried = 0; tried < pinned_.size(); ++tried) {
    if (next_ >= pinned_.size()) next_ = 0;
    const auto& [pinned, params] = pinned_[next_++];
    if (pinned == module) return params;
  }
  fail(Code::internal, "the parameters of a module were not noted down");
}

bool Frame::takes(SizesView sizes) const noexcept {
  if (target_ != nullptr) return begins_with(sizes, target_->batch_size());
  return call_.output == ModuleOutput::plain;
}

std::optional<Value> Frame::find(const KeyPath& key) const {
  const Path path = key;
  auto [at, beside] = written_.last(path);
  for (std::size_t n = 1; n < path.size(); ++n)
    beside = std::max(beside, written_.last(path.slice(0, n)).at);
  if (at > beside) return written_[at - 1].value;
  if (beside != 0) return look_up(whole().node(), key);
  std::optional<Value> found = find_in_input(key);
  if (found && !found->is_node() && !front_.empty())
    found = Value(with_front(found->tensor(), front_));
  return found;
}

std::optional<Value> Frame::find_in_input(const KeyPath& key) const {
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

at::Tensor Frame::wanted(const KeyPath& key) const {
  at::Tensor found = tensor(key);
  if (!found.defined()) find_entry(whole().node(), key);  // throws, naming what exists
  return found;
}

void Frame::put(const KeyPath& key, Value value) {
  if (!key.is_dropped()) written_.push(key, std::move(value));
}

void Frame::put_at(KeyPath key, Value value) {
  keys_.push_front(std::move(key));
  put(keys_.front(), std::move(value));
}

Frame::Entries Frame::settled() const {
  constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  Entries kept;
  c10::SmallVector<std::size_t, 8> places(written_.size(), nowhere);  // in `kept`
  c10::SmallVector<bool, 8> copied;  // whether `kept` holds our own copy of a dictionary
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const Written::Entry& one = written_[i];
    const Path path = *one.key;
    std::size_t holder = nowhere;
    bool replaced = false;
    for (std::size_t n = 1; n <= path.size() && !replaced; ++n) {
      const std::size_t last = written_.last(path.slice(0, n)).at;
      replaced = last > i + 1;
      if (last != 0 && n < path.size() && holder == nowhere) holder = last - 1;
    }
    if (replaced) continue;
    if (holder == nowhere) {
      places[i] = kept.size();
      kept.push_back(one);
      copied.push_back(false);
      continue;
    }
    const std::size_t place = places[holder];
    Value& into = kept[place].value;
    const Path above = *kept[place].key;
    if (!is_dict(into)) {
      fail(Code::key_exists, "no entry ", show_path(path), " can be set: ", show_path(above),
           " is a ", kind_word(into));
    }
    if (!copied[place]) into = Value(TensorDict(into.node()).clone(/*recurse=*/false).node());
    copied[place] = true;
    TensorDict copy(into.node());
    const Path rest = path.slice(above.size());
    if (one.value.is_node()) {
      copy.set(rest, TensorDict(one.value.node()));
    } else {
      copy.set(rest, one.value.tensor());
    }
  }
  return kept;
}

TensorDict Frame::whole() const {
  TensorDict all = td_.clone(/*recurse=*/false);
  if (!all.is_dense()) all = TensorDict(dense_form(all.node()));
  write_to(all);
  return all;
}

void Frame::keep_since(std::size_t mark, const KeyPaths& keys, const KeyPaths* inputs) {
  const auto was_there = [&](const KeyPath& key) {
    const auto same = [&](const Written::Entry& one) { return *one.key == key; };
    return std::any_of(written_.begin(), written_.begin() + mark, same) ||
           find_in_input(key).has_value();
  };
  written_.keep_since(mark, [&](const Written::Entry& one) {
    return contains(keys, *one.key) ||
           (inputs == nullptr ? was_there(*one.key) : contains(*inputs, *one.key));
  });
}

void Frame::keep_last(std::size_t mark) { written_.drop_before(mark); }

void Frame::expand(SizesView front) {
  front_.insert(front_.begin(), front.begin(), front.end());
  written_.for_each_value([&](Value& value) {
    if (!value.is_node()) value = Value(with_front(value.tensor(), front));
  });
}

void Frame::unwrap_to(Frame& other) const {
  for (const Written::Entry& one : written_) {
    if (one.value.is_node()) {
      fail(Code::unsupported, "the output ", show_path(*one.key),
           " is a dictionary; with a batch of parameters it must be a tensor");
    }
    other.put_at(*one.key, level_->unwrap(one.value.tensor()));
  }
}

void Frame::plan_into(const TensorDict& target, Changes& changes) const {
  for (const Written::Entry& one : settled()) plan_set(changes, target.node(), *one.key, one.value);
}

void Frame::write_to(const TensorDict& target) const {
  if (written_.empty()) return;
  if (written_.size() == 1) {
    const Written::Entry& one = written_[0];
    TensorDict into = target;
    if (one.value.is_node()) return into.set(*one.key, TensorDict(one.value.node()));
    return into.set(*one.key, one.value.tensor());
  }
  // A sub-tensordict accepts several entries atomically only as a dictionary.
  const bool direct = !is_part(*target.node());
  const TensorDict aside = direct ? target : TensorDict(target.batch_size());
  Changes changes;
  plan_into(aside, changes);
  changes.run();
  if (!direct) update(target, aside);
}

}  // namespace td
