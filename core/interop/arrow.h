// core/interop/arrow.h: record batches of Arrow, in and out, by the structs of its C data interface.
#pragma once

#include "core/interop/arrow_abi.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <memory>
#include <string>

namespace td::arrow {

struct ExportOptions {
  std::string separator = {};  // joins names of nested dictionaries; empty: these are structs
  bool complex_pairs = false;  // complex numbers become lists of two
};

// Fills both structs, whose release the receiver calls once, on any thread. Columns are the memory of
// the tensors where it is row-major on the CPU. Changes nothing when it throws.
void export_batch(const TensorDict& td, const ExportOptions& options, Schema* schema, Array* array);

// The same as a stream of record batches of so many rows; the last has what is left. All batches are parts of one, so
// every column has one type; they stay when the stream is released. Changes nothing when it throws.
void export_stream(const TensorDict& td, const ExportOptions& options, std::int64_t rows,
                   Stream* stream);

enum class Nulls {
  refuse,
  nan,   // of floating point
  mask,  // a bool tensor beside the column: what is there
};

struct ImportOptions {
  Nulls nulls = Nulls::refuse;
  std::string separator = {};  // splits names of columns into nested keys; empty: does not
  bool copy = false;           // tensors of their own
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;
};

// A struct that is released with this one.
template <class Struct>
struct Owned {
  Struct value = {};
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (value.release != nullptr) value.release(&value);
  }
};

// A record batch read. Both structs stay the caller's until commit() moves them in; without it, what was
// read must go first.
class Import {
 public:
  Import(Schema* schema, Array* array, const ImportOptions& options);
  const TensorDict& result() const noexcept { return td_; }
  // Their release is null afterwards.
  void commit() noexcept;

 private:
  Schema* schema_;
  Array* array_;
  std::shared_ptr<Owned<Array>> owner_;  // goes with the last tensor that reads it
  TensorDict td_;
};

// All record batches of a stream, one after the other. The stream is released at the end, whatever came.
class Reader {
 public:
  // `code_of` says what an errno of the stream is; NULL: Code::io, whatever it is.
  explicit Reader(Stream* stream, Code (*code_of)(int error) noexcept = nullptr) noexcept
      : stream_(stream), code_of_(code_of) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();
  TensorDict read(const ImportOptions& options) const;

 private:
  [[noreturn]] void fail_stream(int error, const char* what) const;

  Stream* stream_;
  Code (*code_of_)(int error) noexcept;
};

}  // namespace td::arrow
