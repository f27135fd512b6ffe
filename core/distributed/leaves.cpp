#include "core/distributed/leaves.h"

#include "core/tensor/writes.h"
#include "core/tree/engine.h"

namespace td::distributed {

namespace {

// Lists the tensors, with their paths joined by dots.
class Lister : public WalkSink<Take::elements> {
 public:
  void leaf(const Here& here, Tensors tensors) { leaves.push_back({text(here), *tensors[0]}); }
  void nested_tensor(const Here& here, const NestedTensorNode&, NodesHere) {
    fail(Code::unsupported, "\"", text(here),
         "\" is a nested tensor, which cannot be sent leaf by leaf; "
         "send a message");
  }

  std::vector<Leaf> leaves;

 private:
  static std::string text(const Here& here) {
    std::string joined;
    for (const std::string_view name : here.path()) {
      if (!joined.empty()) joined += '.';
      // Quoted where a name with a dot could be taken for two.
      const bool dotted = name.find('.') != std::string_view::npos;
      if (dotted) joined += '\'';
      joined += name;
      if (dotted) joined += '\'';
    }
    return joined;
  }
};

}  // namespace

std::vector<Leaf> leaves_of(const NodePtr& root, Order order) {
  WalkRules rules = all_paths();
  rules.numbered = true;
  rules.sorted = order == Order::sorted;
  Lister lister;
  walk(root, lister, rules);
  return std::move(lister.leaves);
}

void write_leaves(const NodePtr& root, Order order, const std::vector<at::Tensor>& values) {
  Writes writes(Writes::Hold::owns);
  InPlace work(root);
  const std::vector<Leaf> leaves = leaves_of(work.node(), order);
  if (leaves.size() != values.size()) {
    fail(Code::key_not_found, "the dictionary has ", leaves.size(), " leaves now, ", values.size(),
         " were received for it");
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const at::Tensor& target = leaves[i].tensor;
    if (target.sizes() != values[i].sizes() || target.scalar_type() != values[i].scalar_type()) {
      fail(Code::shape, "\"", leaves[i].path, "\" is another tensor than when the call began");
    }
    const std::string_view name = leaves[i].path;
    writes.set(Path(&name, 1), target, values[i]);
  }
  writes.run();
  work.commit();
}

}  // namespace td::distributed
