#include "core/append/growing_writer.h"

namespace td {

GrowingWriter::GrowingWriter(std::unique_ptr<Growth> growth)
    : Writer(0, 0), growth_(std::move(growth)), folder_(growth_->folder().dir()) {
  end_ = growth_->advance(0, Want::hand_over).end;
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
  return {growth_->memory(leaf), static_cast<std::int64_t>(bytes), bytes};
}

void GrowingWriter::declare_field(Path path, SizesView row, c10::ScalarType dtype) {
  const GrowLeaf& leaf = growth_->folder().leaves()[growth_->folder().find(path)];
  require_form(path, {leaf.dtype, leaf.row}, {dtype, row});
}

void GrowingWriter::grow(Want want) {
  const Growth::Window at = growth_->advance(row_, want);
  before_ = growth_->before();
  row_ = at.row;
  end_ = at.end;
}

void GrowingWriter::flush() {
  if (!closed()) grow(Want::published);
}
void GrowingWriter::more_rows() { grow(Want::room); }
void GrowingWriter::window_full() { grow(Want::hand_over); }
void GrowingWriter::before_let_go() { growth_->release(); }
void GrowingWriter::let_go() noexcept { growth_.reset(); }

}  // namespace td
