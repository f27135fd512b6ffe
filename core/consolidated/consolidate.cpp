#include "core/consolidated/consolidate.h"

#include "core/consolidated/packing.h"
#include "core/io/folder.h"
#include "core/io/mapped_file.h"
#include "core/io/new_file.h"
#include "core/tensor/buffer.h"
#include "core/tensor/device.h"
#include "core/tensor/foreign.h"
#include "core/tree/batch_op.h"
#include "core/tree/changes.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {

namespace {

using packing::Place;
using packing::Plan;
using packing::Twice;

// Replaces each leaf by its view of the buffer.
class ViewsOp final : public BatchOp {
 public:
  ViewsOp(std::optional<c10::Device> device, const Plan& plan, const std::vector<at::Tensor>& views)
      : device_(device), plan_(plan), views_(views) {}
  Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
  bool keeps_batch() const override { return true; }
  at::Tensor leaf(const at::Tensor& before) const override {
    return views_[plan_.place_of(before)];
  }
  std::optional<c10::Device> device(const std::optional<c10::Device>& before) const override {
    return device_ ? device_ : before;
  }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return NodePtr(
        packing::nested_tensor_over(node, plan_.place_of(node), views_, device(node.device())));
  }

 private:
  std::optional<c10::Device> device_;
  const Plan& plan_;
  const std::vector<at::Tensor>& views_;
};

c10::Device cpu() { return c10::Device(c10::DeviceType::CPU); }

std::vector<at::Tensor> views_of(const Plan& plan, const c10::Storage& buffer) {
  std::vector<at::Tensor> views;
  views.reserve(plan.places().size());
  for (const Place& place : plan.places()) {
    views.push_back(
        Buffer::view(buffer, place.start, place.tensor.sizes(), place.tensor.scalar_type()));
  }
  return views;
}

void fill(const Plan& plan, const c10::Storage& buffer, const std::vector<at::Tensor>& views,
          int threads) {
  const c10::NoGradGuard no_grad;
  if (buffer.device() == cpu()) {
    plan.copy_to(static_cast<char*>(buffer.data_ptr().get()), threads);
    return;
  }
  for (std::size_t i = 0; i < views.size(); ++i) views[i].copy_(plan.places()[i].tensor);
}

// Puts the views into the dictionary itself and its nested ones, and locks it.
void adopt(const NodePtr& root, const Plan& plan, const std::vector<at::Tensor>& views,
           std::optional<c10::Device> device) {
  struct Adopt final : ZipVisitor {
    Changes changes;
    const Plan& plan;
    const std::vector<at::Tensor>& views;
    std::optional<c10::Device> device;
    Adopt(const Plan& plan, const std::vector<at::Tensor>& views, std::optional<c10::Device> device)
        : plan(plan), views(views), device(device) {}
    void leaf(const Here& here, Tensors tensors) override {
      changes.set(here.holder(), here.index(), views[plan.place_of(*tensors[0])]);
    }
    void nested_tensor(const Here&, const NestedTensorNode& node, NodesHere) override {
      changes.set_tensors(node,
                          packing::nested_tensor_over(node, plan.place_of(node), views, device));
    }
  } adopt(plan, views, device);
  adopt.changes.lock(root);
  if (device) visit_nodes(root, [&](const Node& node) { adopt.changes.set_device(node, device); });
  visit_zip(root, Take::elements, adopt, all_entries());
  adopt.changes.run();
}

// The storage that holds all tensors as planned, and the offset of the first: a nested dictionary
// is part of a buffer. Undefined if they lie elsewhere.
struct Lying {
  c10::Storage buffer;
  std::int64_t start = 0;
};
Lying buffer_of(const Plan& plan) {
  const void* buffer = nullptr;
  const char* base = nullptr;
  for (const Place& place : plan.places()) {
    const void* holder = Buffer::of(place.tensor);
    if (holder == nullptr || (buffer != nullptr && holder != buffer)) return {};
    buffer = holder;
    if (place.bytes == 0) continue;
    if (!place.tensor.is_contiguous()) return {};
    const char* begin = static_cast<const char*>(place.tensor.data_ptr()) - place.start;
    if (base != nullptr && begin != base) return {};
    base = begin;
  }
  if (plan.places().empty()) return {};
  Lying result{plan.places()[0].tensor.storage()};
  if (base != nullptr) {
    result.start = base - static_cast<const char*>(result.buffer.data_ptr().get());
  }
  return result;
}

at::Tensor bytes_in(const c10::Storage& buffer) {
  return Buffer::view(buffer, 0, {static_cast<std::int64_t>(buffer.nbytes())}, at::kByte);
}

void check_threads(const ConsolidateOptions& options) {
  if (options.num_threads >= 0) return;
  fail(Code::invalid_argument, "a number of threads cannot be ", options.num_threads);
}

}  // namespace

bool is_consolidated(const TensorDict& td) {
  if (!is_locked(*td.node()) || is_part(*td.node())) return false;
  try {
    const Plan plan(td.node(), Twice::once);
    return plan.places().empty() || buffer_of(plan).buffer;
  } catch (const Error&) {
    return false;  // what cannot be packed was not packed
  }
}

