#include "core/consolidated/share.h"

#include "core/consolidated/packing.h"
#include "core/io/file_io.h"
#include "core/tensor/buffer.h"
#include "core/tensor/fast_path.h"
#include "core/tree/changes.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {

namespace {

using packing::Place;
using packing::Plan;
using packing::Twice;

// Shared memory holds a consolidated file.
struct Content {
  std::size_t data;  // start of the tensors
  std::string text;  // a copy: others can write to the memory while it is parsed
};

Content content_of(const SharedMemory& memory) {
  std::int64_t length = 0;
  const std::size_t bytes = memory.bytes();
  if (bytes >= sizeof length) {
    std::memcpy(&length, memory.data() + bytes - sizeof length, sizeof length);
  }
  if (bytes < sizeof length || length < 0 ||
      static_cast<std::uint64_t>(length) > bytes - sizeof length ||
      static_cast<std::uint64_t>(length) > packing::max_text_bytes) {
    fail(Code::format, "shared memory \"", memory.name(), "\": a description of ", length,
         " bytes in ", bytes);
  }
  const std::size_t data = bytes - sizeof length - static_cast<std::size_t>(length);
  return {data, std::string(memory.data() + data, static_cast<std::size_t>(length))};
}

// The description lists each path. Above this number (a dictionary may have many paths) it is left
// out, so that sharing costs no more than the dictionaries themselves.
constexpr std::size_t max_described_paths = std::size_t{1} << 16;

bool can_be_described(const NodePtr& root) {
  const std::size_t paths = count_paths(root);
  return paths <= max_described_paths || paths <= nodes_from_below(root).size();
}

void check_leaves(const Plan& plan) {
  for (const Place& place : plan.places()) {
    if (place.tensor.device().type() == c10::DeviceType::CPU) continue;
    fail(Code::device, "a tensor is on ", place.tensor.device().str(),
         ": only tensors on the CPU can be moved to shared memory");
  }
}

// Whether the tensor object itself can move to other memory, so that all its holders follow.
bool keeps_identity(const at::Tensor& tensor) {
  return fast::plain_cpu(tensor) && !tensor.is_view() &&
         tensor.unsafeGetTensorImpl()->allow_tensor_metadata_change();
}

void lead_to(const at::Tensor& tensor, const at::Tensor& view) noexcept {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(view.storage());
  impl->set_sizes_contiguous(view.sizes());  // the same sizes
  impl->set_storage_offset(view.storage_offset());
}

void flag(const NodePtr& root) {
  visit_nodes(root, [](Node& node) { node.set_shared(true); });
}

}  // namespace

