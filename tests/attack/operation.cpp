// Draws the arguments of a call.
#include "operation.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace attack {

namespace {

constexpr const char *names[] = {"a", "b", "i", "n", "c", "long name", "new", "x", ""};
constexpr std::int64_t names_len = 9;

// Numbers that not every dtype can hold.
constexpr std::int64_t large[] = {-1,
                                  200,
                                  -129,
                                  300,
                                  70000,
                                  std::int64_t{1} << 40,
                                  std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::max()};
constexpr double large_reals[] = {1e6, -1e300, 2.5};

template <class T>
std::int64_t count(const T &values) {
  return static_cast<std::int64_t>(values.size());
}

}  // namespace

Call::~Call() {
  for (td_tensordict *td : kept_) td_free(td);
  for (td_tensor *tensor : kept_tensors_) td_tensor_free(tensor);
  for (td_tensordict *td : dicts_) td_free(td);
  for (td_tensor *tensor : tensors_) td_tensor_free(tensor);
  for (td_keys *keys : key_lists_) td_keys_free(keys);
  for (const auto &row : rows_) {
    for (td_tensordict *td : row) td_free(td);
  }
}

Sizes Call::batch(const td_tensordict *td) {
  std::int64_t sizes[16];
  std::size_t dims = 0;
  if (td_batch_size(td, sizes, 16, &dims) != TD_OK) return {};
  return Sizes(sizes, sizes + dims);
}

td_tensordict *Call::target() {
  const auto i = static_cast<std::size_t>(choices.below(count(world_.dicts)));
  tell("d" + std::to_string(i));
  plan().reach(i, targets_);
  drawn_.push_back(i);
  written_.push_back(world_.dicts[i]);
  changed_.insert(i);
  return world_.dicts[i];
}

td_tensor *Call::target_tensor() {
  if (world_.tensors.empty()) {
    td_tensor *tensor = nullptr;
    (void)td_tensor_zeros(nullptr, 0, TD_DTYPE_INT64, TD_DEVICE_CPU, -1, &tensor);
    keep(tensor);
    tell("0");
    return tensor;
  }
  const auto i = static_cast<std::size_t>(choices.below(count(world_.tensors)));
  tell("t" + std::to_string(i));
  targets_.insert(static_cast<int>(i));
  written_tensors_.push_back(world_.tensors[i]);
  return world_.tensors[i];
}

bool Call::tangled() const {
  return std::any_of(targets_.begin(), targets_.end(), [&](int id) {
    return static_cast<std::size_t>(id) < plan().tensors.size() &&
           plan().tensors[static_cast<std::size_t>(id)].tangled;
  });
}

bool Call::same_tensor() const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [&](int id) { return sources_.count(id) != 0; });
}

bool Call::same_dict() const {
  std::set<std::size_t> targets, sources;
  for (const std::size_t i : drawn_)
    plan().reach_dicts(i, changed_.count(i) != 0 ? targets : sources);
  return std::any_of(targets.begin(), targets.end(),
                     [&](std::size_t i) { return sources.count(i) != 0; });
}

const td_tensordict *Call::source() {
  const auto i = static_cast<std::size_t>(choices.below(count(lent_.dicts)));
  plan().reach(i, sources_);
  drawn_.push_back(i);
  tell("d" + std::to_string(i));
  return lent_.dicts[i];
}

const td_tensordict *Call::source_beside(const td_tensordict *td) {
  const auto i = static_cast<std::size_t>(choices.below(count(lent_.dicts)));
  std::int32_t same = 0;  // through a handle of its own too
  (void)td_is_same(world_.dicts[i], td, &same);
  tell((same != 0 ? "clone(d" : "d") + std::to_string(i) + (same != 0 ? ")" : ""));
  if (same == 0) return lent_.dicts[i];
  td_tensordict *clone = nullptr;
  if (td_clone(lent_.dicts[i], TD_CLONE_SHALLOW, &clone) != TD_OK) return td;
  keep(clone);
  return clone;
}

