#include "core/tree/key_tree.h"
#include "core/tensor/sizes.h"

#include <algorithm>

namespace td {

KeyTree::KeyTree(c10::ArrayRef<Path> paths) {
  const auto add_level = [&](std::uint32_t above, std::size_t position) {
    levels_.push_back({c10::make_intrusive<Schema>(), {}, above, position});
    return static_cast<std::uint32_t>(levels_.size() - 1);
  };
  add_level(0, 0);
  for (const Path path : paths) {
    check_path(path);
    std::uint32_t level = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
      Schema& names = *levels_[level].names;
      const std::uint64_t hash = hash_name(path[i]);
      std::size_t at = names.find(path[i], hash);
      if (at == Schema::npos) {
        at = names.size();
        names.append(path[i], hash);
        levels_[level].entries.push_back({});
      }
      if (i + 1 == path.size()) {
        levels_[level].entries[at].whole = true;
        break;
      }
      std::uint32_t deeper = levels_[level].entries[at].deeper;
      if (deeper == 0) {
        deeper = add_level(level, at);
        levels_[level].entries[at].deeper = deeper;
      }
      level = deeper;
    }
  }
}

PathBuffer KeyTree::path(std::uint32_t level, std::size_t position) const {
  PathBuffer names;
  for (names.push_back(levels_[level].names->name(position)); level != 0;) {
    position = levels_[level].position;
    level = levels_[level].above;
    names.push_back(levels_[level].names->name(position));
  }
  std::reverse(names.begin(), names.end());
  return names;
}

}  // namespace td
