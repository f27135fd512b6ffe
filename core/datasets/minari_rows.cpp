#include "core/datasets/minari_rows.h"

#include "core/arrow/import.h"
#include "core/arrow/types.h"
#include "core/base/quote.h"
#include "core/datasets/pictures.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

OwnedKey place_of(const OwnedKey& key) {
  if (key == OwnedKey{"rewards"}) return {"next", "reward"};
  if (key == OwnedKey{"terminations"}) return {"next", "terminated"};
  if (key == OwnedKey{"truncations"}) return {"next", "truncated"};
  OwnedKey place = key;
  if (key[0] == "actions") place[0] = "action";
  return place;
}

}  // namespace

void MinariRows::add(TensorDict& to, const arrow::Wanted& wanted, bool longer) const {
  const std::int64_t rows = steps_.count == 0 ? 1 : steps_.count + (longer ? 1 : 0);
  arrow::Slice slice = table_.read(steps_.count == 0 ? 0 : steps_.from, rows);
  arrow::ImportOptions options;
  options.even_lists = true;
  const TensorDict values = [&] {
    try {
      return arrow::import_columns(slice, wanted, options);
    } catch (const Error& failure) {
      fail(failure.code(), table_.where(), ": ", failure.what());
    }
  }();
  visit_paths(*values.node(), [&](Path path, const Value& value) {
    if (is_branch(value)) return;
    OwnedKey key(path.begin(), path.end());
    if (!longer) return put(to, place_of(key), value, key, false);
    key[0] = key[0] == "infos" ? "info" : "observation";
    put(to, key, value, OwnedKey(path.begin(), path.end()), true);
  });
}

void MinariRows::put(TensorDict& to, const OwnedKey& key, const Value& value,
                     const OwnedKey& column, bool longer) const {
  const std::string where = table_.where() + ": " + show_path(views_of(column));
  if (to.kind_of(views_of(key)) != EntryKind::none)
    fail(Code::key_exists, where, " would be the second entry ", show_path(views_of(key)));
  if (value.is_node()) {
    const Plain lists = non_tensor_lists(*value.node());
    const std::vector<Plain> items(lists.items().begin(), lists.items().end());
    if (options_.decode && !items.empty() && items[0].is(Plain::object))
      return put_rows(to, key, decoded(items, where, options_.max_bytes), longer);
    return put_values(to, key, items, longer);
  }
  at::Tensor tensor = shaped(value.tensor(), column, where);
  if (key[0] == "next") {
    if (key[1] != "reward") tensor = tensor.to(at::kBool);
    if (tensor.dim() == 1) tensor = tensor.unsqueeze(1);
  }
  put_rows(to, key, tensor, longer);
}

// Each has memory of its own: a write into one does not change the other.
void MinariRows::put_rows(TensorDict& to, const OwnedKey& key, const at::Tensor& rows,
                          bool longer) const {
  to.set(views_of(key), rows.narrow(0, 0, steps_.count).clone());
  if (longer) {
    const std::int64_t from = steps_.count == 0 ? 0 : 1;
    to.set(views_of(below_next(key)), rows.narrow(0, from, steps_.count).clone());
  }
}
void MinariRows::put_values(TensorDict& to, const OwnedKey& key, const std::vector<Plain>& items,
                            bool longer) const {
  const auto set = [&](const OwnedKey& at, std::int64_t from) {
    const auto begin = items.begin() + from;
    if (steps_.count == 0) return to.set_non_tensor(views_of(at), Plain::of_text(""));
    set_values(to, views_of(at), Plain::of_list({begin, begin + steps_.count}));
  };
  set(key, 0);
  if (longer) set(below_next(key), 1);
}

// Values are flat in a table; their space, or the metadata of the column, has their shape.
at::Tensor MinariRows::shaped(const at::Tensor& values, const OwnedKey& column,
                              const std::string& where) const {
  std::optional<Sizes> row;
  if (column[0] == "infos") {
    row = marked_shape(column, where);
  } else if (column[0] == "observations" || column[0] == "actions") {
    Space space = column[0] == "actions" ? meta_.action_space() : meta_.observation_space();
    for (std::size_t i = 1; i < column.size(); ++i) space = space.below(column[i]);
    row = space.shape();
  }
  if (!row) return values;
  Sizes sizes{values.size(0)};
  std::int64_t elements = values.size(0);
  for (const std::int64_t size : *row) {
    sizes.push_back(size);
    if (__builtin_mul_overflow(elements, size, &elements)) elements = -1;
  }
  if (elements != values.numel()) {
    fail(Code::format, where, " has values of sizes ", show_sizes(values.sizes()),
         ", and should have ", show_sizes(sizes));
  }
  return values.reshape(sizes);
}

std::optional<Sizes> MinariRows::marked_shape(const OwnedKey& column,
                                              const std::string& where) const {
  const arrow::Schema* schema = &table_.schema();
  for (const std::string& name : column) {
    const arrow::Schema* found = nullptr;
    for (std::int64_t i = 0; i < schema->n_children && found == nullptr; ++i) {
      const arrow::Schema* child = schema->children[i];
      if (child->name != nullptr && name == child->name) found = child;
    }
    if (found == nullptr) return std::nullopt;
    schema = found;
  }
  const auto text = arrow::metadata_value(schema->metadata, "shape", arrow::Place());
  if (!text) return std::nullopt;
  Sizes sizes;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find(',', at), text->size());
    const std::int64_t size = number_of(text->substr(at, end - at));
    if (size < 0) fail(Code::format, where, " says that its shape is ", quote(*text));
    sizes.push_back(size);
    at = end + 1;
  }
  return sizes;
}

}  // namespace td::datasets
