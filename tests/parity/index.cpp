#include "index.h"

namespace parity {
namespace {

td_index_item slice(const Json &bounds) {
  td_index_item item{};
  item.kind = TD_INDEX_SLICE;
  int64_t *const numbers[] = {&item.start, &item.stop, &item.step};
  const td_index_flags flags[] = {TD_INDEX_HAS_START, TD_INDEX_HAS_STOP, TD_INDEX_HAS_STEP};
  for (size_t i = 0; i < 3; ++i) {
    if (bounds.at(i).is_null()) continue;
    *numbers[i] = bounds.at(i).get<int64_t>();
    item.flags |= flags[i];
  }
  return item;
}

// [start, stop, step]; to the library it is a tensor of positions.
Json positions(const Json &range) {
  const auto start = range.at(0).get<int64_t>(), stop = range.at(1).get<int64_t>(),
             step = range.at(2).get<int64_t>();
  Json list = Json::array();
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) list.push_back(i);
  return list;
}

}  // namespace

Index::Index(const Json &items) {
  for (const Json &json : items) items_.push_back(item(json));
}

td_index_item Index::item(const Json &json) {
  const std::string kind = json.begin().key();
  const Json &value = json.begin().value();
  td_index_item item{};
  if (kind == "slice") return slice(value);
  if (kind == "mask" || kind == "index") return over(tensor_of(value));
  if (kind == "range") return over(tensor_of(positions(value)));
  if (kind == "int") {
    item.kind = TD_INDEX_INT;
    item.start = value.get<int64_t>();
  } else if (kind == "ellipsis") {
    item.kind = TD_INDEX_ELLIPSIS;
  } else if (kind == "none") {
    item.kind = TD_INDEX_NONE;
  } else {
    throw std::invalid_argument("an index item of the kind \"" + kind + "\"");
  }
  return item;
}

td_index_item Index::over(Tensor tensor) {
  td_index_item item{};
  item.kind = TD_INDEX_TENSOR;
  item.tensor = tensor.get();
  tensors_.push_back(std::move(tensor));
  return item;
}

}  // namespace parity
