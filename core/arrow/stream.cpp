// Reads streams of record batches.
#include "core/arrow/import.h"
#include "core/base/key.h"

#include <cstring>

namespace td::arrow {

void Reader::fail_stream(int error, const char* what) const {
  const char* text =
      stream_->get_last_error == nullptr ? nullptr : stream_->get_last_error(stream_);
  if (text == nullptr || !is_utf8(text)) text = std::strerror(error);
  fail(code_of_ == nullptr ? Code::io : code_of_(error), "the Arrow stream gave no ", what, ": ",
       text, " (error ", error, ")");
}

Reader::~Reader() {
  if (stream_->release != nullptr) stream_->release(stream_);
  stream_->release = nullptr;
}

TensorDict Reader::read(const ImportOptions& options) const {
  if (stream_->release == nullptr) fail(Code::format, "the Arrow stream was released");
  if (stream_->get_schema == nullptr || stream_->get_next == nullptr)
    fail(Code::format, "the Arrow stream lacks its functions");
  Owned<Schema> schema;
  if (const int code = stream_->get_schema(stream_, &schema.value)) fail_stream(code, "schema");
  Parts parts;
  for (;;) {
    auto owner = std::make_shared<Owned<Array>>();
    if (const int code = stream_->get_next(stream_, &owner->value))
      fail_stream(code, "record batch");
    const Array& array = owner->value;
    if (array.release == nullptr) break;
    parts.push_back({&array, 0, array.length, array.length, {}, owner});
  }
  return import_parts(&schema.value, std::move(parts), options);
}

}  // namespace td::arrow
