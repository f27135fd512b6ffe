#include "core/tree/show_leaf.h"

#include "core/tree/engine.h"

namespace td {

namespace {

class Search : public WalkSink<Take::whole> {
 public:
  explicit Search(const at::Tensor& wanted) : wanted_(wanted) {}

  Take meet(const Here& here, NodesHere nodes) {
    return here.is_root() && !holds_entries(*nodes[0]) ? Take::nothing : Take::whole;
  }
  void leaf(const Here& here, Tensors tensors) {
    if (tensors[0]->is_same(wanted_)) text_ = show_path(here.path());
  }
  bool done() const { return !text_.empty(); }

  std::string take() { return text_.empty() ? "a tensor of a lazy stack" : std::move(text_); }

 private:
  const at::Tensor& wanted_;
  std::string text_;
};

}  // namespace

std::string show_leaf(const Node& root, const at::Tensor& leaf) {
  Search search(leaf);
  walk(retain(root), search, all_entries());
  return search.take();
}

}  // namespace td
