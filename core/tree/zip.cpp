#include "core/tree/zip.h"

#include "core/tree/nested_tensor.h"

namespace td {

Value ZipOp::data(const Here&, NodesHere nodes) const {
  for (const Node* node : nodes) {
    if (node != nullptr) return node->shallow_copy();
  }
  fail(Code::internal, "an entry that no tree has");
}

namespace detail {

namespace {

std::string show_place(Path path) {
  return path.empty() ? std::string("the dictionary") : show_path(path);
}

}  // namespace

void fail_missing(const WalkRules& rules, Path path, std::size_t tree) {
  const char* const where = tree == 0 ? "the first dictionary" : "the other dictionary";
  fail(Code::key_not_found, rules.what, " needs dictionaries of the same keys: ", show_path(path),
       " is not in ", where);
}

void refuse_nested_tensor(const WalkRules& rules, Path path, NodesHere nodes) {
  if (rules.nested_tensor) return;
  for (const Node* node : nodes) {
    if (node == nullptr || node->kind() != NodeKind::nested_tensor) continue;
    fail(Code::unsupported, rules.what, ": ", show_place(path),
         " is a nested tensor, which cannot take part; pad it or take its parts");
  }
}

const NestedTensorNode& nested_tensor_of(const Node& node) noexcept {
  return static_cast<const NestedTensorNode&>(node);
}

void fail_mixed(const WalkRules& rules, Path path) {
  fail(Code::wrong_entry, rules.what, ": ", show_place(path),
       " is not of the same kind (tensor, dictionary or value) in all dictionaries");
}

void fail_result(const WalkRules& rules, Path path, SizesView sizes, SizesView batch) {
  fail(Code::shape, rules.what, ": the result for ", show_path(path), " has shape ",
       show_sizes(sizes), ", which does not begin with the batch size ", show_sizes(batch));
}

std::vector<NodePtr> parts_beside(const WalkRules& rules, Path path, const LazyNode& lazy,
                                  const Node& other) {
  if (lazy.batch() != other.batch()) {
    fail(Code::shape, rules.what, ": ", show_place(path), " has batch size ",
         show_sizes(lazy.batch()), " in one dictionary and ", show_sizes(other.batch()),
         " in another");
  }
  std::vector<NodePtr> parts;
  for (const TensorDict& part : TensorDict(retain(other)).unbind(lazy.stack_dim()))
    parts.push_back(part.node());
  return parts;
}

}  // namespace detail
}  // namespace td
