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
  const std::size_t bytes = fields_[static_cast<std::uint32_t>(field)].bytes;
  if (bytes == text_bytes) fail_text(field, true);
  return bytes;
}

void Writer::put_text(std::int32_t field, std::string_view text) {
  if (closed_) fail(Code::invalid_argument, "cannot put: the writer is closed");
  const auto i = static_cast<std::uint32_t>(field);
  if (i >= fields_.size()) fail_field(field);
  if (fields_[i].bytes != text_bytes) fail_text(field, false);
  if (!is_utf8(text)) fail(Code::invalid_argument, "the text for ", names_[i], " is not UTF-8");
  if (row() >= end_) make_room();
  const Field& to = fields_[i];
  reinterpret_cast<std::string*>(to.base + static_cast<std::uintptr_t>(row()) * to.step)
      ->assign(text);
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

void Writer::fail_text(std::int32_t field, bool is_text) const {
  const std::string& name = names_[static_cast<std::uint32_t>(field)];
  fail(Code::wrong_entry, "field ", field, ", ", name,
       is_text ? ", takes texts, not bytes" : ", is a tensor and takes no text");
}

void Writer::make_room(std::int32_t field, std::size_t bytes) {
  if (closed_) fail(Code::invalid_argument, "cannot put: the writer is closed");
  if (static_cast<std::uint32_t>(field) >= fields_.size()) fail_field(field);
  const std::size_t wanted = fields_[static_cast<std::uint32_t>(field)].bytes;
  if (wanted == text_bytes) fail_text(field, true);
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
