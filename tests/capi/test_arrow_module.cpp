// The module for files of Arrow and Parquet, called as the library calls it: limits, and what fails on the way.
#include "core/arrow/module.h"

#include <dlfcn.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "td_test.h"
extern "C" {
#include "td_files.h"
}

namespace {

struct Module {
  TdArrowVersion *version;
  TdArrowRead *read;
  TdArrowWrite *write;
};

Module open_module() {
  const char *path = std::getenv("TD_ARROW_MODULE");
  if (path == nullptr) td_test_skip("TD_ARROW_MODULE names no module");
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) td_test_fail(__FILE__, __LINE__, "%s", dlerror());
  return {reinterpret_cast<TdArrowVersion *>(dlsym(module, "td_arrow_module_version")),
          reinterpret_cast<TdArrowRead *>(dlsym(module, "td_arrow_file_read")),
          reinterpret_cast<TdArrowWrite *>(dlsym(module, "td_arrow_file_write"))};
}

int released = 0;

int read(const Module &module, const char *bytes, size_t size, int64_t max_memory,
         ArrowArrayStream *stream, TdArrowError *error) {
  const TdArrowSource source{bytes, static_cast<int64_t>(size), max_memory, &released,
                             [](void *count) { ++*static_cast<int *>(count); }};
  released = 0;
  return module.read(TD_ARROW_MODULE_PARQUET, &source, stream, error);
}

char *dense(size_t *size) {
  return td_read_file(td_path(td_golden("../tables"), "dense.parquet"), size);
}

// A stream of one column of so many zeros, of which it counts the batches and its release.
struct Zeros {
  int batches = 0, released = 0;
};

const int64_t zeros[1 << 16] = {};
const void *buffers[2] = {nullptr, zeros};
ArrowSchema column_schema, *schema_children[1] = {&column_schema};
ArrowArray column_array, *array_children[1] = {&column_array};
const void *no_buffers[1] = {nullptr};

int schema_of_zeros(ArrowArrayStream *, ArrowSchema *out) {
  column_schema = {"l",    "a",     nullptr, 0,
                   0,      nullptr, nullptr, [](ArrowSchema *made) { made->release = nullptr; },
                   nullptr};
  *out = {"+s",
          "",
          nullptr,
          0,
          1,
          schema_children,
          nullptr,
          [](ArrowSchema *made) {
            column_schema.release = nullptr;
            made->release = nullptr;
          },
          nullptr};
  return 0;
}

int next_zeros(ArrowArrayStream *stream, ArrowArray *out) {
  Zeros &made = *static_cast<Zeros *>(stream->private_data);
  if (made.batches++ == 100) return EOVERFLOW;
  column_array = {1 << 16, 0,       0,
                  2,       0,       buffers,
                  nullptr, nullptr, [](ArrowArray *array) { array->release = nullptr; },
                  nullptr};
  *out = {1 << 16,
          0,
          0,
          1,
          1,
          no_buffers,
          array_children,
          nullptr,
          [](ArrowArray *array) {
            column_array.release = nullptr;
            array->release = nullptr;
          },
          nullptr};
  return 0;
}

ArrowArrayStream stream_of(Zeros *made) {
  return {schema_of_zeros, next_zeros,
          [](ArrowArrayStream *) -> const char * { return "no more zeros"; },
          [](ArrowArrayStream *stream) {
            ++static_cast<Zeros *>(stream->private_data)->released;
            stream->release = nullptr;
          },
          made};
}

TD_TEST(memory_has_a_limit) {
  const Module module = open_module();
  TD_CHECK_INT(module.version(), TD_ARROW_MODULE_VERSION);
  size_t size = 0;
  char *bytes = dense(&size);
  ArrowArrayStream stream;
  TdArrowError error{};
  ArrowArray batch{};
  // Two million numbers of eight bytes.
  int failed = read(module, bytes, size, 8 << 20, &stream, &error);
  if (failed == 0) {
    failed = stream.get_next(&stream, &batch);
    std::strncpy(error.text, stream.get_last_error(&stream), sizeof error.text - 1);
    stream.release(&stream);
  }
  TD_CHECK_INT(failed, EINVAL);
  TD_CHECK(batch.release == nullptr);
  TD_CHECK_TEXT(error.text, "more than 8388608 bytes of memory");
  TD_CHECK_INT(released, 1);
  TD_CHECK_INT(read(module, bytes, size, 64 << 20, &stream, &error), 0);
  TD_CHECK_INT(stream.get_next(&stream, &batch), 0);
  TD_CHECK_INT(batch.length, 1 << 21);
  // The numbers outlive the stream, the file and its reader.
  stream.release(&stream);
  std::free(bytes);
  TD_CHECK_INT(static_cast<const int64_t *>(batch.children[0]->buffers[1])[(1 << 21) - 1], 7);
  batch.release(&batch);
  TD_CHECK_INT(released, 1);
}

TD_TEST(what_is_no_file_is_released_too) {
  const Module module = open_module();
  ArrowArrayStream stream;
  TdArrowError error{};
  TD_CHECK_INT(read(module, "PAR1 and no more", 16, 1 << 20, &stream, &error), EINVAL);
  TD_CHECK(stream.release == nullptr);
  TD_CHECK(error.text[0] != '\0');
  TD_CHECK_INT(released, 1);
}

TD_TEST(a_writer_is_not_called_after_it_failed) {
  const Module module = open_module();
  for (const std::int32_t form : {TD_ARROW_MODULE_PARQUET, TD_ARROW_MODULE_IPC}) {
    Zeros made;
    int calls = 0;
    ArrowArrayStream stream = stream_of(&made);
    const TdArrowSink sink{&calls, [](void *user, const void *, std::int64_t) {
                             ++*static_cast<int *>(user);
                             return ENOSPC;
                           }};
    TdArrowError error{};
    TD_CHECK(module.write(form, &stream, 0, &sink, &error) != 0);
    TD_CHECK_INT(calls, 1);
    TD_CHECK_INT(made.released, 1);
    TD_CHECK(stream.release == nullptr);
  }
}

TD_TEST(a_stream_that_breaks_says_why) {
  const Module module = open_module();
  for (const std::int32_t form : {TD_ARROW_MODULE_PARQUET, TD_ARROW_MODULE_IPC}) {
    Zeros made;
    ArrowArrayStream stream = stream_of(&made);
    const TdArrowSink sink{nullptr, [](void *, const void *, std::int64_t) { return 0; }};
    TdArrowError error{};
    TD_CHECK(module.write(form, &stream, 1, &sink, &error) != 0);
    TD_CHECK_TEXT(error.text, "no more zeros");
    TD_CHECK_INT(made.batches, 101);
    TD_CHECK_INT(made.released, 1);
  }
}

}  // namespace
