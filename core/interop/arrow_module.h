// core/interop/arrow_module.h: what the module offers that stands on the Arrow libraries. It is compiled alone, is linked
// with nothing of this library, and is loaded when the first file is opened (docs/design/files.md).
#pragma once

#include "core/interop/arrow_abi.h"

#include <cstdint>

// Another number when anything here changes: a module of another version is not used.
#define TD_ARROW_MODULE_VERSION 1

#define TD_ARROW_MODULE_PARQUET 0
#define TD_ARROW_MODULE_IPC 1  // record batches of Arrow in a file

// What a failed call says: one that returned an errno.
struct TdArrowError {
  char text[1024];
};

// The bytes of a file. `release` is called once, when nothing reads them any more.
struct TdArrowSource {
  const void* data;
  std::int64_t bytes;
  std::int64_t max_memory;  // most that may be allocated at a time
  void* owner;
  void (*release)(void* owner);
};

// Where a file is written. `write` returns 0 or an errno; it is not called again after a failure.
struct TdArrowSink {
  void* user;
  int (*write)(void* user, const void* data, std::int64_t bytes);
};

extern "C" {

using TdArrowVersion = std::int32_t();
// Each record batch is validated in full before it leaves the stream.
using TdArrowRead = int(std::int32_t form, const TdArrowSource* source, ArrowArrayStream* stream,
                        TdArrowError* error);
// Takes the stream over, whatever it returns. Each batch of it is a row group. Files of Parquet are always compressed.
using TdArrowWrite = int(std::int32_t form, ArrowArrayStream* stream, std::int32_t compress,
                         const TdArrowSink* sink, TdArrowError* error);

#ifdef TD_ARROW_MODULE
#define TD_ARROW_MODULE_API __attribute__((visibility("default")))
TD_ARROW_MODULE_API TdArrowVersion td_arrow_module_version;
TD_ARROW_MODULE_API TdArrowRead td_arrow_file_read;
TD_ARROW_MODULE_API TdArrowWrite td_arrow_file_write;
#endif
}
