// core/arrow/arrow.h: imports and exports Arrow record batches through the C data interface.
#pragma once

#include "core/arrow/abi.h"
#include "core/tree/tensordict.h"

#include <cstdint>
#include <memory>
#include <string>

namespace td::arrow {

struct ExportOptions {
  std::string separator = {};  // joins names of nested dictionaries; empty: uses structs
  bool complex_pairs = false;  // complex numbers become lists of two
};

// Fills both structs; the receiver releases each once, on any thread. Columns share the tensors' memory if it
// is row-major on the CPU. Changes nothing if it throws.
void export_batch(const TensorDict& td, const ExportOptions& options, Schema* schema, Array* array);

// A stream of record batches of `rows` rows; the last may be shorter. All are slices of one batch, so column
// types agree; they outlive the stream. Changes nothing if it throws.
void export_stream(const TensorDict& td, const ExportOptions& options, std::int64_t rows,
                   Stream* stream);

enum class Nulls {
  refuse,
  nan,   // NaN in floating-point columns
  mask,  // a bool tensor beside the column: true where there are values
};

struct ImportOptions {
  Nulls nulls = Nulls::refuse;
  std::string separator = {};  // splits column names into nested keys; empty: does not split
  bool copy = false;           // always copies
  bool even_lists = false;     // lists with offsets, too, if all have one length
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;
};

// A struct that is released with this object.
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

// A parsed record batch. The structs stay the caller's until commit() takes them over; without commit(),
// destroy the result first.
class Import {
 public:
  Import(Schema* schema, Array* array, const ImportOptions& options);
  const TensorDict& result() const noexcept { return td_; }
  // Takes the structs over: their release becomes null.
  void commit() noexcept;

 private:
  Schema* schema_;
  Array* array_;
  std::shared_ptr<Owned<Array>> owner_;  // freed with the last tensor that uses it
  TensorDict td_;
};

// Reads all record batches of a stream. Always releases the stream at the end.
class Reader {
 public:
  // `code_of` maps an errno of the stream to a code; nullptr: always Code::io.
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