// Half of the time the same dictionary, also through a view that keeps the batch size.
const td_tensordict *Call::source_like(const td_tensordict *td) {
  std::size_t same = 0;
  while (same + 1 < world_.dicts.size() && world_.dicts[same] != td && lent_.dicts[same] != td)
    ++same;
  const auto i =
      choices.chance(50) ? same : static_cast<std::size_t>(choices.below(count(lent_.dicts)));
  plan().reach(i, sources_);
  drawn_.push_back(i);
  const td_tensordict *from = lent_.dicts[i];
  const std::string name = "d" + std::to_string(i);
  td_tensordict *view = nullptr;
  switch (choices.below(10)) {
    case 7:
      (void)td_clone(from, TD_CLONE_SHALLOW, &view);
      if (view != nullptr) tell("clone(" + name + ")");
      break;
    case 8: {
      const Sizes size = batch(from);
      if (size.size() >= 2 && td_transpose(from, 0, 1, &view) == TD_OK)
        tell("transpose(" + name + ")");
      break;
    }
    case 9: {
      const Sizes size = batch(from);
      if (size.empty() || size[0] < 1) break;
      td_index_item item = {};
      item.kind = TD_INDEX_INT;
      td_tensordict *row = nullptr;
      if (td_index(from, &item, 1, &row) == TD_OK &&
          td_expand(row, size.data(), size.size(), &view) == TD_OK)
        tell("expand(" + name + "[0])");
      td_free(row);
      break;
    }
    default: break;
  }
  if (view != nullptr) {
    keep(view);
    return view;
  }
  std::int32_t is_same = 0;  // also through a handle of its own: an index of no items gives one
  (void)td_is_same(world_.dicts[i], td, &is_same);
  itself = itself || i == same || is_same != 0;
  tell(name);
  return from;
}

// What is likely to fit what an index picks: the same of another place of the same or another dictionary.
const td_tensordict *Call::part_of(const Items &items, const std::vector<ItemPlan> &items_plan,
                                   const Sizes &size) {
  (void)items;
  const auto i = static_cast<std::size_t>(choices.below(count(lent_.dicts)));
  const td_tensordict *from = lent_.dicts[i];
  if (choices.chance(15)) {
    tell("d" + std::to_string(i));
    return from;
  }
  std::vector<ItemPlan> moved = items_plan;
  std::size_t at = 0;
  for (ItemPlan &item : moved) {
    const std::int64_t room = at < size.size() ? size[at] : 1;
    if (item.kind == TD_INDEX_SLICE && choices.chance(60)) {
      const std::int64_t length = item.stop - item.start;
      item.start = choices.below(std::max<std::int64_t>(1, room - length + 1));
      item.stop = item.start + length;
    } else if (item.kind == TD_INDEX_INT && room > 0) {
      item.start = choices.below(room);
    } else if (item.kind == TD_INDEX_TENSOR && choices.chance(40)) {
      const TensorPlan &tensor = plan().tensors[static_cast<std::size_t>(item.tensor)];
      if (tensor.sizes.size() == 1 && tensor.dtype != TD_DTYPE_BOOL &&
          tensor.dtype != TD_DTYPE_UINT8) {
        item = ItemPlan();
        item.kind = TD_INDEX_SLICE;
        item.stop = tensor.sizes[0];
      }
    }
    if (item.kind != TD_INDEX_NONE && item.kind != TD_INDEX_BOOL) ++at;
  }
  const Items there(lent_, moved);
  td_tensordict *part = nullptr;
  if (td_index(from, there.items.data(), there.items.size(), &part) != TD_OK) {
    tell("d" + std::to_string(i));
    return from;
  }
  keep(part);
  tell("d" + std::to_string(i) + text_of(moved));
  td_tensordict *longer = nullptr;
  if (!choices.chance(10) || td_unsqueeze(part, 0, &longer) != TD_OK) return part;
  keep(longer);
  tell("with a dimension of 1 in front");
  return longer;
}

const td_tensor *Call::tensor() { return tensor_of({}); }

const td_tensor *Call::tensor_of(const Sizes &size, bool counts) {
  drew_tensor_ = true;
  std::vector<std::size_t> fit;
  for (std::size_t i = 0; i < plan().tensors.size(); ++i) {
    const TensorPlan &tensor = plan().tensors[i];
    const Sizes &own = tensor.sizes;
    if (counts && tensor.dtype != plan().arenas[static_cast<std::size_t>(tensor.arena)].dtype)
      continue;
    if (own.size() >= size.size() && std::equal(size.begin(), size.end(), own.begin()))
      fit.push_back(i);
  }
  if (fit.empty() || choices.chance(15)) {
    td_tensor *scalar = nullptr;
    const std::int64_t value = choices.below(4);
    if (choices.chance(50)) {
      (void)td_tensor_from_data(&value, sizeof value, nullptr, 0, TD_DTYPE_INT64, &scalar);
      tell(std::to_string(value));
    } else {
      const float real = static_cast<float>(value);
      (void)td_tensor_from_data(&real, sizeof real, nullptr, 0, TD_DTYPE_FLOAT32, &scalar);
      tell(std::to_string(value) + ".0");
    }
    keep(scalar);
    return scalar;
  }
  const std::size_t i = choices.of(fit);
  tell("t" + std::to_string(i));
  if (counts || !choices.chance(8)) return lent_.tensors[i];
  td_index_item one = {};
  one.kind = TD_INDEX_NONE;
  td_tensor *longer = nullptr;
  if (td_tensor_index(lent_.tensors[i], &one, 1, &longer) != TD_OK) return lent_.tensors[i];
  keep(longer);
  tell("with a dimension of 1 in front");
  return longer;
}

