#include "differences.h"

#include <algorithm>

namespace parity {
namespace {

// One step below the range Python takes the last dimension of each leaf, whatever that is.
bool cat_below_the_range(const std::string &op, const Request &request) {
  if (op != "cat") return false;
  const auto dims = static_cast<int64_t>(request.base.at("batch").size());
  return dims > 0 && request.args.at("dim").get<int64_t>() == -dims - 1;
}

// Python takes a mask for one dimension when it works out what the ellipsis stands for.
bool ellipsis_beside_a_wide_mask(const std::string &op, const Request &request) {
  if (op != "index" && op != "setitem") return false;
  const Json &items = request.args.at("index");
  const auto holds = [&](auto test) { return std::any_of(items.begin(), items.end(), test); };
  return holds([](const Json &item) { return item.contains("ellipsis"); }) &&
         holds([](const Json &item) {
           const Json &mask = item.value("mask", Json::array());
           return mask.is_array() && !mask.empty() && mask[0].is_array();
         });
}

const Difference kDifferences[] = {
    {"cat, one below the range of dimensions", true, cat_below_the_range},
    {"an ellipsis beside a mask over several dimensions", false, ellipsis_beside_a_wide_mask},
};

}  // namespace

const Difference *find_difference(const std::string &op, const Request &request) {
  for (const Difference &difference : kDifferences) {
    if (difference.applies(op, request)) return &difference;
  }
  return nullptr;
}

}  // namespace parity
