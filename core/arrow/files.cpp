#include "core/arrow/files.h"

#include "core/arrow/arrow.h"
#include "core/arrow/library.h"
#include "core/arrow/module.h"
#include "core/base/key.h"
#include "core/formats/json_text.h"
#include "core/io/new_file.h"
#include "core/keys/entries.h"
#include "core/tree/traverse.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <functional>
#include <limits>
#include <utility>

namespace td::arrow {

namespace {

// Memory limit for a file: at least the first constant, and above that a multiple of the file's size that no
// reasonable file exceeds.
constexpr std::int64_t always_allowed = std::int64_t{4} << 30;
constexpr std::int64_t times_the_file = 1032;  // deflate's maximum ratio

constexpr std::int64_t row_group_bytes = 128 << 20;
constexpr std::int64_t row_group_rows = 1 << 20;

std::string told(const TdArrowError& error) {
  return error.text[0] == '\0' || !is_utf8(error.text) ? "no reason given" : error.text;
}

// Adds batch dimensions beyond the rows.
void widen_batch(TensorDict& td, std::int64_t dims, const std::string& where) {
  if (dims <= 1) return;
  auto_batch_size(td, dims, false);
  const auto found = static_cast<std::int64_t>(td.batch_size().size());
  if (found != dims) {
    fail(Code::shape, where, ": its columns have ", found, " leading dimensions in common, and ",
         dims, " are asked for");
  }
}

std::int64_t rows_of_group(const TensorDict& td, FileFormat format) {
  // A single record batch can be read without a copy.
  if (format == FileFormat::arrow || td.batch_size().empty())
    return std::numeric_limits<std::int64_t>::max();
  const std::int64_t all = std::max<std::int64_t>(td.batch_size()[0], 1);
  const std::int64_t bytes_of_row = static_cast<std::int64_t>(td.nbytes()) / all + 1;
  return std::clamp<std::int64_t>(row_group_bytes / bytes_of_row, 1, row_group_rows);
}

// The module's output; failures are rethrown at the end.
struct Target {
  const std::function<void(std::string_view)>& write;
  std::exception_ptr failure = {};
};

int write_to(void* user, const void* data, std::int64_t bytes) noexcept {
  Target& target = *static_cast<Target*>(user);
  try {
    target.write({static_cast<const char*>(data), static_cast<std::size_t>(bytes)});
    return 0;
  } catch (...) {
    target.failure = std::current_exception();
    return EIO;
  }
}

}  // namespace

std::int32_t module_form(FileFormat format) noexcept {
  return format == FileFormat::parquet ? TD_ARROW_MODULE_PARQUET : TD_ARROW_MODULE_IPC;
}

std::string call_of(const std::string& where, FileFormat format) {
  return where + ", " + std::string(find_format(format)->title) + ",";
}

std::int64_t memory_limit(std::int64_t bytes) noexcept {
  std::int64_t limit;
  if (__builtin_mul_overflow(bytes, times_the_file, &limit))
    return std::numeric_limits<std::int64_t>::max();
  return std::max(limit, always_allowed);
}

Code code_of(int error) noexcept {
  if (error == ENOMEM) return Code::out_of_memory;
  return error == ENOSYS ? Code::unsupported : Code::format;
}

void fail_reading(int error, const TdArrowError& given, const std::string& where,
                  FileFormat format) {
  fail(code_of(error), where, " is not ", find_format(format)->title,
       " that can be read: ", told(given));
}

void write_stream(Stream* stream, files::NewFile& file, FileFormat format, bool deflate) {
  write_stream(
      stream, [&](std::string_view bytes) { file.write(bytes.data(), bytes.size()); }, format,
      deflate, quote(file.target()));
}

void write_stream(Stream* stream, const std::function<void(std::string_view)>& write,
                  FileFormat format, bool deflate, const std::string& where) {
  Owned<Stream> held;
  std::swap(held.value, *stream);
  const Library& module = library(call_of(where, format));
  Target into{write};
  const TdArrowSink sink{&into, write_to};
  TdArrowError error = {};
  const int failed = module.write(module_form(format), &held.value, deflate, &sink, &error);
  if (into.failure) std::rethrow_exception(into.failure);
  if (failed != 0) {
    fail(failed == ENOMEM ? Code::out_of_memory : Code::unsupported, where,
         " cannot be written as ", find_format(format)->title, ": ", told(error));
  }
}

TensorDict load_file(const FileBytes& file, const FileOptions& options) {
  const FormatRow& row = *find_format(options.format);
  file.require_copies("a column");
  if (file.text().substr(0, row.magic.size()) != row.magic) {
    fail(Code::format, file.where(), " is not ", row.title, ": it does not begin with ", row.magic);
  }
  const std::string where = call_of(file.where(), options.format);
  const Library& module = library(where);
  const auto bytes = static_cast<std::int64_t>(file.size());
  const TdArrowSource source{file.data(), bytes, memory_limit(bytes), new FileBytes(file),
                             [](void* owner) { delete static_cast<FileBytes*>(owner); }};
  Stream stream = {};
  TdArrowError error = {};
  if (const int failed = module.read(module_form(options.format), &source, &stream, &error))
    fail_reading(failed, error, file.where(), options.format);
  ImportOptions given;
  given.separator = options.separator.value_or("");
  given.max_depth = options.max_depth;
  given.max_entries = options.max_entries;
  TensorDict td = [&] {
    try {
      return Reader(&stream, code_of).read(given);
    } catch (const Error& failure) {
      fail(failure.code(), file.where(), ": ", failure.what());
    }
  }();
  widen_batch(td, options.batch_dims, file.where());
  return td;
}

void save_file(const TensorDict& td, const std::string& path, const FileOptions& options) {
  const std::string target = new_file_path(path);
  library(call_of(quote(target), options.format));  // before the work
  Owned<Stream> stream;
  export_stream(td, {options.separator.value_or(""), false}, rows_of_group(td, options.format),
                &stream.value);
  files::NewFile file(target);
  write_stream(&stream.value, file, options.format, options.deflate);
  file.commit(options.durable);
}

}  // namespace td::arrow
