#include "core/record/recorder.h"

#include "core/record/new_folder.h"

namespace td::record {

std::unique_ptr<Recorder> Recorder::open(const std::string& dir,
                                         const std::vector<FieldForm>& fields,
                                         const Options& options) {
  const std::string path = named_folder(dir);
  std::function<FolderTexts()> texts;
  if (!fields.empty()) texts = [&] { return texts_of(fields); };
  auto recording =
      std::make_unique<Recording>(path, open_or_make(path, texts, options.durable), options);
  const Layout& folder = recording->folder();
  for (const FieldForm& field : fields) {
    const std::vector<std::string_view> names(field.path.begin(), field.path.end());
    const LayoutLeaf& leaf = folder.leaves()[folder.find(names)];
    require_form(names, {leaf.dtype, leaf.row}, {field.dtype, field.row});
  }
  if (!fields.empty() && folder.leaves().size() != fields.size()) {
    fail(Code::key_not_found, "\"", path, "\" has ", folder.leaves().size(), " tensors, not the ",
         fields.size(), " fields of this recording");
  }
  return std::make_unique<Recorder>(std::move(recording));
}

Recorder::Recorder(std::unique_ptr<Recording> recording)
    : Writer(0, 0), recording_(std::move(recording)), folder_(recording_->folder().dir()) {
  recording_->begin(row_);
  take(recording_->advance(0, Want::hand_over));
}

Recorder::~Recorder() {
  if (closed()) return;
  try {
    close();
  } catch (...) {
    // A destructor cannot report failures; published rows are complete.
  }
}

Writer::Field Recorder::find_field(Path path) {
  check_path(path);
  if (const auto node = recording_->folder().find_by_row(path)) {
    constexpr std::size_t step = sizeof(std::string);
    const auto begin = reinterpret_cast<std::uintptr_t>(recording_->texts(*node));
    return {begin - static_cast<std::uintptr_t>(window_) * step, step, text_bytes};
  }
  const std::size_t leaf = recording_->folder().find(path);
  const std::size_t bytes = recording_->folder().leaves()[leaf].row_bytes;
  const auto begin = reinterpret_cast<std::uintptr_t>(recording_->memory(leaf));
  return {begin - static_cast<std::uintptr_t>(window_) * bytes, bytes, bytes};
}

void Recorder::declare_field(Path path, ShapeView row, DType dtype) {
  const LayoutLeaf& leaf = recording_->folder().leaves()[recording_->folder().find(path)];
  require_form(path, {leaf.dtype, leaf.row}, {dtype, row});
}

void Recorder::take(const Recording::Window& window) {
  const auto rows = static_cast<std::uintptr_t>(window.first - window_);
  if (rows != 0) {
    for (Field& field : fields_) field.base -= rows * field.step;
  }
  window_ = window.first;
  end_ = window.end;
}

void Recorder::grow(Want want) { take(recording_->advance(row(), want)); }

void Recorder::flush() {
  if (!closed()) grow(Want::published);
}
void Recorder::more_rows() { grow(Want::room); }
void Recorder::window_full() { grow(Want::hand_over); }
void Recorder::before_let_go() { recording_->release(); }
void Recorder::let_go() noexcept { recording_.reset(); }

}  // namespace td::record
