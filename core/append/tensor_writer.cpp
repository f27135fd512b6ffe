#include "core/append/tensor_writer.h"

#include "core/tensor/assign.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/mapped_tensor.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

// The layout of a tensor's rows: one stride must cover all batch dimensions, and each row must be contiguous.
struct Rows {
  std::size_t bytes;
  std::size_t step;  // in bytes
};

Rows rows_of(const at::Tensor& tensor, std::size_t batch_dims, Path path) {
  const auto fail_rows = [&](const char* why) {
    fail(Code::shape, show_path(path), " with sizes ", show_sizes(tensor.sizes()), " and strides ",
         show_sizes(tensor.strides()), " ", why);
  };
  const SizesView sizes = tensor.sizes();
  const SizesView strides = tensor.strides();
  const auto item = static_cast<std::int64_t>(tensor.element_size());
  if (tensor.numel() == 0) {  // has nothing to write, and meaningless strides
    const auto bytes = checked_bytes(sizes.slice(batch_dims), tensor.element_size());
    if (!bytes) fail_rows("has rows of more bytes than can be counted");
    return {static_cast<std::size_t>(*bytes), static_cast<std::size_t>(*bytes)};
  }
  std::int64_t row = 1;
  for (std::size_t i = sizes.size(); i-- > batch_dims;) {
    if (sizes[i] != 1 && strides[i] != row) fail_rows("has rows that are not contiguous");
    row *= sizes[i];
  }
  std::int64_t step = -1;  // of the innermost batch dimension other than 1
  std::int64_t count = 1;
  for (std::size_t i = batch_dims; i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (step < 0) step = strides[i];
    if (strides[i] != step * count) fail_rows("has no constant step from row to row");
    count *= sizes[i];
  }
  if (count > 1 && step < row) fail_rows("has rows that overlap");
  return {static_cast<std::size_t>(row * item),
          static_cast<std::size_t>(step < 0 ? row * item : step * item)};
}

std::int64_t count_rows(SizesView batch) {
  if (batch.empty()) {
    fail(Code::shape, "a writer needs a dictionary with a batch dimension; the batch size is []");
  }
  return count_elements(known_sizes(batch));
}

}  // namespace

TensorWriter::TensorWriter(const TensorDict& td, const WriterOptions& options)
    : Writer(0, 0), batch_(td.batch_size().begin(), td.batch_size().end()), td_(td) {
  const std::int64_t all = count_rows(batch_);
  const std::int64_t first = options.first_row;
  if (first < 0 || first > all) {
    fail(Code::index, "first row ", first, " of a dictionary with ", all, " rows");
  }
  if (options.capacity < 0 || options.capacity > all - first) {
    fail(Code::index, "capacity ", options.capacity, " from row ", first, " of a dictionary with ",
         all, " rows");
  }
  first_ = first;
  row_ = first;
  end_ = limit_ = options.capacity == 0 ? all : first + options.capacity;
}

TensorWriter::~TensorWriter() {
  if (!closed()) bump_versions();
}

record::Writer::Field TensorWriter::find_field(Path path) {
  const at::Tensor tensor = td_.get(path);
  if (tensor.device().type() != c10::DeviceType::CPU) {
    fail(Code::device, show_path(path), " is on ", tensor.device().str(),
         "; a writer needs tensors on the CPU");
  }
  if (!fast::plain_cpu(tensor)) {
    fail(Code::unsupported, show_path(path), " is not a tensor of plain strided memory");
  }
  const SizesView sizes = tensor.sizes();
  if (!begins_with(sizes, batch_)) {
    fail(Code::shape, show_path(path), " has shape ", show_sizes(sizes),
         ", which does not begin with the batch size ", show_sizes(batch_),
         " for which the writer was opened");
  }
  const Rows rows = rows_of(tensor, batch_.size(), path);
  if (!td_.get(path).is_alias_of(tensor)) {
    fail(Code::unsupported, show_path(path),
         " is computed each time it is read, so rows would be lost; for a lazy stack open a writer "
         "for each element");
  }
  targets_.push_back({tensor, {path.begin(), path.end()}});
  return {reinterpret_cast<std::uintptr_t>(tensor.data_ptr()), rows.step, rows.bytes};
}

void TensorWriter::declare_field(Path path, ShapeView row, DType dtype) {
  if (td_.kind_of(path) == EntryKind::none) {
    Sizes sizes = batch_;
    sizes.append(row.begin(), row.end());
    td_.set(path, at::zeros(SizesView(sizes), scalar_type(dtype)));
  }
  const at::Tensor tensor = td_.get(path);
  if (!begins_with(tensor.sizes(), batch_)) return;  // find_field() throws
  require_form(path, {dtype_of(tensor.scalar_type()), tensor.sizes().slice(batch_.size())},
               {dtype, row});
}

void TensorWriter::more_rows() {
  fail(Code::capacity, "no row left: rows ", first_, " to ", limit_, " are written");
}

void TensorWriter::bump_versions() noexcept {
  for (const Target& target : targets_) fast::bump_version(target.tensor);
}

// Throws if a field's tensor is no longer in the dictionary.
void TensorWriter::require_stored() const {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const Target& target = targets_[i];
    const std::vector<std::string_view> path(target.path.begin(), target.path.end());
    const char* why = "was removed";
    try {
      const at::Tensor now = td_.get(path);
      if (fast::plain_cpu(now) &&
          reinterpret_cast<std::uintptr_t>(now.data_ptr()) == fields_[i].base) {
        continue;
      }
      why = "was replaced, moved, mapped or put into shared memory";
    } catch (const Error&) {
    }
    fail(Code::wrong_entry, show_path(path), " ", why,
         " after the writer was bound to it: rows went to its old memory");
  }
}

void TensorWriter::flush() {
  if (closed()) return;
  bump_versions();
  std::vector<const MappedFile*> files;
  for (const Target& target : targets_) {
    const MappedFile* file = mapping_of(target.tensor);
    if (file != nullptr) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  for (const MappedFile* file : files) file->flush();
  require_stored();
}

void TensorWriter::let_go() noexcept {
  targets_.clear();
  td_ = TensorDict(NodePtr());
}

}  // namespace td
