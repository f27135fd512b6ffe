// core/tensor/index.h: index expressions. Items are compiled once into a plan that then fits every leaf.
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
  at::Tensor tensor;  // of a boolean, if any: positions along the dimension that it adds
  bool of_mask =
      false;  // the positions of a tensor were those of a mask: what they pick has no name

  static IndexItem at(std::int64_t position) {
    return {IndexKind::integer, position, {}, {}, {}, false};
  }
  static IndexItem range(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                         std::optional<std::int64_t> step = std::nullopt) {
    return {IndexKind::slice, start, stop, step, {}, false};
  }
  static IndexItem ellipsis() { return {IndexKind::ellipsis, {}, {}, {}, {}, false}; }
  static IndexItem none() { return {IndexKind::none, {}, {}, {}, {}, false}; }
  static IndexItem of(at::Tensor tensor) {
    return {IndexKind::tensor, {}, {}, {}, std::move(tensor), false};
  }
  static IndexItem boolean(bool truth) {
    return {IndexKind::boolean, truth ? 1 : 0, {}, {}, {}, false};
  }
};

// "..., ::2, None" → items; throws Code::index and points at the character.
std::vector<IndexItem> parse_index(std::string_view text);

// An index made ready for one batch size: first a view, then at most one gather.
//
// Positions are checked against the batch, made positive and broadcast once, here; no leaf has to
// look at them again.
class IndexPlan {
 public:
  IndexPlan(c10::ArrayRef<IndexItem> items, SizesView batch);

  const ViewPlan& view() const noexcept { return view_; }
  // Nothing but `...` and `:`; the result is then the same dictionary.
  bool is_whole() const noexcept { return whole_; }

  // Whether index tensors pick rows; a view alone otherwise.
  bool gathers() const noexcept { return gather_.has_value(); }

  // Sizes of the result for an entry whose sizes begin with the batch.
  Sizes sizes(SizesView full) const;

  // The same for names of dimensions, of which there may be none at all. What a list of positions picks
  // keeps the name of its dimension; what masks and tensors of more dimensions pick has none.
  Names names(const Names& full) const;

  // entry[index]
  at::Tensor read(const at::Tensor& leaf, bool fast) const;

  // entry[index] = source. The sizes of `source` must be those of the part already, or broadcast to
  // them; dtype and device are converted. For Writes, which makes sure that neither the source nor the
  // positions share memory with the leaf.
  void write(const at::Tensor& leaf, const at::Tensor& source, bool fast) const;

  // The positions that index tensors give: the caller's own tensors where these could be used as they
  // are. After own_positions() they are not.
  c10::ArrayRef<at::Tensor> positions() const {
    return gather_ ? c10::ArrayRef<at::Tensor>(gather_->index) : c10::ArrayRef<at::Tensor>();
  }
  void own_positions();

 private:
  // The gather picks rows: `index[k]` holds positions along dimension `dims[k]` of the view.
  struct Gather {
    c10::SmallVector<std::int64_t, 4> dims;
    std::vector<at::Tensor> index;  // int64, CPU, contiguous, all of `shape`
    at::Tensor linear;  // the same over all dims at once, as if they were one dense dimension
    Sizes shape;
    std::int64_t count;       // product of shape
    bool adjacent;            // dims follow one another: the shape stands in their place
    std::int64_t result_dim;  // where the shape stands in the result
    bool keeps_name;          // it is one list of positions
  };
  struct Advanced {
    std::int64_t dim;
    at::Tensor index;
    bool mask = false;
  };

  void add_tensor(const at::Tensor& tensor, std::int64_t& source, SizesView batch,
                  std::vector<Advanced>& advanced);
  void finish_gather(std::vector<Advanced>& advanced);

  // Rows by memcpy; false when the memory of the leaf does not allow it. Dimensions before the gather
  // are looped over (`outer`), the indexed ones are one dimension of `step`, those behind one dense
  // `row`; all in elements.
  bool row_shape(const ViewPlan::Layout& at, std::int64_t& outer, std::int64_t& row,
                 std::int64_t& step) const;
  bool gather_rows(const at::Tensor& leaf, at::Tensor& result) const;
  bool scatter_rows(const at::Tensor& leaf, const at::Tensor& source) const;

  ViewPlan view_;
  std::optional<Gather> gather_;
  bool copies_ = false;  // a tensor selected: what tensors pick is copied
  bool whole_ = false;
};

}  // namespace td
