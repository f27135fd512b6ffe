#include "core/inspect/state_metadata.h"

#include "core/formats/json_text.h"
#include "core/inspect/state_dict.h"

namespace td {

namespace {

[[noreturn]] void refuse() { fail(Code::format, "the metadata of the state dict is invalid"); }

StateMetadata::State state_in(const Plain& json) {
  StateMetadata::State state;
  const Plain* const batch = json.find("batch_size", Plain::list);
  if (batch == nullptr) refuse();
  for (const Plain& size : batch->items()) {
    // -1: a lazy stack whose elements differ.
    if (!size.is(Plain::integer) || size.integral() < -1) refuse();
    state.batch.push_back(size.integral());
  }
  const Plain* const device = json.find("device");
  if (device == nullptr || device->is(Plain::null)) return state;
  if (!device->is(Plain::text)) refuse();
  state.device = device->characters();
  return state;
}

}  // namespace

StateMetadata::StateMetadata(const TensorDict& state) {
  if (state.kind_of(state_metadata) != EntryKind::non_tensor) return;
  const Plain json =
      read_json(state.get_non_tensor(state_metadata), "the metadata of the state dict");
  if (!json.is(Plain::object)) refuse();
  if (const Plain* const dicts = json.find("dicts", Plain::list)) {
    read_list(*dicts);
    return;
  }
  for (std::size_t i = 0; i < json.items().size(); ++i)
    by_name_.emplace(json.name(i), state_in(json.items()[i]));
}

void StateMetadata::read_list(const Plain& dicts) {
  for (const Plain& json : dicts.items()) {
    const Plain* const name = json.find("name", Plain::text);
    const Plain* const in = json.find("in", Plain::integer);
    const std::size_t number = states_.size();
    states_.push_back(state_in(json));
    if (number == 0) continue;
    if (name == nullptr || in == nullptr || in->integral() < 0) refuse();
    const auto holder = static_cast<std::size_t>(in->integral());
    if (holder >= number ||
        !below_.emplace(std::pair(holder, std::string(name->characters())), number).second)
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
