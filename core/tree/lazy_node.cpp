// Lazy stacks as nodes. lazy_read.cpp reads their entries; operations on them are in lazy.cpp, lazy_index.cpp
// and lazy_view.cpp.
#include "core/tree/lazy_node.h"

#include "core/base/recursion_guard.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/batch_op.h"
#include "core/tree/kinds.h"
#include "core/tree/lazy_elements.h"
#include "core/tree/names.h"
#include "core/tree/tensorclass.h"

#include <algorithm>

namespace td {

namespace {

// The elements' dimension names, without one for the stack's dimension.
Names common_names(const std::vector<NodePtr>& elements, std::int64_t dim, bool must_agree) {
  const Names* common = nullptr;
  for (const NodePtr& element : elements) {
    const Names& own = element->names();
    if (own.empty()) continue;
    if (common != nullptr && own != *common) {
      if (!must_agree) return {};
      fail(Code::invalid_argument, "lazy_stack needs dictionaries with the same dimension names: ",
           show_names(*common, common->size()), " and ", show_names(own, own.size()));
    }
    common = &own;
  }
  if (common == nullptr) return {};
  Names names = *common;
  names.insert(names.begin() + dim, std::nullopt);
  return names;
}

}  // namespace

c10::intrusive_ptr<LazyNode> make_lazy(std::vector<NodePtr> elements, std::int64_t dim,
                                       bool same_device) {
  if (elements.empty()) fail(Code::invalid_argument, "a lazy stack needs at least one dictionary");
  const Node& first = *elements[0];
  const auto dims = static_cast<std::int64_t>(first.batch().size());
  if (dim < -dims - 1 || dim > dims) {
    fail(Code::index, "lazy_stack: dimension ", dim, " is out of range for batch size ",
         show_sizes(first.batch()));
  }
  if (dim < 0) dim += dims + 1;
  // Bounds recursion: no tensor has more dimensions.
  require_dims(static_cast<std::size_t>(dims) + 1);
  Sizes batch(first.batch().begin(), first.batch().end());
  std::optional<c10::Device> device = first.device();
  const bool data = is_opaque(first);
  for (const NodePtr& element : elements) {
    if (element->kind() == NodeKind::sub_tensordict) {
      fail(Code::unsupported, "a sub-tensordict cannot be stacked: clone it first");
    }
    if (element->kind() == NodeKind::nested_tensor) {
      fail(Code::unsupported, "nested tensors cannot be stacked: read them one by one");
    }
    if (is_opaque(*element) != data) {
      fail(Code::wrong_entry, "a lazy stack holds dictionaries or values, not both");
    }
    if (element->batch().size() != batch.size()) {
      fail(Code::shape, "lazy_stack needs batch sizes of the same number of dimensions: found ",
           show_sizes(first.batch()), " and ", show_sizes(element->batch()));
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (element->batch()[i] != batch[i]) batch[i] = -1;
    }
    if (element->device() == device) continue;
    if (same_device && !data) {
      fail(Code::device, "lazy_stack needs dictionaries on one device: found ",
           device ? device->str() : "none", " and ",
           element->device() ? element->device()->str() : "none");
    }
    device = std::nullopt;
  }
  const Names names = common_names(elements, dim, /*must_agree=*/same_device);
  batch.insert(batch.begin() + dim, static_cast<std::int64_t>(elements.size()));
  TensorclassTypePtr tensorclass = elements.front()->tensorclass();
  for (const NodePtr& element : elements) {
    if (element->tensorclass() != tensorclass)
      tensorclass = common_tensorclass(tensorclass, element->tensorclass());
  }
  auto result = c10::make_intrusive<LazyNode>(std::move(elements), dim, batch, device, data);
  result->set_names(names);
  result->set_tensorclass(std::move(tensorclass));
  return result;
}

LazyNode::~LazyNode() { free_below(*this); }

void LazyNode::release_resources() {
  free_below(*this);
  forget_holders();
}

NodePtr LazyNode::take_node() noexcept {
  while (!elements_.empty()) {
    NodePtr last = std::move(elements_.back());
    elements_.pop_back();
    if (last.defined()) return last;
  }
  return {};
}

void LazyNode::collect(HeldNodes& into) const {
  for (const NodePtr& element : elements_) into.push_back(element.get());
}

Sizes LazyNode::batch_of(const std::vector<NodePtr>& elements) const {
  Sizes sizes(batch().begin(), batch().end());
  sizes[static_cast<std::size_t>(stack_dim_)] = static_cast<std::int64_t>(elements.size());
  for (std::size_t i = 0, k = 0; !elements.empty() && i < sizes.size(); ++i) {
    if (static_cast<std::int64_t>(i) == stack_dim_) continue;
    sizes[i] = elements[0]->batch()[k];
    for (const NodePtr& element : elements) {
      if (element->batch()[k] != sizes[i]) sizes[i] = -1;
    }
    ++k;
  }
  return sizes;
}

void LazyNode::set_elements(std::vector<NodePtr> elements) {
  set_batch(batch_of(elements));
  elements_ = std::move(elements);
}

void require_elements(const LazyNode& lazy) {
  const auto stack = static_cast<std::size_t>(lazy.stack_dim());
  const SizesView batch = lazy.batch();
  for (std::size_t k = 0; k < lazy.elements().size(); ++k) {
    const SizesView own = lazy.elements()[k]->batch();
    bool fits = own.size() + 1 == batch.size();
    for (std::size_t i = 0; fits && i < own.size(); ++i) {
      const std::int64_t size = batch[i < stack ? i : i + 1];
      fits = size < 0 || size == own[i];
    }
    if (fits) continue;
    fail(Code::shape, "batch dimension mismatch: element ", k, " of a lazy stack of batch size ",
         show_sizes(batch), " now has batch size ", show_sizes(own));
  }
}

NodePtr LazyNode::transform(const BatchOp& op) const {
  const RecursionGuard guard;
  require_elements(*this);
  return op.lazy(*this);
}

NodePtr LazyNode::shallow_copy() const { return with_elements(elements_); }

c10::intrusive_ptr<LazyNode> LazyNode::with_elements(std::vector<NodePtr> elements) const {
  auto made = c10::make_intrusive<LazyNode>(std::move(elements), stack_dim_, batch(), device(),
                                            holds_non_tensor());
  copy_tags(*this, *made);
  return made;
}

bool LazyNode::locked_by_others() const noexcept {
  try {
    return holds_for_all(*this, [](const Node& element) { return is_locked(element); });
  } catch (const std::bad_alloc&) {
    return true;  // treat what cannot be inspected as locked
  }
}

c10::intrusive_ptr<LazyNode> lazy_stack(std::vector<NodePtr> elements, std::int64_t dim) {
  return make_lazy(std::move(elements), dim, /*same_device=*/true);
}

}  // namespace td