void share_memory(const TensorDict& td) {
  const NodePtr& root = td.node();
  require_own(*root, "a sub-tensordict cannot be moved to shared memory");
  if (root->memmapped()) {
    fail(Code::invalid_argument, "the dictionary is mapped from files and shared through them");
  }
  if (root->shared() || is_shared(td)) return;
  const Plan plan(root, Twice::once);
  check_leaves(plan);
  const std::string text = can_be_described(root) ? plan.text(/*all_locked=*/true) : std::string();
  const auto length = static_cast<std::int64_t>(text.size());
  const auto memory = SharedMemory::make(plan.bytes() + text.size() + sizeof length);
  plan.copy_to(memory->data());
  std::memcpy(memory->data() + plan.bytes(), text.data(), text.size());
  std::memcpy(memory->data() + plan.bytes() + text.size(), &length, sizeof length);
  // One storage for all tensors, except those whose address a caller may hold.
  const c10::Storage common = Buffer::over(memory, plan.bytes());
  std::vector<at::Tensor> views;
  views.reserve(plan.places().size());
  for (const Place& place : plan.places()) {
    const at::Tensor& tensor = place.tensor;  // also held by the plan
    const bool held =
        keeps_identity(tensor) && (tensor.use_count() > 2 || tensor.storage().use_count() > 1);
    views.push_back(
        Buffer::view(held ? Buffer::over(memory, plan.bytes(), tensor.storage()) : common,
                     place.start, tensor.sizes(), tensor.scalar_type()));
  }
  struct Lead final : ZipVisitor {
    const Plan& plan;
    const std::vector<at::Tensor>& views;
    Changes changes;
    std::vector<std::pair<at::Tensor, at::Tensor>> led;  // and their new memory
    Lead(const Plan& plan, const std::vector<at::Tensor>& views) : plan(plan), views(views) {}
    void leaf(const Here& here, Tensors tensors) override {
      const at::Tensor& view = views[plan.place_of(*tensors[0])];
      if (keeps_identity(*tensors[0])) {
        led.emplace_back(*tensors[0], view);
      } else {
        changes.set(here.holder(), here.index(), view);
      }
    }
    void nested_tensor(const Here&, const NestedTensorNode& node, NodesHere) override {
      changes.set_tensors(
          node, packing::nested_tensor_over(node, plan.place_of(node), views, node.device()));
    }
  };
  Lead lead(plan, views);
  lead.changes.lock(root);
  visit_nodes(root, [&](const Node& node) { lead.changes.set_shared(node, true); });
  visit_zip(root, Take::elements, lead, all_entries());
  lead.changes.prepare();
  for (const auto& [tensor, view] : lead.led) {
    if (tensor.storage().unsafeGetStorageImpl() != view.storage().unsafeGetStorageImpl()) {
      lead_to(tensor, view);
    }
  }
  lead.changes.commit();
}

bool is_shared(const TensorDict& td) {
  const Node& node = *whole_of(td.node());
  if (node.device() && node.device()->type() == c10::DeviceType::CUDA) return true;
  if (node.shared()) return true;
  const c10::ArrayRef<NodePtr> elements = stacked(node);
  const auto shared = static_cast<std::size_t>(std::count_if(
      elements.begin(), elements.end(), [](const NodePtr& one) { return one->shared(); }));
  if (shared != 0 && shared != elements.size()) {
    fail(Code::invalid_argument, shared, " of ", elements.size(),
         " dictionaries of the lazy stack are in shared memory, the others are not");
  }
  return shared != 0;
}

std::string shared_name(const TensorDict& td) {
  if (!td.node()->shared()) {
    fail(Code::invalid_argument, "the dictionary is not in shared memory");
  }
  if (!can_be_described(td.node())) {
    fail(Code::unsupported, "the nested dictionaries have more than ", max_described_paths,
         " paths because some stand in several places: other processes cannot open it by a name");
  }
  const Plan plan(td.node(), Twice::once);
  if (plan.places().empty()) {
    fail(Code::unsupported, "a dictionary without tensors uses no shared memory and has no name");
  }
  const std::shared_ptr<SharedMemory> memory = Buffer::shared(plan.places()[0].tensor);
  bool whole = memory != nullptr;
  for (const Place& place : plan.places()) {
    const at::Tensor& tensor = place.tensor;
    whole = whole && Buffer::shared(tensor) == memory && tensor.is_contiguous() &&
            (place.bytes == 0 || tensor.data_ptr() == memory->data() + place.start);
  }
  if (!whole || content_of(*memory).text != plan.text(/*all_locked=*/true)) {
    fail(Code::invalid_argument,
         "only the dictionary that was shared has a name; this is a nested dictionary or a view of "
         "it");
  }
  return memory->name();
}

TensorDict open_shared(const std::string& name) {
  const std::shared_ptr<SharedMemory> memory = SharedMemory::open(name);
  const Content content = content_of(*memory);
  const packing::Parsed parsed(content.text, "shared memory \"" + name + "\"", content.data, {});
  NodePtr root = parsed.build(Buffer::over(memory, content.data), std::nullopt);
  lock(root);
  flag(root);
  return TensorDict(std::move(root));
}

}  // namespace td
