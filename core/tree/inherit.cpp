#include "core/tree/inherit.h"

#include "core/tree/lock.h"
#include "core/tree/traverse.h"

namespace td {

void inherit_flags(const Node& source, const NodePtr& result, bool memmap) {
  if (memmap && (source.memmapped() || source.shared())) {
    visit_nodes(result, [&](Node& node) {
      node.set_memmapped(source.memmapped());
      node.set_shared(source.shared());
    });
  }
  if (source.locked()) lock(result);
}

}  // namespace td
