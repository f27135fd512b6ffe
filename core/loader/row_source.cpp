#include "core/loader/row_source.h"
#include "core/shape/join.h"

#include "core/base/recursion_guard.h"
#include "core/keys/entries.h"
#include "core/loader/structure.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/rows.h"
#include "core/tensor/strides.h"
#include "core/tree/batch_op.h"
#include "core/tree/lazy_node.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace td {

namespace {

// Collects leaves in the order of map(), the same for all nodes of the same structure.
class CollectOp final : public BatchOp {
 public:
  explicit CollectOp(std::vector<at::Tensor>& leaves) : leaves_(leaves) {}
  Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
  at::Tensor leaf(const at::Tensor& before) const override {
    leaves_.push_back(before);
    return before;
  }

 private:
  std::vector<at::Tensor>& leaves_;
};

// Replaces the leading sizes and the leaves.
class FrontOp final : public BatchOp {
 public:
  FrontOp(SizesView front, std::vector<at::Tensor>& leaves) : front_(front), leaves_(leaves) {}
  Sizes batch(SizesView before) const override {
    Sizes sizes(front_.begin(), front_.end());
    sizes.append(before.begin() + 1, before.end());
    return sizes;
  }
  at::Tensor leaf(const at::Tensor& before) const override {
    if (next_ == leaves_.size())
      leaves_.push_back(fast::make_dense(batch(before.sizes()), before.scalar_type()));
    return leaves_[next_++];
  }

 private:
  SizesView front_;
  std::vector<at::Tensor>& leaves_;
  mutable std::size_t next_ = 0;
};

std::vector<at::Tensor> leaves_of(const Node& node) {
  std::vector<at::Tensor> leaves;
  map(retain(node), CollectOp(leaves));
  return leaves;
}

// Whether the content is known without reading: dictionaries with stored entries, and values shared by the
// batch.
bool holds_plain(const Node& node) {
  bool plain = is_plain(node, /*or_values=*/true);
  visit_values(node, [&](const Value& value) {
    plain = plain && (value.is_node() || fast::plain_cpu(value.tensor()));
  });
  return plain;
}

// Whether two parts give equal batches except for the values.
bool alike(const TensorDict& a, const TensorDict& b) {
  const auto data_of = [](const TensorDict& td) {
    std::vector<std::string> values;
    visit_paths(*td.node(), [&](Path path, const Value& value) {
      if (kind_of(value) == EntryKind::non_tensor) values.push_back(td.get_non_tensor(path));
    });
    return values;
  };
  return a.node()->tagged() == b.node()->tagged() && structure_of(a) == structure_of(b) &&
         data_of(a) == data_of(b);
}

bool dense_row(const at::Tensor& leaf) {
  std::int64_t expected = 1;
  for (std::int64_t i = leaf.dim(); i-- > 1;) {
    if (leaf.size(i) != 1 && leaf.stride(i) != expected) return false;
    expected = stride_before(expected, leaf.size(i));
  }
  return true;
}

}  // namespace

RowSource::RowSource(const TensorDict& td, bool flat,
                     c10::ArrayRef<std::vector<std::string>> keys) {
  if (td.batch_size().empty())
    fail(Code::shape, "a dictionary without batch dimensions has no rows");
  if (!flat && is_uneven(td.batch_size())) {
    fail(Code::shape, "the elements of a lazy stack of batch size ", show_sizes(td.batch_size()),
         " differ and cannot be rows of one batch; flat, their own elements are the rows");
  }
  for (const std::vector<std::string>& key : keys) keys_.emplace_back(key.begin(), key.end());
  // Use our own nodes: other handles may change or free the dictionary.
  add_parts(TensorDict(part_form(td.node())).clone(/*recurse=*/false).node(), flat,
            /*whole=*/false);
  keys_.clear();
  if (!parts_.empty() && parts_[0].td.is_empty())
    fail(Code::invalid_argument, "the dictionary has no entries to make batches of");
  plain_ = find_fields();
}

// `whole`: the node is a single row without a row dimension.
void RowSource::add_parts(const NodePtr& node, bool flat, bool whole) {
  if (stack_dim_of(*node) == 0 && !whole) {
    const RecursionGuard guard;
    for (const NodePtr& element : stacked(*node))
      add_parts(element, flat, !flat || element->batch().empty());
    return;
  }
  TensorDict td(node);
  if (whole) return add_part(td.unsqueeze(0));
  known_size(td.batch_size(), 0);
  if (!flat || td.batch_size().size() == 1) return add_part(td);
  const std::int64_t inner = known_sizes(td.batch_size()).back();
  const std::int64_t before = rows_;
  add_part(td.reshape({-1}));
  borders_.pop_back();
  for (std::int64_t row = before + inner; inner > 0 && row <= rows_; row += inner)
    borders_.push_back(row);
}

