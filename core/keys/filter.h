// core/keys/filter.h: a sink that keeps some entries of a dictionary, in a copy or in place.
#pragma once

#include "core/tree/kinds.h"

#include <algorithm>

namespace td {

// The entries of a dictionary to keep: their positions in the result's order, the level of keys below each,
// and their names.
struct Picks {
  static constexpr std::uint32_t whole = static_cast<std::uint32_t>(-1);

  c10::SmallVectorImpl<std::size_t>& order;
  c10::SmallVector<std::uint32_t, 8> below = {};  // a level of keys, or `whole`
  SchemaPtr names = {};

  // Adds an entry, or what a level of keys picks below it. False if it has no entries.
  bool add(const DenseNode& source, std::size_t i, std::uint32_t level) {
    if (level != whole && !is_dict(source.value(i))) return false;
    order.push_back(i);
    below.push_back(level);
    return true;
  }
  // Copies the names from the source.
  void take_names(const DenseNode& source) {
    names = source.shared_schema();
    if (order.size() == source.size() && std::is_sorted(order.begin(), order.end())) return;
    names = c10::make_intrusive<Schema>();
    for (const std::size_t i : order) names->append(source.name(i), source.schema()->hash(i));
  }
};

// Picks the entries of each dictionary. The root has level 0.
class Picker {
 public:
  virtual ~Picker() = default;
  virtual void pick(std::uint32_t level, const DenseNode& source, Picks& picks) const = 0;
  // Whether to drop nested dictionaries that lose all of their entries.
  virtual bool drops_emptied() const noexcept { return false; }
};

// The picked entries of a tree, in a copy or in place.
NodePtr filter(const NodePtr& root, const Picker& picker, bool inplace);

}  // namespace td
