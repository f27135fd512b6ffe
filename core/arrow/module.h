// core/arrow/module.h: the interface of the module built on the Arrow libraries. It is compiled
// separately, links nothing of this library, and is loaded when the first file is opened
// (docs/design/files.md).
#pragma once

#include "core/arrow/abi.h"

#include <cstdint>

// Increase with each change here: a module of another version is not used.
#define TD_ARROW_MODULE_VERSION 2

#define TD_ARROW_MODULE_PARQUET 0
#define TD_ARROW_MODULE_IPC 1  // a file of Arrow's record batches

// The text of a failed call, which returned an errno.
struct TdArrowError {
  char text[1024];
};

// The bytes of a file. `release` is called once, when they are no longer used.
struct TdArrowSource {
  const void* data;
  std::int64_t bytes;
  std::int64_t max_memory;  // limit for allocations at any time
  void* owner;
  void (*release)(void* owner);
};

// The output of a file. `write` returns 0 or an errno; after a failure it is not called again.
struct TdArrowSink {
  void* user;
  int (*write)(void* user, const void* data, std::int64_t bytes);
};

// An open file, of which parts are read: row groups of Parquet, record batches of Arrow. Not thread-safe.
struct TdArrowFile;

extern "C" {

using TdArrowVersion = std::int32_t();
// Fully validates each record batch.
using TdArrowRead = int(std::int32_t form, const TdArrowSource* source, ArrowArrayStream* stream,
                        TdArrowError* error);
using TdArrowOpen = int(std::int32_t form, const TdArrowSource* source, TdArrowFile** file,
                        TdArrowError* error);
// What was read of it stays.
using TdArrowClose = void(TdArrowFile* file);
using TdArrowAbout = int(TdArrowFile* file, ArrowSchema* schema, std::int64_t* parts,
                         TdArrowError* error);
using TdArrowRows = int(TdArrowFile* file, std::int64_t part, std::int64_t* rows,
                        TdArrowError* error);
// The columns with these numbers in the schema, rising. As td_arrow_file_read.
using TdArrowReadPart = int(TdArrowFile* file, std::int64_t part, const std::int32_t* columns,
                            std::int64_t count, ArrowArrayStream* stream, TdArrowError* error);
// Always consumes the stream. Each batch becomes a row group. Parquet files are always compressed.
using TdArrowWrite = int(std::int32_t form, ArrowArrayStream* stream, std::int32_t compress,
                         const TdArrowSink* sink, TdArrowError* error);

#ifdef TD_ARROW_MODULE
#define TD_ARROW_MODULE_API __attribute__((visibility("default")))
TD_ARROW_MODULE_API TdArrowVersion td_arrow_module_version;
TD_ARROW_MODULE_API TdArrowRead td_arrow_file_read;
TD_ARROW_MODULE_API TdArrowOpen td_arrow_file_open;
TD_ARROW_MODULE_API TdArrowClose td_arrow_file_close;
TD_ARROW_MODULE_API TdArrowAbout td_arrow_file_about;
TD_ARROW_MODULE_API TdArrowRows td_arrow_file_rows;
TD_ARROW_MODULE_API TdArrowReadPart td_arrow_file_read_part;
TD_ARROW_MODULE_API TdArrowWrite td_arrow_file_write;
#endif
}