const td_tensor *Call::mask(const Sizes &size) {
  std::vector<std::size_t> fit, any;
  for (std::size_t i = 0; i < plan().tensors.size(); ++i) {
    const TensorPlan &own = plan().tensors[i];
    if (own.dtype != TD_DTYPE_BOOL) continue;
    any.push_back(i);
    if (own.sizes.size() <= size.size() &&
        std::equal(own.sizes.begin(), own.sizes.end(), size.begin()))
      fit.push_back(i);
  }
  const std::vector<std::size_t> &from = fit.empty() ? any : fit;
  if (!from.empty() && choices.chance(80)) {
    const std::size_t i = choices.of(from);
    tell("t" + std::to_string(i));
    return lent_.tensors[i];
  }
  std::vector<std::uint8_t> truths;
  const std::int64_t n = size.empty() ? 1 : std::max<std::int64_t>(0, size[0]);
  for (std::int64_t i = 0; i < n; ++i)
    truths.push_back(static_cast<std::uint8_t>(choices.below(2)));
  td_tensor *made = nullptr;
  (void)td_tensor_from_data(truths.data(), truths.size(), &n, size.empty() ? 0 : 1, TD_DTYPE_BOOL,
                            &made);
  keep(made);
  tell("a mask");
  return made;
}

const Items &Call::items(const Sizes &size) {
  last_items = random_items(choices, size, plan());
  tell(text_of(last_items));
  items_.emplace_back(lent_, last_items);
  return items_.back();
}

const std::vector<const char *> &Call::new_path() {
  paths_.emplace_back();
  const std::int64_t length = choices.chance(20) ? 2 : 1;
  std::string text;
  for (std::int64_t i = 0; i < length; ++i) {
    paths_.back().push_back(names[choices.below(names_len)]);
    text += (i == 0 ? "" : ".") + std::string(paths_.back().back());
  }
  tell("\"" + text + "\"");
  return paths_.back();
}

const std::vector<const char *> &Call::path(const td_tensordict *td) {
  if (choices.chance(15)) return new_path();
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.include_nested = 1;
  td_keys *keys = nullptr;
  if (td_keys_of(td, &options, &keys) != TD_OK || td_keys_len(keys) == 0) {
    td_keys_free(keys);
    return new_path();
  }
  key_lists_.push_back(keys);
  const char *const *found = nullptr;
  std::size_t length = 0;
  (void)td_keys_at(
      keys, static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(td_keys_len(keys)))),
      &found, &length);
  paths_.emplace_back();
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    texts_.emplace_back(found[i]);
    paths_.back().push_back(texts_.back().c_str());
    text += (i == 0 ? "" : ".") + texts_.back();
  }
  td_keys_free(keys);
  key_lists_.pop_back();
  tell("\"" + text + "\"");
  return paths_.back();
}

std::vector<td_key> &Call::keys(const td_tensordict *td) {
  keys_.emplace_back();
  std::vector<td_key> &keys = keys_.back();
  const std::int64_t n = choices.below(4);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto &one = path(td);
    keys.push_back({one.data(), one.size()});
  }
  return keys;
}

const std::vector<const td_tensordict *> &Call::several() {
  auto &all = several_.emplace_back();
  const std::int64_t n = 1 + choices.below(3);
  all.push_back(source());
  for (std::int64_t i = 1; i < n; ++i) all.push_back(source_like(all[0]));
  return all;
}

td_operand Call::operand(const td_tensordict *td) {
  td_operand operand;
  std::memset(&operand, 0, sizeof operand);
  const std::int64_t kind = choices.below(10);
  if (kind < 5) {
    operand.kind = TD_OPERAND_DICT;
    operand.dict = source_like(td);
  } else if (kind < 8) {
    operand.kind = TD_OPERAND_TENSOR;
    operand.tensor = tensor_of(choices.chance(50) ? batch(td) : Sizes());
  } else if (kind == 8) {
    operand.kind = TD_OPERAND_INT;
    operand.integer = number(-1, 3);
    if (choices.chance(30)) operand.integer = large[number(0, 7)];
  } else {
    operand.kind = choices.chance(30) ? TD_OPERAND_BOOL : TD_OPERAND_DOUBLE;
    operand.integer = number(0, 1);
    operand.real = 0.5 * static_cast<double>(operand.integer);
    if (choices.chance(20)) operand.real = large_reals[number(0, 2)];
  }
  return operand;
}

