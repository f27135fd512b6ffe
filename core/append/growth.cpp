#include "core/append/growth.h"

#include "core/io/file_io.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace td {

namespace {

constexpr std::int64_t default_buffer = std::int64_t{1} << 20;
constexpr std::size_t line = 64;  // of the cache: leaves begin at one
constexpr std::int64_t no_limit = std::int64_t{1} << 20;

}  // namespace

Growth::Growth(const std::string& dir, files::FolderLock lock, const AppendOptions& options)
    : lock_(std::move(lock)),
      folder_(dir),
      publisher_(folder_, lock_, options.durable, open_sums(folder_, options.checksums)),
      files_(folder_.leaves().size()),
      durable_(options.durable),
      opened_at_(folder_.rows()),
      base_(folder_.rows()) {
  if (folder_.is_stack()) {
    fail(Code::unsupported, "\"", dir,
         "\" is a lazy stack along the rows: append to it, or write to a shard of it");
  }
  if (const GrowNode* values = folder_.values_by_row()) {
    std::string name = values->path.empty() ? std::string() : values->path.back();
    fail(Code::unsupported, quote(name), " in \"", dir,
         "\" holds a value for each row, which a writer cannot add; append dictionaries instead");
  }
  if (options.publish_rows < 0 || options.publish_bytes < 0 || options.buffer_bytes < 0) {
    fail(Code::invalid_argument, "a number of rows or bytes cannot be negative");
  }
  std::size_t row_bytes = 0;
  for (const GrowLeaf& leaf : folder_.leaves()) {
    if (__builtin_add_overflow(row_bytes, leaf.row_bytes, &row_bytes)) {
      fail(Code::out_of_memory, "a row of \"", dir, "\" has more bytes than can be addressed");
    }
  }
  every_ = options.publish_rows;
  if (options.publish_bytes != 0) {
    const auto bytes = static_cast<std::int64_t>(std::max<std::size_t>(row_bytes, 1));
    const std::int64_t rows = std::max<std::int64_t>(options.publish_bytes / bytes, 1);
    every_ = every_ == 0 ? rows : std::min(every_, rows);
  }
  make_window(options.buffer_bytes == 0 ? default_buffer : options.buffer_bytes);
  // Also what a writer that was killed has left behind the end goes now.
  for (std::size_t i = 0; i < files_.size() && folder_.rows() != 0; ++i) {
    if (folder_.leaves()[i].row_bytes != 0) files_[i].file = publisher_.open(i);
  }
}

void Growth::make_window(std::int64_t wanted_bytes) {
  std::size_t row_bytes = 0;
  for (const GrowLeaf& leaf : folder_.leaves()) row_bytes += leaf.row_bytes;
  window_ = row_bytes == 0
                ? no_limit
                : std::max<std::int64_t>(wanted_bytes / static_cast<std::int64_t>(row_bytes), 1);
  const auto round = [](std::size_t bytes) { return (bytes + line - 1) / line * line; };
  std::size_t bytes = 0;
  for (const GrowLeaf& leaf : folder_.leaves()) {
    bytes += round(leaf.row_bytes * static_cast<std::size_t>(window_));
  }
  memory_bytes_ = std::max(bytes, line);
  memory_.reset(static_cast<char*>(std::aligned_alloc(line, memory_bytes_)));
  if (!memory_) fail(Code::out_of_memory, "no memory for a buffer of ", bytes, " bytes");
  std::memset(memory_.get(), 0, memory_bytes_);
  char* next = memory_.get();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    files_[i].memory = next;
    next += round(folder_.leaves()[i].row_bytes * static_cast<std::size_t>(window_));
  }
}

Growth::Window Growth::advance(std::int64_t row, bool publish_now) {
  const std::int64_t pending = base_ + row - folder_.rows();
  if (publish_now || (every_ != 0 && pending >= every_)) {
    publish(row);
  } else {
    write(row);
  }
  if (row == window_) {
    // Fields that are not put are zeros.
    std::memset(memory_.get(), 0, memory_bytes_);
    base_ += row;
    written_ = 0;
    row = 0;
  }
  std::int64_t end = window_;
  if (every_ != 0) end = std::min(end, std::max(folder_.rows() + every_ - base_, row + 1));
  return {row, end};
}

void Growth::write(std::int64_t row) {
  if (row == written_) return;
  const auto rows = static_cast<std::size_t>(row - written_);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::size_t bytes = folder_.leaves()[i].row_bytes;
    if (bytes == 0) continue;
    File& to = files_[i];
    if (!to.file.is_open()) to.file = publisher_.open(i);
    files::write_all_at(to.file.get(), to.memory + static_cast<std::size_t>(written_) * bytes,
                        rows * bytes, static_cast<std::uint64_t>(base_ + written_) * bytes,
                        publisher_.path(i));
  }
  for (std::size_t i = 0; publisher_.sums() != nullptr && i < files_.size(); ++i) {
    const std::size_t bytes = folder_.leaves()[i].row_bytes;
    publisher_.sums()->add(i, files_[i].memory + static_cast<std::size_t>(written_) * bytes,
                           rows * bytes);
  }
  written_ = row;
}

void Growth::publish(std::int64_t row) {
  write(row);
  if (base_ + row == folder_.rows()) return;
  const auto each = [this](auto&& f) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].file.is_open()) f(files_[i].file, i);
    }
  };
  if (durable_) {
    each([this](auto& file, std::size_t i) { sync_file(file.get(), publisher_.path(i)); });
  }
  publisher_.publish(base_ + row);
  // Where files cannot be linked the folder has copies of them now.
  each([this](auto& file, std::size_t i) {
    if (!Publisher::still_there(file.get(), publisher_.path(i))) file = publisher_.open(i);
  });
}

void Growth::release() {
  struct LetGo {
    Growth& growth;
    ~LetGo() {
      growth.files_.clear();
      growth.lock_.release();
    }
  } let_go{*this};
  for (std::size_t i = 0; i < files_.size() && folder_.rows() != 0; ++i) {
    if (!files_[i].file.is_open()) continue;
    const auto rows = static_cast<std::uint64_t>(folder_.rows());
    cut_file(files_[i].file.get(), rows * folder_.leaves()[i].row_bytes, publisher_.path(i));
  }
}

}  // namespace td
