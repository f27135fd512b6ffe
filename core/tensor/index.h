// core/tensor/index.h: index expressions, compiled once into a plan for all leaves.
#pragma once

#include "core/tensor/view_plan.h"

#include <optional>
#include <string_view>
#include <vector>

namespace td {

enum class IndexKind : std::int32_t {
  integer = 1,
  slice = 2,
  ellipsis = 3,
  none = 4,
  tensor = 5,
  boolean = 6,
};

struct IndexItem {
  IndexKind kind = IndexKind::none;
  std::optional<std::int64_t> start, stop, step;  // of a slice; start: the integer or boolean
  // Positions or a mask, in memory of its own. May be set for a boolean: positions along the new dimension.
  at::Tensor tensor;
  bool of_mask = false;  // the positions come from a mask: the dimension loses its name

  static IndexItem at(std::int64_t position) {
    return {IndexKind::integer, position, {}, {}, {}, false};
  }
  static IndexItem range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                         std::optional<std::int64_t> step = std::nullopt) {
    return {IndexKind::slice, start, stop, step, {}, false};
  }
  static IndexItem ellipsis() { return {IndexKind::ellipsis, {}, {}, {}, {}, false}; }
  static IndexItem none() { return {IndexKind::none, {}, {}, {}, {}, false}; }
  // Copies the tensor: another thread may write into it after its positions were checked.
  static IndexItem of(const at::Tensor& tensor);
  static IndexItem boolean(bool truth) {
    return {IndexKind::boolean, truth ? 1 : 0, {}, {}, {}, false};
  }
};

// Parses "..., ::2, None"; throws Code::index and points at the character.
std::vector<IndexItem> parse_index(std::string_view text);

// An index compiled for one batch size: a view, then at most one gather. Positions are checked, made
// non-negative and broadcast once, not for each leaf. A plan belongs to one thread.
class IndexPlan {
 public:
  IndexPlan(c10::ArrayRef<IndexItem> items, SizesView batch);

  const ViewPlan& view() const noexcept { return view_; }
  // Whether the index is only `...` and `:`; the result is then the same dictionary.
  bool is_whole() const noexcept { return whole_; }

  // Whether index tensors pick rows; otherwise the result is a view.
  bool gathers() const noexcept { return gather_.has_value(); }
  // Whether the result is what view() makes; otherwise it is a copy.
  bool is_view() const noexcept { return !gather_ && !copies_; }

  // The result's sizes for an entry whose sizes start with the batch.
  Sizes sizes(SizesView full) const;

  // The result's dimension names. `full` may be empty. A list of positions keeps the name of its dimension;
  // masks and tensors of more dimensions drop it.
  Names names(const Names& full) const;

  // entry[index]
  at::Tensor read(const at::Tensor& leaf, bool fast) const;

  // Whether the source has the sizes and dtype of the part, and both are one piece of plain memory: write_block() then
  // writes it.
  bool fills_block(const at::Tensor& leaf, const at::Tensor& source) const;
  void write_block(const at::Tensor& leaf, const at::Tensor& source) const;

  // entry[index] = source. `source` must broadcast to the part; dtype and device are converted. Used by
  // Writes, which ensures that the source shares no memory with the leaf.
  void write(const at::Tensor& leaf, const at::Tensor& source, bool fast) const;

  // The positions from index tensors.
  c10::ArrayRef<at::Tensor> positions() const {
    return gather_ ? c10::ArrayRef<at::Tensor>(gather_->index) : c10::ArrayRef<at::Tensor>();
  }

 private:
  // `index[k]` holds positions along dimension `dims[k]` of the view.
  struct Gather {
    c10::SmallVector<std::int64_t, 4> dims;
    std::vector<at::Tensor> index;              // int64, CPU, contiguous, all of `shape`
    mutable std::vector<at::Tensor> elsewhere;  // the same on the device of the last leaf
    at::Tensor linear;  // positions over all dims, merged into one dimension
    Sizes shape;
    std::int64_t count;       // product of shape
    bool adjacent;            // dims are consecutive: the shape replaces them
    std::int64_t result_dim;  // where the shape is in the result
    bool keeps_name;          // it is one list of positions
  };
  struct Advanced {
    std::int64_t dim;
    at::Tensor index;
    bool mask = false;
  };

  void add_tensor(const at::Tensor& tensor, std::int64_t& source, SizesView batch,
                  std::vector<Advanced>& advanced);
  void add_mask(const at::Tensor& tensor, std::int64_t& source, SizesView batch,
                std::vector<Advanced>& advanced);
  void finish_gather(std::vector<Advanced>& advanced);

  // Describes the gather as copies of rows; false if the leaf's memory does not allow that. `outer` counts
  // positions of the dimensions before the gather, `step` is the stride of the indexed ones, `row` the size
  // of the contiguous rest; in elements.
  bool row_shape(const ViewPlan::Layout& at, std::int64_t& outer, std::int64_t& row,
                 std::int64_t& step) const;
  // The positions on the device of a leaf, copied once for all leaves.
  const std::vector<at::Tensor>& index_for(const at::Tensor& leaf) const;
  bool gather_rows(const at::Tensor& leaf, at::Tensor& result) const;
  bool scatter_rows(const at::Tensor& leaf, const at::Tensor& source) const;

  ViewPlan view_;
  std::optional<Gather> gather_;
  bool copies_ = false;  // a tensor item selects: the result is a copy
  bool whole_ = false;
  bool is_block_ = false;  // the part of a contiguous leaf is contiguous
};

}  // namespace td