std::optional<TensorDict> move_consolidated(const TensorDict& td, c10::Device device,
                                            bool non_blocking) {
  if (!is_locked(*td.node()) || is_part(*td.node()) || device.type() == c10::DeviceType::Meta) {
    return std::nullopt;
  }
  const at::Tensor* leaf = any_leaf(td.node());  // look first, so that no plan is made for nothing
  if (leaf == nullptr || Buffer::of(*leaf) == nullptr || leaf->device() == device) {
    return std::nullopt;
  }
  const Plan plan(td.node(), Twice::once);
  const Lying from = buffer_of(plan);
  if (!from.buffer) return std::nullopt;
  const c10::Storage to = Buffer::make(plan.bytes(), device);
  const c10::NoGradGuard no_grad;
  const auto count = static_cast<std::int64_t>(plan.bytes());
  bytes_in(to).copy_(bytes_in(from.buffer).narrow(0, from.start, count), non_blocking);
  const std::vector<at::Tensor> views = views_of(plan, to);
  NodePtr result = map(td.node(), ViewsOp(std::optional<c10::Device>(device), plan, views));
  lock(result);
  return TensorDict(std::move(result));
}

TensorDict consolidate(const TensorDict& td, const ConsolidateOptions& options) {
  check_threads(options);
  std::optional<c10::Device> device = options.device;
  if (device) device = resolve_device(*device);
  if (device && device->type() == c10::DeviceType::Meta) {
    fail(Code::device, "a dictionary cannot be consolidated on meta, which has no values");
  }
  if (options.pinned && !device_available(c10::DeviceType::CUDA)) {
    fail(Code::device, "pinned memory needs an accelerator; none found");
  }
  if (options.inplace) require_own(*td.node(), "a sub-tensordict cannot be consolidated in place");
  const bool stays = !device || td.device() == device;
  if (stays && !options.pinned && is_consolidated(td)) return td;
  const Plan plan(td.node(), Twice::once);
  const c10::Device where = device ? *device : td.device() ? *td.device() : cpu();
  if (options.pinned && where != cpu()) {
    fail(Code::device, "only memory of the CPU can be pinned, not that of ", where.str());
  }
  const c10::Storage buffer = Buffer::make(plan.bytes(), where, options.pinned);
  const std::vector<at::Tensor> views = views_of(plan, buffer);
  fill(plan, buffer, views, options.num_threads);
  if (options.inplace) {
    adopt(td.node(), plan, views, device);
    return td;
  }
  NodePtr result = map(plan.root(), ViewsOp(device, plan, views));
  lock(result);
  return TensorDict(std::move(result));
}

namespace {

// The dictionary over a mapped file.
TensorDict build_consolidated(const std::shared_ptr<MappedFile>& file, const std::string& where,
                              const OpenOptions& options) {
  std::int64_t length = 0;
  if (file->bytes() < sizeof length) {
    fail(Code::format, where, " is too short: ", file->bytes(), " bytes");
  }
  const std::size_t bytes = file->bytes() - sizeof length;
  std::memcpy(&length, file->data() + bytes, sizeof length);
  if (length < 0 || static_cast<std::uint64_t>(length) > bytes ||
      static_cast<std::uint64_t>(length) > packing::max_text_bytes) {
    fail(Code::format, where, ": a description of ", length, " bytes in a file of ", file->bytes());
  }
  const std::size_t data = bytes - static_cast<std::size_t>(length);
  const packing::Parsed parsed(
      std::string_view(file->data() + data, static_cast<std::size_t>(length)), where, data,
      {options.max_depth, options.max_entries});
  const c10::Storage buffer = Buffer::over(file->data(), data, file);
  return TensorDict(parsed.build(buffer, options.device));
}

}  // namespace

TensorDict consolidate_file(const TensorDict& td, const std::string& path,
                            const ConsolidateOptions& options) {
  check_threads(options);
  if (options.inplace || options.pinned || options.device) {
    fail(Code::invalid_argument,
         "a file cannot be combined with a device, pinned memory or in place");
  }
  if (path.empty()) fail(Code::io, "no such file: the path is empty");
  const Plan plan(td.node(), Twice::copied);
  const std::string text = plan.text();
  const std::string target = files::absolute(path);
  if (files::look(target).found == files::Found::folder) {
    fail(Code::io, "\"", target, "\" exists and is a folder");
  }
  files::NewFile file(target);
  const char zeros[32] = {};
  for (const Place& place : plan.places()) {
    if (place.bytes != 0) {
      const at::Tensor values = plain_values(place.tensor);
      file.write(static_cast<const char*>(values.data_ptr()), place.bytes);
    }
    file.write(zeros, place.stop - place.start - place.bytes);
  }
  file.write(text.data(), text.size());
  const auto length = static_cast<std::int64_t>(text.size());
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  // Map the file before it takes its place: mapping can fail.
  const std::shared_ptr<MappedFile> mapped =
      MappedFile::open(file.path(), MappedFile::whole, MapMode::priv);
  OpenOptions open;
  open.device = cpu();
  open.max_depth = open.max_entries = std::numeric_limits<std::uint32_t>::max() / 2;
  TensorDict result = build_consolidated(mapped, "\"" + target + "\"", open);
  file.commit(options.durable);
  mapped->set_path(target);
  result.lock();
  return result;
}

TensorDict load_consolidated(const std::string& path, const OpenOptions& options) {
  if (path.empty()) fail(Code::io, "no such file: the path is empty");
  const std::string name = files::absolute(path);
  const std::string where = "\"" + name + "\"";
  const std::shared_ptr<MappedFile> file = MappedFile::open(
      name, MappedFile::whole, options.write_through ? MapMode::shared : MapMode::priv);
  if (options.write_through && !file->writes_through()) {
    fail(Code::io, "cannot write to ", where);
  }
  return build_consolidated(file, where, options);
}

}  // namespace td
