#include "core/interop/arrow_files.h"

#include "core/base/key.h"
#include "core/formats/json_text.h"
#include "core/interop/arrow.h"
#include "core/interop/arrow_library.h"
#include "core/interop/arrow_module.h"
#include "core/io/new_file.h"
#include "core/keys/entries.h"
#include "core/tree/traverse.h"

#include <algorithm>
#include <cerrno>
#include <exception>
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

// A format, and how the module numbers it.
struct Form {
  const FormatRow& row;
  std::int32_t number;
};
constexpr Form parquet{*find_format(FileFormat::parquet), TD_ARROW_MODULE_PARQUET};
constexpr Form ipc{*find_format(FileFormat::arrow), TD_ARROW_MODULE_IPC};

// Maps a read failure; the file itself is in memory.
Code code_of(int error) noexcept {
  if (error == ENOMEM) return Code::out_of_memory;
  return error == ENOSYS ? Code::unsupported : Code::format;
}

std::string told(const TdArrowError& error) {
  return error.text[0] == '\0' || !is_utf8(error.text) ? "no reason given" : error.text;
}

// The file and its format, for the message that the module is missing.
std::string call_of(const std::string& where, const Form& form) {
  return where + ", " + std::string(form.row.title) + ",";
}

std::int64_t memory_limit(std::int64_t bytes) noexcept {
  std::int64_t limit;
  if (__builtin_mul_overflow(bytes, times_the_file, &limit))
    return std::numeric_limits<std::int64_t>::max();
  return std::max(limit, always_allowed);
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

std::int64_t rows_of_group(const TensorDict& td, const Form& form) {
  // One record batch is read back without a copy.
  if (form.number == TD_ARROW_MODULE_IPC || td.batch_size().empty())
    return std::numeric_limits<std::int64_t>::max();
  const std::int64_t all = std::max<std::int64_t>(td.batch_size()[0], 1);
  const std::int64_t bytes_of_row = static_cast<std::int64_t>(td.nbytes()) / all + 1;
  return std::clamp<std::int64_t>(row_group_bytes / bytes_of_row, 1, row_group_rows);
}

// The module's output; failures are rethrown at the end.
struct Target {
  files::NewFile& file;
  std::exception_ptr failure = {};
};

int write_to(void* user, const void* data, std::int64_t bytes) noexcept {
  Target& target = *static_cast<Target*>(user);
  try {
    target.file.write(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
    return 0;
  } catch (...) {
    target.failure = std::current_exception();
    return EIO;
  }
}

TensorDict load(const FileBytes& file, const Form& form, const FileOptions& options) {
  file.require_copies("a column");
  const std::string_view magic = form.row.magic;
  if (file.text().substr(0, magic.size()) != magic) {
    fail(Code::format, file.where(), " is not ", form.row.title, ": it does not begin with ",
         magic);
  }
  const std::string where = call_of(file.where(), form);
  const Library& module = library(where);
  const auto bytes = static_cast<std::int64_t>(file.size());
  const TdArrowSource source{file.data(), bytes, memory_limit(bytes), new FileBytes(file),
                             [](void* owner) { delete static_cast<FileBytes*>(owner); }};
  Stream stream = {};
  TdArrowError error = {};
  if (const int failed = module.read(form.number, &source, &stream, &error)) {
    fail(code_of(failed), file.where(), " is not ", form.row.title,
         " that can be read: ", told(error));
  }
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

void save(const TensorDict& td, const std::string& path, const Form& form,
          const FileOptions& options) {
  const std::string target = new_file_path(path);
  const std::string where = quote(target);
  const Library& module = library(call_of(where, form));
  Owned<Stream> stream;
  export_stream(td, {options.separator.value_or(""), false}, rows_of_group(td, form),
                &stream.value);
  files::NewFile file(target);
  Target into{file};
  const TdArrowSink sink{&into, write_to};
  TdArrowError error = {};
  const int failed = module.write(form.number, &stream.value, options.deflate, &sink, &error);
  if (into.failure) std::rethrow_exception(into.failure);
  if (failed != 0) {
    fail(failed == ENOMEM ? Code::out_of_memory : Code::unsupported, where,
         " cannot be written as ", form.row.title, ": ", told(error));
  }
  file.commit(options.durable);
}

}  // namespace

TensorDict load_parquet(const FileBytes& file, const FileOptions& options) {
  return load(file, parquet, options);
}
TensorDict load_ipc(const FileBytes& file, const FileOptions& options) {
  return load(file, ipc, options);
}
void save_parquet(const TensorDict& td, const std::string& path, const FileOptions& options) {
  save(td, path, parquet, options);
}
void save_ipc(const TensorDict& td, const std::string& path, const FileOptions& options) {
  save(td, path, ipc, options);
}

}  // namespace td::arrow
