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

// The name of the only list of more than one position, which the library drops; and that of a mask.
bool names_of_an_index(const std::string &op, const Request &request) {
  if (op != "index") return false;
  const Json &items = request.args.at("index");
  const auto is = [&](auto test) { return std::any_of(items.begin(), items.end(), test); };
  const bool lists = items.size() > 1 && is([](const Json &item) {
                       return item.contains("index") && item["index"].size() == 1;
                     });
  return lists || (request.base.contains("members") &&
                   is([](const Json &item) { return item.contains("mask"); }));
}

// Python keeps the names there, and drops them for other dictionaries.
bool tile_of_a_lazy_stack(const std::string &op, const Request &request) {
  return op == "tile" && request.base.contains("members");
}

// Python drops a list of names of the wrong length that has a null in it; until 0.17.
bool too_many_names(const std::string &op, const Request &request) {
  if (op != "from_dict" || !request.args.at("batch").is_array()) return false;
  const Json &names = request.args.at("names");
  return names.is_array() && names.size() != request.args["batch"].size();
}

// Python repeats a tensor of size 1 to the size that another sample has beside the padded dimension.
bool other_sizes_beside_the_padded(const std::string &op, const Request &request) {
  if (op != "pad_sequence") return false;
  const auto dim = request.args.at("pad_dim").get<int64_t>();
  const Json &members = request.args.at("members");
  for (size_t leaf = 0; leaf < members[0].at("leaves").size(); ++leaf) {
    const auto shape_in = [&](const Json &member) {
      auto shape = member.at("leaves").at(leaf).at(1).get<std::vector<int64_t>>();
      const auto at = dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim;
      if (at >= 0 && at < static_cast<int64_t>(shape.size())) shape[static_cast<size_t>(at)] = 0;
      return shape;
    };
    for (const Json &member : members)
      if (shape_in(member) != shape_in(members[0])) return true;
  }
  return false;
}

const Difference kDifferences[] = {
    {"cat, one below the range of dimensions", true, cat_below_the_range},
    {"names after an index by several lists, or by a mask", false, names_of_an_index},
    {"names after tile of a lazy stack", false, tile_of_a_lazy_stack},
    {"other sizes beside the padded dimension", true, other_sizes_beside_the_padded},
    {"a wrong number of names, one of them null", true, too_many_names},
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
