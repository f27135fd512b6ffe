// A dictionary as a stream of record batches that are slices of one batch.
#include "core/arrow/arrow.h"
#include "core/arrow/made.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

namespace td::arrow {

namespace {

// The whole batch; freed with its last slice.
struct Whole {
  Owned<Schema> schema;
  Owned<Array> array;
};
using WholePtr = std::shared_ptr<const Whole>;

// What a slice's struct owns. A receiver may move children out and mark them released.
template <class Struct>
struct CopyHold {
  WholePtr whole;
  std::vector<Struct> children = {};
  std::vector<Struct*> pointers = {};

  explicit CopyHold(WholePtr whole) : whole(std::move(whole)) {}
  CopyHold(const CopyHold&) = delete;
  CopyHold& operator=(const CopyHold&) = delete;
  ~CopyHold() {
    for (Struct& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
  }
};

template <class Struct>
void release_copy(Struct* made) {
  if (made->release == nullptr) return;
  delete static_cast<CopyHold<Struct>*>(made->private_data);
  made->release = nullptr;
}

// Copies a struct and its children, sharing buffers and texts. The export bounds the depth.
template <class Struct>
Struct copied(const Struct& from, const WholePtr& whole) {
  auto hold = std::make_unique<CopyHold<Struct>>(whole);
  const auto n = static_cast<std::size_t>(from.n_children);
  hold->children.reserve(n);
  hold->pointers.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    hold->children.push_back(copied(*from.children[i], whole));
    hold->pointers.push_back(&hold->children.back());
  }
  Struct to = from;
  to.children = n == 0 ? nullptr : hold->pointers.data();
  to.release = release_copy<Struct>;
  to.private_data = hold.release();
  return to;
}

struct Producer {
  WholePtr whole;
  std::vector<std::int64_t> rows;  // of each batch
  std::size_t batch = 0;
  std::int64_t next = 0;
  const char* error = nullptr;
};

Producer& producer_of(Stream* stream) { return *static_cast<Producer*>(stream->private_data); }

// Only memory can fail here, and no exception may leave.
template <class F>
int without_exception(Stream* stream, F&& f) noexcept {
  Producer& producer = producer_of(stream);
  try {
    producer.error = nullptr;
    f(producer);
    return 0;
  } catch (...) {
    producer.error = "out of memory";
    return ENOMEM;
  }
}

int get_schema(Stream* stream, Schema* out) {
  out->release = nullptr;
  return without_exception(stream, [&](Producer& producer) {
    *out = copied(producer.whole->schema.value, producer.whole);
  });
}

int get_next(Stream* stream, Array* out) {
  out->release = nullptr;
  return without_exception(stream, [&](Producer& producer) {
    const Array& all = producer.whole->array.value;
    if (producer.batch == producer.rows.size()) return;
    const std::int64_t count = producer.rows[producer.batch];
    Array batch = copied(all, producer.whole);
    batch.length = count;
    // Offset the columns: some readers refuse an offset of the batch.
    for (std::int64_t i = 0; i < batch.n_children; ++i) {
      Array& column = *batch.children[i];
      column.offset += producer.next;
      if (column.null_count != 0 && count != all.length) column.null_count = -1;
      column.length = count;
    }
    producer.next += count;
    ++producer.batch;
    *out = batch;
  });
}

const char* get_last_error(Stream* stream) { return producer_of(stream).error; }

void release_stream(Stream* stream) {
  if (stream->release == nullptr) return;
  delete static_cast<Producer*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_stream(const TensorDict& td, const ExportOptions& options, std::int64_t rows,
                   Stream* stream) {
  if (rows < 1) {
    fail(Code::invalid_argument, "rows is ", rows, "; a record batch has 1 row or more");
  }
  Owned<Schema> schema;
  Owned<Array> array;
  export_batch(td, options, &schema.value, &array.value);
  std::vector<std::int64_t> batches;
  for (std::int64_t left = array.value.length; left > 0; left -= batches.back())
    batches.push_back(std::min(rows, left));
  stream_of(Column(&schema.value, &array.value), std::move(batches), stream);
}

void stream_of(Column whole, std::vector<std::int64_t> rows, Stream* stream) {
  auto held = std::make_shared<Whole>();
  whole.take(&held->schema.value, &held->array.value);
  auto producer = std::make_unique<Producer>(Producer{std::move(held), std::move(rows)});
  *stream = {get_schema, get_next, get_last_error, release_stream, producer.get()};
  producer.release();
}

}  // namespace td::arrow
