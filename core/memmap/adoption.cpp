#include "core/memmap/adoption.h"

#include "core/tree/engine.h"
#include "core/tree/nested_tensor.h"

namespace td {

namespace {

class Adoption : public WalkSink<Take::elements> {
 public:
  explicit Adoption(Changes& changes) : changes_(changes) {}

  void enter(const Here&, Dicts dicts) { mark(*dicts[0], *dicts[1]); }
  void enter_lazy(const Here&, const LazyNode& lazy, NodesHere nodes) { mark(lazy, *nodes[1]); }
  void leaf(const Here& here, Tensors tensors) {
    changes_.set(here.holder(), here.index(), *tensors[1]);
  }
  void value(const Here&, NodesHere nodes) { mark(*nodes[0], *nodes[1]); }
  void nested_tensor(const Here&, const NestedTensorNode& to, NodesHere nodes) {
    mark(to, *nodes[1]);
    changes_.set_tensors(to, *nodes[1]);
  }

 private:
  void mark(const Node& to, const Node& from) {
    changes_.set_device(to, from.device());
    changes_.set_memmapped(to, true);
    if (!from.saved_path().empty()) changes_.set_saved_path(to, from.saved_path());
  }

  Changes& changes_;
};

}  // namespace

void plan_adoption(Changes& changes, const NodePtr& node, const NodePtr& result) {
  changes.lock(node);
  Adoption adoption(changes);
  walk_pair(node, result, adoption, all_entries());
}

}  // namespace td
