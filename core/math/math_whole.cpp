// Reductions to a bool over all elements, and fills of all elements.
#include "core/math/math.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/scalar.h"
#include "core/tensor/writes.h"
#include "core/tree/along.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {

namespace {

// Whether the elements form one block of memory that can be read as bytes.
bool plain_bytes(const at::Tensor& tensor, bool fast) {
  return fast && fast::plain_cpu(tensor) && tensor.is_non_overlapping_and_dense();
}

// Whether any element is nonzero (`wanted`), or any is zero.
bool holds(const at::Tensor& tensor, bool wanted, bool fast) {
  if (tensor.numel() == 0) return false;
  if (tensor.scalar_type() == at::kBool && plain_bytes(tensor, fast)) {
    const char* bytes = static_cast<const char*>(tensor.data_ptr());
    const std::size_t n = tensor.nbytes();
    if (!wanted) return std::memchr(bytes, 0, n) != nullptr;
    return bytes[0] != 0 ||
           std::memcmp(bytes, bytes + 1, n - 1) != 0;  // compares all bytes with the first one
  }
  return wanted ? at::any(tensor).item().toBool() : !at::all(tensor).item().toBool();
}

bool any_leaf_holds(const TensorDict& td, bool wanted) {
  if (!is_dict(*td.node())) fail(Code::unsupported, "a non-tensor value has no elements");
  const bool fast = fast::can_skip_dispatcher();
  bool found = false;
  visit_values(*td.node(), [&](const Value& value) {
    const at::Tensor* leaf = elements_of(value);
    if (!found && leaf != nullptr) found = holds(*leaf, wanted, fast);
  });
  return found;
}

// Adds all tensors, including the values of nested tensors.
void add_all(const Node& node, Writes& writes) {
  class Add final : public ZipVisitor {
   public:
    explicit Add(Writes& writes) : writes_(writes) {}
    void leaf(const Here& here, Tensors tensors) override {
      writes_.fill(here.path(), *tensors[0]);
    }
    void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere) override {
      writes_.fill(here.path(), node.values());
    }

   private:
    Writes& writes_;
  } add(writes);
  WalkRules policy;
  policy.nested_tensor = true;
  visit_zip(retain(node), Take::elements, add, policy);
}

// Zeroes tensors by memset; returns false, without a change, unless all are blocks of memory.
bool zero_bytes(const Node& node) {
  if (!fast::can_skip_dispatcher()) return false;
  bool plain = true;
  c10::SmallVector<const at::Tensor*, 32> tensors;
  visit_values(node, [&](const Value& value) {
    const at::Tensor* elements = elements_of(value);
    if (elements == nullptr) return;
    plain = plain && plain_bytes(*elements, /*fast=*/true);
    tensors.push_back(elements);
  });
  if (!plain) return false;
  for (const at::Tensor* tensor : tensors) {
    if (tensor->numel() != 0) std::memset(tensor->data_ptr(), 0, tensor->nbytes());
    fast::bump_version(*tensor);
  }
  return true;
}

// Adds the tensors below a path, including elements of lazy stacks.
void gather(const NodePtr& root, Path path, Writes& writes) {
  walk_along(root, path, [&](const NodePtr& node, Path rest) {
    if (rest.empty()) {
      add_all(*node, writes);
      return NodePtr();
    }
    const Value value = find_entry(node, rest.slice(0, 1));
    if (!value.is_node()) writes.fill(rest.slice(0, 1), value.tensor());
    return value.node();
  });
}

}  // namespace

bool all(const TensorDict& td) { return !any_leaf_holds(td, /*wanted=*/false); }
bool any(const TensorDict& td) { return any_leaf_holds(td, /*wanted=*/true); }

void zero_(const TensorDict& td) {
  InPlace target(td.node());
  if (!zero_bytes(*target.node())) {
    Writes writes(Writes::Hold::owns);
    add_all(*target.node(), writes);
    writes.run([](Writes::Write& write) { write.target->zero_(); });
  }
  target.commit();
}

void fill_(const TensorDict& td, Path path, const c10::Scalar& value) {
  InPlace target(td.node());
  const Value found = find_entry(target.node(), path);
  if (kind_of(found) == EntryKind::non_tensor) fail_kind(path, found, "tensor");
  Writes writes(Writes::Hold::owns);
  gather(target.node(), path, writes);
  for (const Writes::Write& write : writes.all())
    require_fits(value, write.target->scalar_type(), "fill");
  writes.run([&](Writes::Write& write) { write.target->fill_(value); });
  target.commit();
}

}  // namespace td
