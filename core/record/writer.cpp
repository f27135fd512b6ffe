// Shared by all writers.
#include "core/record/writer.h"

#include "core/base/error.h"

namespace td::record {

namespace {

std::string_view name_of(DType dtype) noexcept {
  const DTypeRow* row = find_dtype(dtype);
  return row == nullptr ? "of another dtype" : row->torch;
}

}  // namespace

std::int32_t Writer::bind(Path path) {
  if (closed_) {
    fail(Code::invalid_argument, "cannot bind ", show_path(path), ": the writer is closed");
  }
  if (fields_.size() == fields_.capacity()) fields_.reserve(2 * fields_.size() + 8);
  fields_.push_back(find_field(path));
  names_.push_back(show_path(path));
  return static_cast<std::int32_t>(fields_.size() - 1);
}

std::int32_t Writer::field(Path path, ShapeView row, DType dtype) {
  if (closed_) {
    fail(Code::invalid_argument, "cannot bind ", show_path(path), ": the writer is closed");
  }
  declare_field(path, row, dtype);
  return bind(path);
}

void Writer::require_form(Path path, const Form& found, const Form& wanted) {
  if (found.dtype != wanted.dtype) {
    fail(Code::dtype, show_path(path), " is ", name_of(found.dtype), "; requested ",
         name_of(wanted.dtype));
  }
  if (found.row != wanted.row) {
    fail(Code::shape, "a row of ", show_path(path), " has sizes ", show_sizes(found.row),
         "; requested ", show_sizes(wanted.row));
  }
}

std::size_t Writer::row_bytes(std::int32_t field) const {
  if (static_cast<std::uint32_t>(field) >= fields_.size()) fail_field(field);
  return fields_[static_cast<std::uint32_t>(field)].bytes;
}

void Writer::close() {
  if (closed_) return;
  // Release the target even if the flush fails: a second close() could not do better.
  struct LetGo {
    Writer& writer;
    ~LetGo() {
      writer.closed_ = true;
      writer.end_ = writer.row();
      for (Field& field : writer.fields_) field.base = 0;
      writer.let_go();
    }
  } let_go{*this};
  flush();
  before_let_go();
}

void Writer::fail_field(std::int32_t field) const {
  fail(Code::index, "no field ", field, ": ", fields_.size(), " are bound");
}

void Writer::make_room(std::int32_t field, std::size_t bytes) {
  if (closed_) fail(Code::invalid_argument, "cannot put: the writer is closed");
  if (static_cast<std::uint32_t>(field) >= fields_.size()) fail_field(field);
  const std::size_t wanted = fields_[static_cast<std::uint32_t>(field)].bytes;
  if (bytes != wanted && (row() < end_ || can_grow())) {
    fail(Code::shape, "a row of field ", field, ", ", names_[static_cast<std::uint32_t>(field)],
         ", takes ", wanted, " bytes, ", bytes, " were given");
  }
  make_room();
}

void Writer::make_room() {
  if (closed_) fail(Code::invalid_argument, "cannot move on: the writer is closed");
  more_rows();
}

}  // namespace td::record
