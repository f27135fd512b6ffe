#include "core/append/growing_writer.h"

namespace td {

GrowingWriter::GrowingWriter(std::unique_ptr<Growth> growth)
    : Writer(0, 0), growth_(std::move(growth)), folder_(growth_->folder().dir()) {
  growth_->begin(row_);
  take(growth_->advance(0, Want::hand_over));
}

GrowingWriter::~GrowingWriter() {
  if (closed()) return;
  try {
    close();
  } catch (...) {
    // Nobody is left to be told; what is published is whole.
  }
}

Writer::Field GrowingWriter::find_field(Path path) {
  const std::size_t leaf = growth_->folder().find(path);
  const std::size_t bytes = growth_->folder().leaves()[leaf].row_bytes;
  const auto begin = reinterpret_cast<std::uintptr_t>(growth_->memory(leaf));
  return {begin - static_cast<std::uintptr_t>(window_) * bytes, bytes, bytes};
}

void GrowingWriter::declare_field(Path path, SizesView row, c10::ScalarType dtype) {
  const GrowLeaf& leaf = growth_->folder().leaves()[growth_->folder().find(path)];
  require_form(path, {leaf.dtype, leaf.row}, {dtype, row});
}

void GrowingWriter::take(const Growth::Window& window) {
  const auto rows = static_cast<std::uintptr_t>(window.first - window_);
  if (rows != 0) {
    for (Field& field : fields_) field.base -= rows * field.step;
  }
  window_ = window.first;
  end_ = window.end;
}

void GrowingWriter::grow(Want want) { take(growth_->advance(row(), want)); }

void GrowingWriter::flush() {
  if (!closed()) grow(Want::published);
}
void GrowingWriter::more_rows() { grow(Want::room); }
void GrowingWriter::window_full() { grow(Want::hand_over); }
void GrowingWriter::before_let_go() { growth_->release(); }
void GrowingWriter::let_go() noexcept { growth_.reset(); }

}  // namespace td
