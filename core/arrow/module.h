// core/arrow/module.h: the interface of the module built on the Arrow libraries. It is compiled
// separately, links nothing of this library, and is loaded when the first file is opened
// (docs/design/files.md).
#pragma once

#include "core/arrow/abi.h"

#include <cstdint>

// Increase with each change here: a module of another version is not used.
#define TD_ARROW_MODULE_VERSION 1

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

extern "C" {

using TdArrowVersion = std::int32_t();
// Fully validates each record batch.
using TdArrowRead = int(std::int32_t form, const TdArrowSource* source, ArrowArrayStream* stream,
                        TdArrowError* error);
// Always consumes the stream. Each batch becomes a row group. Parquet files are always compressed.
using TdArrowWrite = int(std::int32_t form, ArrowArrayStream* stream, std::int32_t compress,
                         const TdArrowSink* sink, TdArrowError* error);

#ifdef TD_ARROW_MODULE
#define TD_ARROW_MODULE_API __attribute__((visibility("default")))
TD_ARROW_MODULE_API TdArrowVersion td_arrow_module_version;
TD_ARROW_MODULE_API TdArrowRead td_arrow_file_read;
TD_ARROW_MODULE_API TdArrowWrite td_arrow_file_write;
#endif
}
