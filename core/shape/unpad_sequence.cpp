// What was padded, without the padding.
#include "core/shape/pad.h"
#include "core/shape/shape.h"

#include "core/tensor/dtype.h"
#include "core/tree/lazy_node.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// The marked positions of a row.
struct Run {
  std::int64_t start = 0, length = 0;
};
using Runs = std::vector<Run>;

// `marks`: [rows, positions].
Runs runs_of(const at::Tensor& marks, const std::string& what) {
  const at::Tensor rows = marks.to(at::kCPU).contiguous();
  const bool* mark = rows.data_ptr<bool>();
  Runs runs(static_cast<std::size_t>(rows.size(0)));
  for (Run& run : runs) {
    for (std::int64_t i = 0; i < rows.size(1); ++i, ++mark) {
      if (!*mark) continue;
      if (run.length == 0) run.start = i;
      if (run.start + run.length != i) {
        fail(Code::invalid_argument, "unpad_sequence: ", what,
             " marks positions of a row that are not side by side");
      }
      ++run.length;
    }
  }
  return runs;
}

class Marks {
 public:
  Marks(const UnpadSequenceOptions& options, SizesView batch) : options_(options), batch_(batch) {
    if (options.mask != nullptr) check(*options.mask, "the mask", 1);
  }

  // For an entry that is padded along dimension `at` of each sample, to `size`.
  Runs runs(Path path, std::int64_t at, std::int64_t size) const {
    if (options_.mask != nullptr) {
      require_length(*options_.mask, "the mask", size);
      return runs_of(*options_.mask, "the mask");
    }
    const std::string what = "the mask of " + show_path(path);
    // A mask of a dictionary has the batch dimensions, and behind them the padded one if that is a feature.
    const auto dim = std::min(at, static_cast<std::int64_t>(batch_.size()) - 1) + 1;
    const at::Tensor mask = options_.masks->get(path);
    check(mask, what, static_cast<std::size_t>(dim));
    at::Tensor marks = mask.movedim(dim, -1);
    require_length(marks, what, size);
    if (marks.dim() > 2) marks = marks.flatten(1, -2).any(1);
    return runs_of(marks, what);
  }

 private:
  void check(const at::Tensor& mask, const std::string& what, std::size_t dim) const {
    if (mask.scalar_type() != at::kBool) {
      fail(Code::dtype, "unpad_sequence: ", what, " must hold bools, found ",
           dtype_name(mask.scalar_type()));
    }
    const auto dims = static_cast<std::size_t>(mask.dim());
    if (dims <= dim || (options_.mask != nullptr && dims != 2) || mask.size(0) != batch_[0]) {
      fail(Code::shape, "unpad_sequence: ", what, " of shape ", show_sizes(mask.sizes()),
           " has no row of positions for each of ", batch_[0], " samples");
    }
  }
  static void require_length(const at::Tensor& marks, const std::string& what, std::int64_t size) {
    if (marks.size(-1) == size) return;
    fail(Code::shape, "unpad_sequence: ", what, " has ", marks.size(-1), " positions for ", size);
  }

  const UnpadSequenceOptions& options_;
  SizesView batch_;
};

// A tensor of the padded dictionary.
struct Padded {
  PathBuffer path;
  at::Tensor tensor;
  std::int64_t dim;  // of each sample
  Runs runs;
};

std::vector<Padded> padded_entries(const TensorDict& td, std::int64_t dim) {
  std::vector<Padded> entries;
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (value.is_node()) return;
    Padded entry{PathBuffer(path.begin(), path.end()), value.tensor(), dim, {}};
    const std::int64_t dims = value.tensor().dim() - 1;
    if (dim < 0) entry.dim += dims;
    if (entry.dim < 0 || entry.dim >= dims)
      fail(Code::index, "unpad_sequence: samples of ", show_path(path), " have no dimension ", dim);
    entries.push_back(std::move(entry));
  });
  return entries;
}

}  // namespace

TensorDict unpad_sequence(const TensorDict& padded, const UnpadSequenceOptions& given) {
  require_dict(*padded.node());
  if (padded.batch_size().empty())
    fail(Code::shape,
         "unpad_sequence needs a first batch dimension for the samples; the dictionary has no "
         "batch dimension");
  if (given.mask != nullptr && given.masks != nullptr)
    fail(Code::invalid_argument,
         "unpad_sequence takes one mask, or a dictionary of masks, not both");
  // Its own dictionaries over the same tensors, without lazy stacks: the results are not locked.
  TensorDict td = TensorDict(without_lazy(padded.node())).clone(/*recurse=*/false);
  UnpadSequenceOptions options = given;
  std::optional<TensorDict> own;
  if (given.mask == nullptr && given.masks == nullptr) {
    const std::string_view name = "masks";
    own = td.get_dict(name);
    options.masks = &*own;
    td.remove(name);
  }
  const Marks marks(options, td.batch_size());
  std::vector<Padded> entries = padded_entries(td, options.dim);
  const auto batch_dims = static_cast<std::int64_t>(td.batch_size().size()) - 1;
  bool of_batch = batch_dims > 0;
  for (const Padded& entry : entries) of_batch = of_batch && entry.dim < batch_dims;
  if (of_batch && entries.empty() && options.mask == nullptr)
    fail(Code::key_not_found, "unpad_sequence: there is no tensor, and so no mask of one");
  std::vector<NodePtr> samples;
  if (of_batch) {
    const std::int64_t dim = entries.empty()
                                 ? wrap_dim(options.dim, batch_dims, Code::index, td.batch_size())
                                 : entries[0].dim;
    const Path path = entries.empty() ? Path() : Path(entries[0].path);
    const Runs runs = marks.runs(path, dim, td.batch_size()[static_cast<std::size_t>(dim) + 1]);
    for (const TensorDict& sample : td.unbind(0)) {
      const Run& run = runs[samples.size()];
      samples.push_back(narrow(sample, dim, run.start, run.length).node());
    }
  } else {
    for (Padded& entry : entries)
      entry.runs = marks.runs(entry.path, entry.dim, entry.tensor.size(entry.dim + 1));
    for (TensorDict sample : td.unbind(0)) {
      for (const Padded& entry : entries) {
        const Run& run = entry.runs[samples.size()];
        const auto at = static_cast<std::int64_t>(samples.size());
        sample.set(entry.path, entry.tensor.select(0, at).narrow(entry.dim, run.start, run.length));
      }
      samples.push_back(sample.node());
    }
  }
  return TensorDict(NodePtr(lazy_stack(std::move(samples), 0)));
}

}  // namespace td
