#include "core/shape/pack.h"

#include "core/tensor/dtype.h"
#include "core/tensorclass/found_type.h"
#include "core/tree/changes.h"
#include "core/tree/evenness.h"
#include "core/tree/kinds.h"
#include "core/tree/paths.h"
#include "core/tree/view_ops.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

namespace td {

namespace {

using KeyNames = PackLayout::Names;

std::vector<std::string_view> names_in(const KeyNames& path) { return {path.begin(), path.end()}; }

// The sizes behind the batch; a nested dictionary may have fewer batch dimensions than its parent.
Sizes features(SizesView sizes, std::size_t batch_dims) {
  const std::size_t first = std::min(batch_dims, sizes.size());
  return Sizes(sizes.begin() + static_cast<std::ptrdiff_t>(first), sizes.end());
}

// The entries of a dictionary by the names joined with dots.
struct PackedEntries {
  struct Entry {
    std::string joined;
    KeyNames path;
    Value value;
  };
  std::vector<Entry> leaves, nodes;

  explicit PackedEntries(const TensorDict& td) {
    if (!reads_as_one(td.node()))
      fail(Code::shape,
           "pack: the elements of a lazy stack differ in their keys or in their shapes");
    const NodePtr dense = without_lazy(part_form(td.node()));
    visit_paths(*dense, [&](Path path, const Value& value) {
      if (value.is_node() && !is_dict(value)) {
        fail(is_nested_tensor(*value.node()) ? Code::unsupported : Code::wrong_entry,
             "pack: ", show_path(path), " is a ", kind_word(value), ": remove it first");
      }
      if (!value.is_node()) require_batch(path, value.tensor().sizes(), dense->batch());
      std::string joined;
      for (const std::string_view name : path) {
        if (&name != path.begin()) joined += '.';
        joined += name;
      }
      (value.is_node() ? nodes : leaves)
          .push_back({std::move(joined), KeyNames(path.begin(), path.end()), value});
    });
    const auto before = [](const Entry& a, const Entry& b) { return a.joined < b.joined; };
    std::stable_sort(leaves.begin(), leaves.end(), before);
    std::stable_sort(nodes.begin(), nodes.end(), before);
  }
};

std::string type_of(const Node& node) {
  return node.tensorclass() ? node.tensorclass()->name() : std::string();
}

// The place of the columns among the batch dimensions, from 0 on.
std::int64_t columns_place(std::int64_t dim, SizesView batch) {
  return wrap_dim(dim, static_cast<std::int64_t>(batch.size()) + 1, Code::index, batch);
}

PackLayout layout_of(const PackedEntries& content, const TensorDict& td, std::int64_t dim) {
  const std::size_t dims = td.batch_size().size();
  PackLayout layout;
  layout.dim = columns_place(dim, td.batch_size()) - static_cast<std::int64_t>(dims) - 1;
  for (const PackedEntries::Entry& leaf : content.leaves) {
    layout.keys.push_back(leaf.path);
    layout.shapes.push_back(features(leaf.value.tensor().sizes(), dims));
  }
  for (const PackedEntries::Entry& node : content.nodes)
    layout.nested.push_back(
        {node.path, features(node.value.node()->batch(), dims), type_of(*node.value.node())});
  if (td.device()) layout.device = td.device()->str();
  layout.type = type_of(*td.node());
  return layout;
}

// The tensors in the order of a layout, which they must fit.
std::vector<at::Tensor> in_order(const PackedEntries& content, const PackLayout& own,
                                 const PackLayout& wanted) {
  std::map<KeyNames, std::size_t> left;  // of the dictionary, until a key of the layout takes it
  for (std::size_t i = 0; i < own.keys.size(); ++i) left.emplace(own.keys[i], i);
  std::vector<at::Tensor> tensors;
  for (std::size_t k = 0; k < wanted.keys.size(); ++k) {
    const auto found = left.find(wanted.keys[k]);
    if (found == left.end()) {
      fail(Code::key_not_found, "pack: the layout has ", show_path(names_in(wanted.keys[k])),
           ", the dictionary has not");
    }
    const std::size_t at = found->second;
    left.erase(found);
    if (own.shapes[at] != wanted.shapes[k]) {
      fail(Code::shape, "pack: ", show_path(names_in(wanted.keys[k])), " has features of shape ",
           show_sizes(own.shapes[at]), ", the layout says ", show_sizes(wanted.shapes[k]));
    }
    tensors.push_back(content.leaves[at].value.tensor());
  }
  if (!left.empty()) {
    fail(Code::key_not_found, "pack: ", show_path(names_in(left.begin()->first)),
         " is not in the layout");
  }
  return tensors;
}

void require_alike(const std::vector<at::Tensor>& tensors, const PackLayout& layout) {
  for (std::size_t k = 1; k < tensors.size(); ++k) {
    const auto path = [&](std::size_t i) { return show_path(names_in(layout.keys[i])); };
    if (tensors[k].scalar_type() != tensors[0].scalar_type()) {
      fail(Code::dtype, "pack: ", path(0), " has dtype ", dtype_name(tensors[0].scalar_type()),
           ", ", path(k), " has ", dtype_name(tensors[k].scalar_type()));
    }
    if (tensors[k].device() != tensors[0].device()) {
      fail(Code::device, "pack: ", path(0), " is on ", tensors[0].device().str(), ", ", path(k),
           " on ", tensors[k].device().str());
    }
  }
}

}  // namespace

at::Tensor pack(const TensorDict& td, std::int64_t dim, const PackLayout* layout) {
  require_dict(*td.node());
  const std::int64_t place = columns_place(dim, td.batch_size());
  const PackedEntries content(td);
  const PackLayout own = layout_of(content, td, dim);
  const PackLayout& wanted = layout != nullptr ? *layout : own;
  if (columns_place(wanted.dim, td.batch_size()) != place)
    fail(Code::shape, "pack along dimension ", dim, ": the layout says dimension ", wanted.dim);
  const std::vector<at::Tensor> tensors = in_order(content, own, wanted);
  require_alike(tensors, wanted);
  Sizes sizes(td.batch_size().begin(), td.batch_size().end());
  if (tensors.empty()) {
    sizes.insert(sizes.begin() + place, 0);
    return at::empty(sizes, at::device(td.device().value_or(c10::kCPU)).dtype(at::kFloat));
  }
  sizes.push_back(0);
  std::vector<at::Tensor> columns;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    sizes.back() = count_elements(wanted.shapes[k]);
    columns.push_back(tensors[k].reshape(sizes));
  }
  return at::cat(columns, -1).movedim(-1, place).contiguous();
}

