#include "core/append/writer.h"

#include "core/append/growth.h"
#include "core/io/mapped_file.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"

#include <algorithm>

namespace td {

namespace {

// How the rows of a tensor lie: all batch dimensions must go with one step, and what is inside a row
// must be dense.
struct Rows {
  std::size_t bytes;
  std::int64_t step;  // bytes
};

Rows rows_of(const at::Tensor& tensor, std::size_t batch_dims, Path path) {
  const auto fail_rows = [&](const char* why) {
    fail(Code::shape, show_path(path), " with sizes ", show_sizes(tensor.sizes()), " and strides ",
         show_sizes(tensor.strides()), " ", why);
  };
  const SizesView sizes = tensor.sizes();
  const SizesView strides = tensor.strides();
  const auto item = static_cast<std::int64_t>(tensor.element_size());
  const bool empty = tensor.numel() == 0;  // nothing will be written: strides mean nothing
  std::int64_t row = 1;
  for (std::size_t i = sizes.size(); i-- > batch_dims;) {
    if (!empty && sizes[i] != 1 && strides[i] != row) fail_rows("has rows that are not dense");
    row *= sizes[i];
  }
  std::int64_t step = -1;  // of the innermost batch dimension that is not 1
  std::int64_t count = 1;
  for (std::size_t i = empty ? 0 : batch_dims; i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (step < 0) step = strides[i];
    if (strides[i] != step * count) fail_rows("has no one step from row to row");
    count *= sizes[i];
  }
  if (count > 1 && step < row) fail_rows("has rows that lie on one another");
  return {static_cast<std::size_t>(row * item), step < 0 ? row * item : step * item};
}

}  // namespace

Writer::Writer(const TensorDict& td, const WriterOptions& options)
    : batch_(td.batch_size().begin(), td.batch_size().end()), td_(td) {
  const SizesView batch = batch_;
  if (batch.empty()) {
    fail(Code::shape, "a writer needs a dictionary with a batch dimension; this one has none");
  }
  std::int64_t all = 1;
  for (const std::int64_t size : batch) {
    if (__builtin_mul_overflow(all, size, &all)) {
      fail(Code::shape, "batch size ", show_sizes(batch), " has more rows than can be counted");
    }
  }
  const std::int64_t first = options.first_row;
  if (first < 0 || first > all) {
    fail(Code::index, "first row ", first, " of a dictionary with ", all, " rows");
  }
  if (options.capacity < 0 || options.capacity > all - first) {
    fail(Code::index, "capacity ", options.capacity, " from row ", first, " of a dictionary with ",
         all, " rows");
  }
  first_ = row_ = first;
  end_ = limit_ = options.capacity == 0 ? all : first + options.capacity;
}

Writer::Writer(std::unique_ptr<Growth> growth)
    : row_(0), first_(0), limit_(0), td_(NodePtr()), growth_(std::move(growth)) {
  folder_ = growth_->folder().dir();
  end_ = growth_->advance(0, /*publish=*/false).end;
}

Writer::~Writer() {
  if (closed_) return;
  try {
    if (growth_ == nullptr) {
      bump_versions();
    } else {
      close();
    }
  } catch (...) {
    // Nobody is left to be told; what is published is whole.
  }
}

std::int32_t Writer::bind(Path path) {
  if (closed_)
    fail(Code::invalid_argument, "cannot bind ", show_path(path), ": the writer is closed");
  if (growth_ != nullptr) return bind_growing(path);
  const at::Tensor& tensor = td_.get(path);
  if (tensor.device().type() != c10::DeviceType::CPU) {
    fail(Code::device, show_path(path), " is on ", tensor.device().str(),
         "; a writer needs tensors on the CPU");
  }
  if (!fast::plain_cpu(tensor)) {
    fail(Code::unsupported, show_path(path), " is no tensor of plain strided memory");
  }
  const SizesView sizes = tensor.sizes();
  if (!begins_with(sizes, batch_)) {
    fail(Code::shape, show_path(path), " has shape ", show_sizes(sizes),
         ", which does not begin with the batch size ", show_sizes(batch_),
         " for which the writer was opened");
  }
  const Rows rows = rows_of(tensor, batch_.size(), path);
  if (tensors_.size() == tensors_.capacity()) tensors_.reserve(2 * tensors_.size() + 8);
  tensors_.push_back(tensor);
  return add(path, {static_cast<char*>(tensor.data_ptr()), rows.step, rows.bytes});
}

std::int32_t Writer::field(Path path, SizesView row, c10::ScalarType dtype) {
  if (closed_)
    fail(Code::invalid_argument, "cannot bind ", show_path(path), ": the writer is closed");
  const auto check = [&](c10::ScalarType found, SizesView sizes) {
    if (found != dtype) {
      fail(Code::dtype, show_path(path), " is of ", found, ", asked for was ", dtype);
    }
    if (sizes != row) {
      fail(Code::shape, "a row of ", show_path(path), " has sizes ", show_sizes(sizes),
           ", asked for was ", show_sizes(row));
    }
  };
  if (growth_ != nullptr) {
    const GrowLeaf& leaf = growth_->folder().leaves()[growth_->folder().find(path)];
    check(leaf.dtype, leaf.row);
    return bind(path);
  }
  if (td_.kind_of(path) == EntryKind::none) {
    Sizes sizes = batch_;
    sizes.append(row.begin(), row.end());
    td_.set(path, at::zeros(SizesView(sizes), dtype));
  }
  const at::Tensor tensor = td_.get(path);
  if (begins_with(tensor.sizes(), batch_)) {
    check(tensor.scalar_type(), tensor.sizes().slice(batch_.size()));
  }
  return bind(path);
}

std::int32_t Writer::add(Path path, Field field) {
  names_.push_back(show_path(path));
  fields_.push_back(field);
  return static_cast<std::int32_t>(fields_.size() - 1);
}

std::int32_t Writer::bind_growing(Path path) {
  const std::size_t leaf = growth_->folder().find(path);
  const std::size_t bytes = growth_->folder().leaves()[leaf].row_bytes;
  return add(path, {growth_->memory(leaf), static_cast<std::int64_t>(bytes), bytes});
}

void Writer::grow(bool publish) {
  const Growth::Window at = growth_->advance(row_, publish);
  before_ = growth_->before();
  row_ = at.row;
  end_ = at.end;
}

std::size_t Writer::row_bytes(std::int32_t field) const {
  if (static_cast<std::uint32_t>(field) >= fields_.size()) fail_field(field);
  return fields_[static_cast<std::uint32_t>(field)].bytes;
}

void Writer::bump_versions() noexcept {
  for (const at::Tensor& tensor : tensors_) fast::bump_version(tensor);
}

void Writer::flush() {
  if (growth_ != nullptr) return grow(/*publish=*/true);
  bump_versions();
  std::vector<const MappedFile*> files;
  for (const at::Tensor& tensor : tensors_) {
    const MappedFile* file = MappedFile::of(tensor);
    if (file != nullptr) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  for (const MappedFile* file : files) file->flush();
}

void Writer::close() {
  if (closed_) return;
  // Let go even when the disk fails: the caller cannot do better with a second close.
  struct LetGo {
    Writer& writer;
    ~LetGo() {
      writer.closed_ = true;
      writer.end_ = writer.row_;
      writer.tensors_.clear();
      for (Field& field : writer.fields_) field.base = nullptr;
      writer.td_ = TensorDict(NodePtr());
      writer.growth_.reset();
    }
  } let_go{*this};
  flush();
  if (growth_ != nullptr) growth_->release();
}

void Writer::fail_field(std::int32_t field) const {
  fail(Code::index, "no field ", field, ": ", fields_.size(), " are bound");
}

void Writer::go_on(std::int32_t field, std::size_t bytes) {
  if (closed_) fail(Code::invalid_argument, "cannot put: the writer is closed");
  if (static_cast<std::uint32_t>(field) >= fields_.size()) fail_field(field);
  const std::size_t wanted = fields_[static_cast<std::uint32_t>(field)].bytes;
  if (bytes != wanted && (row_ < end_ || growth_ != nullptr)) {
    fail(Code::shape, "a row of field ", field, ", ", names_[static_cast<std::uint32_t>(field)],
         ", takes ", wanted, " bytes, ", bytes, " were given");
  }
  go_on();
}

void Writer::go_on() {
  if (closed_) fail(Code::invalid_argument, "cannot move on: the writer is closed");
  if (growth_ != nullptr) return grow(/*publish=*/false);
  fail(Code::capacity, "no row left: rows ", first_, " to ", limit_, " are written");
}

}  // namespace td
