// core/arrow/files.h: files of Parquet and Arrow, through a separate module. Without the module each
// function throws Code::unsupported.
#pragma once

#include "core/arrow/module.h"
#include "core/base/error.h"
#include "core/flat/file_options.h"

#include <functional>
#include <string>
#include <string_view>

namespace td::arrow {

// Reads all rows with td::arrow::Reader. `options.format` is parquet or arrow.
TensorDict load_file(const FileBytes& file, const FileOptions& options);

// Writes a file aside, then renames it.
void save_file(const TensorDict& td, const std::string& path, const FileOptions& options);

// What reading and writing share.
std::int32_t module_form(FileFormat format) noexcept;
std::string call_of(const std::string& where, FileFormat format);  // begins a message
std::int64_t memory_limit(std::int64_t bytes) noexcept;            // of a file of `bytes` bytes
Code code_of(int error) noexcept;                                  // of a failed reading
[[noreturn]] void fail_reading(int error, const TdArrowError& told, const std::string& where,
                               FileFormat format);

// Writes the record batches of a stream into a file. Always releases the stream.
void write_stream(Stream* stream, files::NewFile& file, FileFormat format, bool deflate);
// The same into anything; `where` begins the messages.
void write_stream(Stream* stream, const std::function<void(std::string_view)>& write,
                  FileFormat format, bool deflate, const std::string& where);

}  // namespace td::arrow