namespace {

void mark(const TensorDict& made, const std::string& type) {
  if (type.empty()) return;
  Changes changes;
  changes.set_tensorclass(*made.node(), found_type(type, made.node(), {}, nullptr, "unpack"));
  changes.run();
}

}  // namespace

std::vector<std::int64_t> PackLayout::offsets() const {
  std::vector<std::int64_t> offsets{0};
  for (const Sizes& shape : shapes) {
    std::int64_t end = 0;
    if (__builtin_add_overflow(offsets.back(), count_elements(shape), &end))
      fail(Code::shape, "a layout has too many columns");
    offsets.push_back(end);
  }
  return offsets;
}

PackLayout pack_layout(const TensorDict& td, std::int64_t dim) {
  require_dict(*td.node());
  return layout_of(PackedEntries(td), td, dim);
}

TensorDict unpack(const PackLayout& layout, const at::Tensor& packed) {
  const std::int64_t dim = wrap_dim(layout.dim, packed.dim(), Code::index, packed.sizes());
  const std::vector<std::int64_t> offsets = layout.offsets();
  if (packed.size(dim) != offsets.back()) {
    fail(Code::shape, "unpack: dimension ", layout.dim, " of a tensor of shape ",
         show_sizes(packed.sizes()), " has ", packed.size(dim), " columns, the layout has ",
         offsets.back());
  }
  const at::Tensor columns = packed.movedim(dim, -1);
  Sizes batch(columns.sizes().begin(), columns.sizes().end() - 1);
  std::optional<c10::Device> device;
  if (!layout.device.empty()) device = packed.device();
  TensorDict result(batch, device);
  const auto sizes_with = [&](SizesView more) {
    Sizes sizes = batch;
    sizes.append(more.begin(), more.end());
    return sizes;
  };
  for (const PackLayout::Nested& node : layout.nested)
    result.set(names_in(node.path), TensorDict(sizes_with(node.batch), device));
  for (std::size_t k = 0; k < layout.keys.size(); ++k) {
    const at::Tensor part = columns.narrow(-1, offsets[k], offsets[k + 1] - offsets[k]);
    result.set(names_in(layout.keys[k]), part.view(sizes_with(layout.shapes[k])));
  }
  for (const PackLayout::Nested& node : layout.nested)
    mark(result.get_dict(names_in(node.path)), node.type);
  mark(result, layout.type);
  return result;
}

}  // namespace td
