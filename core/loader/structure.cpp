#include "core/loader/structure.h"

#include "core/tensor/dtype.h"
#include "core/tree/walk.h"

#include <algorithm>

namespace td {

std::vector<std::string> structure_of(const TensorDict& td) {
  std::vector<std::string> lines;
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    std::string line = show_path(path);
    const SizesView sizes = value.is_node() ? value.node()->batch() : value.tensor().sizes();
    line += value.is_node() ? " node "
                            : std::string(" ") + dtype_name(value.tensor().scalar_type()) + " ";
    line += show_sizes(sizes.empty() ? sizes : sizes.slice(1));
    lines.push_back(std::move(line));
  });
  return lines;
}

void Structure::require(const TensorDict& batch) {
  std::vector<std::string> lines = structure_of(batch);
  if (!known_) {
    lines_ = std::move(lines);
    known_ = true;
    return;
  }
  if (lines == lines_) return;
  const auto differ = std::mismatch(lines_.begin(), lines_.end(), lines.begin(), lines.end());
  fail(Code::shape, "the transform made ",
       differ.second == lines.end() ? "nothing more" : *differ.second,
       " where the first batch has ",
       differ.first == lines_.end() ? "nothing more" : *differ.first);
}

}  // namespace td
