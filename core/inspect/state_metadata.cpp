#include "core/inspect/state_metadata.h"

#include "core/formats/json_tree.h"
#include "core/inspect/state_dict.h"

namespace td {

using json::Tree;

namespace {

[[noreturn]] void refuse() { fail(Code::format, "the metadata of the state dict is invalid"); }

StateMetadata::State state_in(const json::Tree& json) {
  StateMetadata::State state;
  const Tree* const batch = json.find("batch_size", Tree::list);
  if (batch == nullptr) refuse();
  for (const Tree& size : batch->items) {
    // -1: a lazy stack whose elements differ.
    if (size.kind != Tree::integer || size.integral < -1) refuse();
    state.batch.push_back(size.integral);
  }
  const Tree* const device = json.find("device");
  if (device == nullptr || device->kind == Tree::null) return state;
  if (device->kind != Tree::text) refuse();
  state.device = device->characters;
  return state;
}

}  // namespace

StateMetadata::StateMetadata(const TensorDict& state) {
  if (state.kind_of(state_metadata) != EntryKind::non_tensor) return;
  const Tree json =
      json::read_tree(state.get_non_tensor(state_metadata), "the metadata of the state dict");
  if (json.kind != Tree::object) refuse();
  if (const Tree* const dicts = json.find("dicts", Tree::list)) {
    read_list(*dicts);
    return;
  }
  for (std::size_t i = 0; i < json.items.size(); ++i)
    by_name_.emplace(json.names[i], state_in(json.items[i]));
}

void StateMetadata::read_list(const Tree& dicts) {
  for (const Tree& json : dicts.items) {
    const Tree* const name = json.find("name", Tree::text);
    const Tree* const in = json.find("in", Tree::integer);
    const std::size_t number = states_.size();
    states_.push_back(state_in(json));
    if (number == 0) continue;
    if (name == nullptr || in == nullptr || in->integral < 0) refuse();
    const auto holder = static_cast<std::size_t>(in->integral);
    if (holder >= number || !below_.emplace(std::pair(holder, name->characters), number).second)
      refuse();
  }
  if (!states_.empty()) open_.back() = 0;
}

void StateMetadata::enter(std::string_view name) {
  if (!by_name_.empty()) {
    lengths_.push_back(name_.size());
    if (lengths_.size() > 1) name_ += state_separator;
    name_ += name;
  } else {
    const auto found = below_.find({open_.back(), std::string(name)});
    open_.push_back(found == below_.end() ? nowhere : found->second);
  }
}

void StateMetadata::leave() {
  if (!by_name_.empty()) {
    name_.resize(lengths_.back());
    lengths_.pop_back();
  } else {
    open_.pop_back();
  }
}

const StateMetadata::State* StateMetadata::find() const {
  if (!by_name_.empty()) {
    const auto found = by_name_.find(name_);
    return found == by_name_.end() ? nullptr : &found->second;
  }
  return open_.back() == nowhere ? nullptr : &states_[open_.back()];
}

}  // namespace td
