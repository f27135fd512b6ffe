// Streams of record batches.
#include "core/base/key.h"
#include "core/interop/arrow_import.h"

#include <cstring>

namespace td::arrow {

namespace {

[[noreturn]] void fail_stream(Stream* stream, int code, const char* what) {
  const char* text = stream->get_last_error == nullptr ? nullptr : stream->get_last_error(stream);
  if (text == nullptr || !is_utf8(text)) text = std::strerror(code);
  fail(Code::io, "the Arrow stream gave no ", what, ": ", text, " (error ", code, ")");
}

}  // namespace

Reader::~Reader() {
  if (stream_->release != nullptr) stream_->release(stream_);
  stream_->release = nullptr;
}

TensorDict Reader::read(const ImportOptions& options) const {
  if (stream_->release == nullptr) fail(Code::format, "the Arrow stream was released");
  if (stream_->get_schema == nullptr || stream_->get_next == nullptr)
    fail(Code::format, "the Arrow stream lacks its functions");
  Owned<Schema> schema;
  if (const int code = stream_->get_schema(stream_, &schema.value))
    fail_stream(stream_, code, "schema");
  Parts parts;
  for (;;) {
    auto owner = std::make_shared<Owned<Array>>();
    if (const int code = stream_->get_next(stream_, &owner->value))
      fail_stream(stream_, code, "record batch");
    const Array& array = owner->value;
    if (array.release == nullptr) break;
    parts.push_back({&array, 0, array.length, array.length, {}, owner});
  }
  return import_parts(&schema.value, std::move(parts), options);
}

}  // namespace td::arrow