void RowSource::add_part(const TensorDict& td) {
  const std::vector<Path> paths(keys_.begin(), keys_.end());
  parts_.push_back({paths.empty() ? td : select(td, paths), td, rows_});
  rows_ += td.batch_size()[0];
  borders_.push_back(rows_);
}

bool RowSource::find_fields() {
  if (parts_.empty()) return false;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const TensorDict& td = parts_[k].td;
    if (!holds_plain(*td.node()) || (k != 0 && !alike(parts_[0].td, td))) return false;
    const std::vector<at::Tensor> leaves = leaves_of(*td.node());
    if (k == 0) fields_.resize(leaves.size());
    if (leaves.size() != fields_.size()) return false;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const at::Tensor& leaf = leaves[i];
      if (!dense_row(leaf)) return false;
      const auto item = static_cast<std::int64_t>(leaf.element_size());
      const std::int64_t step = stride_before(leaf.stride(0), item);
      Field& field = fields_[i];
      if (k == 0) {
        field.row_bytes = leaf.element_size();
        for (const std::int64_t size : leaf.sizes().slice(1))
          field.row_bytes *= static_cast<std::size_t>(size);
        field.step = step;
      } else if (field.step != step && leaf.size(0) > 1) {
        return false;
      }
      field.bases.push_back(static_cast<const char*>(leaf.data_ptr()));
    }
  }
  return true;
}

std::size_t RowSource::part_of(std::int64_t row) const noexcept {
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), row,
                       [](std::int64_t wanted, const Part& part) { return wanted < part.first; });
  return static_cast<std::size_t>(behind - parts_.begin()) - 1;
}

at::Tensor RowSource::column(Path path) const {
  std::vector<at::Tensor> columns;
  for (const Part& part : parts_) columns.push_back(part.all.get(path));
  return columns.size() == 1 ? columns[0] : at::cat(columns);
}

NodePtr RowSource::make_batch(SizesView front, std::vector<at::Tensor>& leaves) const {
  return map(parts_[0].td.node(), FrontOp(front, leaves));
}

void RowSource::copy_rows(c10::ArrayRef<std::int64_t> rows, c10::ArrayRef<char*> targets) const {
  if (parts_.size() == 1) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = fields_[i];
      if (field.row_bytes == 0) continue;
      rows::gather(targets[i], field.bases[0], rows.data(), rows.size(), field.row_bytes,
                   static_cast<std::size_t>(field.step));
    }
    return;
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t part = part_of(rows[r]);
    const std::int64_t row = rows[r] - parts_[part].first;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = fields_[i];
      if (field.row_bytes == 0) continue;
      std::memcpy(targets[i] + r * field.row_bytes, field.bases[part] + row * field.step,
                  field.row_bytes);
    }
  }
}

void RowSource::copy_runs(c10::ArrayRef<Run> runs, c10::ArrayRef<char*> targets) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    if (field.row_bytes == 0) continue;
    char* target = targets[i];
    for (const Run& run : runs) {
      const std::size_t part = parts_.size() == 1 ? 0 : part_of(run.first);
      const char* source = field.bases[part] + (run.first - parts_[part].first) * field.step;
      const std::size_t bytes = static_cast<std::size_t>(run.length) * field.row_bytes;
      if (field.step == static_cast<std::int64_t>(field.row_bytes)) {
        std::memcpy(target, source, bytes);
      } else {
        for (std::int64_t row = 0; row < run.length; ++row)
          std::memcpy(target + static_cast<std::size_t>(row) * field.row_bytes,
                      source + row * field.step, field.row_bytes);
      }
      target += bytes;
    }
  }
}

TensorDict RowSource::pick(const at::Tensor& rows) const {
  const auto read = [](const TensorDict& td, const at::Tensor& positions) {
    const IndexItem item = IndexItem::of(positions);
    return td.index(item).contiguous();
  };
  if (parts_.size() == 1) return read(parts_[0].td, rows);
  // Pick from each part once, then restore the requested order.
  const at::Tensor flat = rows.reshape({-1}).contiguous();
  const auto* wanted = flat.data_ptr<std::int64_t>();
  std::vector<std::vector<std::int64_t>> of_part(parts_.size()), places(parts_.size());
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    const std::size_t part = part_of(wanted[i]);
    of_part[part].push_back(wanted[i] - parts_[part].first);
    places[part].push_back(i);
  }
  std::vector<TensorDict> pieces;
  at::Tensor order = at::empty({flat.numel()}, at::kLong);
  std::int64_t next = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (of_part[k].empty()) continue;
    pieces.push_back(read(parts_[k].td, at::tensor(of_part[k], at::kLong)));
    for (const std::int64_t place : places[k]) order.data_ptr<std::int64_t>()[place] = next++;
  }
  const TensorDict joined = pieces.size() == 1 ? pieces[0] : td::cat(pieces, 0);
  return read(joined, order.reshape(rows.sizes()));
}

}  // namespace td