std::int64_t Call::dim(const Sizes &size) {
  const std::int64_t dims = count(size);
  const std::int64_t dim = choices.chance(5) ? dims + 1
                                             : choices.below(std::max<std::int64_t>(1, dims)) -
                                                   (choices.chance(25) ? dims : 0);
  tell("dim " + std::to_string(dim));
  return dim;
}

Sizes &Call::sizes(Sizes sizes) {
  tell(text_of(sizes));
  sizes.reserve(8);
  sizes_.push_back(std::move(sizes));
  return sizes_.back();
}

std::int64_t Call::number(std::int64_t first, std::int64_t last) {
  const std::int64_t number = choices.between(first, last);
  tell(std::to_string(number));
  return number;
}

bool Call::flag(const char *name) {
  const bool flag = choices.chance(50);
  if (flag) tell(name);
  return flag;
}

td_tensordict **Call::dict() {
  dicts_.push_back(nullptr);
  return &dicts_.back();
}
td_tensor **Call::out_tensor() {
  tensors_.push_back(nullptr);
  return &tensors_.back();
}
std::int32_t *Call::out_flag() {
  flags_.push_back(0);
  return &flags_.back();
}
std::size_t *Call::out_count() {
  counts_.push_back(0);
  return &counts_.back();
}
char *Call::out_text() {
  out_texts_.emplace_back(text_room, '\0');
  return &out_texts_.back()[0];
}
td_keys **Call::out_keys() {
  key_lists_.push_back(nullptr);
  return &key_lists_.back();
}
td_tensordict **Call::dicts(std::size_t room) {
  rows_.emplace_back(room, nullptr);
  return rows_.back().data();
}

std::string Call::results_left() const {
  for (const td_tensordict *td : dicts_) {
    if (td != nullptr) return "a dictionary came back";
  }
  for (const td_tensor *tensor : tensors_) {
    if (tensor != nullptr) return "a tensor came back";
  }
  for (const auto &row : rows_) {
    for (const td_tensordict *td : row) {
      if (td != nullptr) return "dictionaries came back";
    }
  }
  return "";
}

std::optional<std::size_t> Call::one_stack() const {
  if (drawn_.size() != 1 || drew_tensor_) return std::nullopt;
  return plan().dicts[drawn_[0]].kind == DictKind::lazy ? std::optional(drawn_[0]) : std::nullopt;
}

Snapshot Call::entries(std::optional<std::int64_t> dim) const {
  Snapshot all(Form::entries);
  const auto add = [&](const td_tensordict *td) {
    if (!dim) return all.add(td);
    td_tensordict *one = nullptr;
    if (element(td, *dim, 0, &one) == TD_OK) {
      all.add(one);
    } else {
      all.line("no element");
    }
    td_free(one);
  };
  for (const td_tensordict *td : written_) add(td);
  for (const td_tensordict *td : dicts_) {
    if (td != nullptr) add(td);
  }
  for (const auto &row : rows_) {
    for (const td_tensordict *td : row) {
      if (td != nullptr) add(td);
    }
  }
  return all;
}

Snapshot Call::outcome(bool with_results, Form form) const {
  Snapshot all(form);
  for (const td_tensordict *td : written_) all.add(td);
  for (const td_tensor *tensor : written_tensors_) all.add(tensor);
  if (!with_results) return all;
  for (const td_tensordict *td : dicts_) {
    if (td != nullptr) all.add(td);
  }
  for (const td_tensor *tensor : tensors_) {
    if (tensor != nullptr) all.add(tensor);
  }
  for (const auto &row : rows_) {
    for (const td_tensordict *td : row) {
      if (td != nullptr) all.add(td);
    }
  }
  for (const std::int32_t flag : flags_) all.line(std::to_string(flag));
  for (const std::size_t n : counts_) all.line(std::to_string(n));
  for (const std::string &text : out_texts_) all.line(text.c_str());
  for (td_keys *keys : key_lists_) {
    all.add(keys);
    all.line("");
  }
  return all;
}

const std::vector<Operation> &operations() {
  static const auto *const all = [] {
    auto *rows = new std::vector<Operation>;
    add_key_rows(*rows);
    add_tensor_rows(*rows);
    add_shape_rows(*rows);
    add_math_rows(*rows);
    add_kind_rows(*rows);
    add_file_rows(*rows);
    add_checked_rows(*rows);
    add_view_rows(*rows);
    return rows;
  }();
  return *all;
}

}  // namespace attack
