#include "core/nn/frame.h"

#include "core/keys/entries.h"
#include "core/nn/distribution.h"
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

bool leads_through(const KeyPath& path, const KeyPath& place) noexcept {
  return place.names().size() <= path.names().size() &&
         std::equal(place.names().begin(), place.names().end(), path.names().begin());
}

bool nested(const KeyPath& one, const KeyPath& other) noexcept {
  return leads_through(one, other) || leads_through(other, one);
}

void check_input(const TensorDict& td) {
  if (!is_dict(*td.node())) fail(Code::wrong_entry, "a module wants a dictionary as its input");
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

at::Tensor Frame::wanted(const KeyPath& key) const {
  at::Tensor found = tensor(key);
  if (!found.defined()) find_entry(whole().node(), key);  // says what there is instead
  return found;
}

void Frame::put(const KeyPath& key, Value value) {
  if (!key.is_dropped()) written_.push_back({&key, std::move(value)});
}

void Frame::put_at(KeyPath key, Value value) {
  keys_.push_front(std::move(key));
  put(keys_.front(), std::move(value));
}

Frame::Entries Frame::settled() const {
  Entries kept;
  for (const Entry& one : written_) {
    kept.erase(
        std::remove_if(kept.begin(), kept.end(),
                       [&](const Entry& before) { return leads_through(*before.key, *one.key); }),
        kept.end());
    const auto holder = std::find_if(kept.begin(), kept.end(), [&](const Entry& before) {
      return leads_through(*one.key, *before.key);
    });
    if (holder == kept.end()) {
      kept.push_back(one);
      continue;
    }
    if (!is_dict(holder->value)) {
      fail(Code::key_exists, "no entry ", show_path(*one.key),
           " can be set: ", show_path(*holder->key), " is a ", kind_word(holder->value));
    }
    TensorDict copy = TensorDict(holder->value.node()).clone(/*recurse=*/false);
    const Path rest = Path(*one.key).slice(holder->key->names().size());
    if (one.value.is_node()) {
      copy.set(rest, TensorDict(one.value.node()));
    } else {
      copy.set(rest, one.value.tensor());
    }
    holder->value = Value(copy.node());
  }
  return kept;
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
    one.value = Value(with_front(one.value.tensor(), front));
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

void Frame::plan_into(const TensorDict& target, Changes& changes) const {
  for (const Entry& one : settled()) plan_set(changes, target.node(), *one.key, one.value);
}

void Frame::write_to(const TensorDict& target) const {
  if (written_.empty()) return;
  if (written_.size() == 1) {
    const Entry& one = written_[0];
    TensorDict into = target;
    if (one.value.is_node()) return into.set(*one.key, TensorDict(one.value.node()));
    return into.set(*one.key, one.value.tensor());
  }
  // A sub-tensordict takes several entries at once only from a dictionary.
  const bool direct = !is_part(*target.node());
  const TensorDict aside = direct ? target : TensorDict(target.batch_size());
  Changes changes;
  plan_into(aside, changes);
  changes.run();
  if (!direct) update(target, aside);
}

}  // namespace td
