// Reads files of Arrow and Parquet as streams of record batches.
#include "failure.h"
#include "limited_pool.h"
#include "schema_depth.h"

#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <parquet/arrow/reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace arrow_module {

namespace {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

// The caller's memory; uncompressed record batches are slices of it.
class SourceBytes final : public arrow::Buffer {
 public:
  SourceBytes(const TdArrowSource &source, std::shared_ptr<void> owner)
      : Buffer(static_cast<const std::uint8_t *>(source.data), source.bytes),
        owner_(std::move(owner)) {}

 private:
  std::shared_ptr<void> owner_;
};
using BytesPtr = std::shared_ptr<SourceBytes>;

// The record batches of a file. They allocate from a pool, which lives until all are released.
class Batches {
 public:
  virtual ~Batches() = default;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  virtual arrow::Result<BatchPtr> next() = 0;  // nullptr: the end
};

class IpcBatches final : public Batches {
 public:
  static arrow::Result<std::unique_ptr<Batches>> open(const BytesPtr &bytes,
                                                      arrow::MemoryPool *pool) {
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = pool;
    options.use_threads = false;
    auto result = std::make_unique<IpcBatches>();
    ARROW_ASSIGN_OR_RAISE(result->reader_,
                          arrow::ipc::RecordBatchFileReader::Open(
                              std::make_shared<arrow::io::BufferReader>(bytes), options));
    return result;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }
  arrow::Result<BatchPtr> next() override {
    if (at_ == reader_->num_record_batches()) return nullptr;
    return reader_->ReadRecordBatch(at_++);
  }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader_;
  int at_ = 0;
};

class ParquetBatches final : public Batches {
 public:
  static arrow::Result<std::unique_ptr<Batches>> open(const BytesPtr &bytes,
                                                      arrow::MemoryPool *pool) {
    ARROW_RETURN_NOT_OK(check_schema_depth(bytes->data(), bytes->size()));
    parquet::ReaderProperties reading(pool);
    reading.set_page_checksum_verification(true);
    parquet::arrow::FileReaderBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Open(std::make_shared<arrow::io::BufferReader>(bytes), reading));
    parquet::ArrowReaderProperties properties(/*use_threads=*/false);
    properties.set_pre_buffer(false);  // prefetching would start threads, and the file is in memory
    // Read all rows in one batch, so that each column becomes one tensor without a copy.
    const std::int64_t rows = builder.raw_reader()->metadata()->num_rows();
    properties.set_batch_size(
        std::clamp<std::int64_t>(rows, 1, std::numeric_limits<std::int32_t>::max()));
    auto result = std::make_unique<ParquetBatches>();
    ARROW_ASSIGN_OR_RAISE(result->file_,
                          builder.memory_pool(pool)->properties(properties)->Build());
    ARROW_ASSIGN_OR_RAISE(result->reader_, result->file_->GetRecordBatchReader());
    return result;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }
  arrow::Result<BatchPtr> next() override { return reader_->Next(); }

 private:
  std::unique_ptr<parquet::arrow::FileReader> file_;
  std::unique_ptr<arrow::RecordBatchReader> reader_;
};

// The reader behind the caller's stream.
class CheckedReader final : public arrow::RecordBatchReader {
 public:
  explicit CheckedReader(LimitedPool::Holder pool) : pool_(std::move(pool)) {}

  arrow::Status open(std::int32_t form, const BytesPtr &bytes) {
    return explained(without_exception([&] {
      const auto open = form == TD_ARROW_MODULE_IPC ? IpcBatches::open : ParquetBatches::open;
      return open(bytes, pool_.get()).Value(&batches_);
    }));
  }

  std::shared_ptr<arrow::Schema> schema() const override { return batches_->schema(); }
  arrow::Status ReadNext(BatchPtr *out) override {
    return explained(without_exception([&]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(*out, batches_->next());
      return *out == nullptr ? arrow::Status::OK() : (*out)->ValidateFull();
    }));
  }

 private:
  // The pool's refusal: Arrow may report it in other words, or report only a consequence.
  arrow::Status explained(arrow::Status status) const {
    if (status.ok() || !pool_->refused()) return status;
    return arrow::Status::Invalid("reading it takes more than ", pool_->limit(),
                                  " bytes of memory, too much for a file of its size");
  }

  LimitedPool::Holder pool_;
  std::unique_ptr<Batches> batches_;
};

}  // namespace

}  // namespace arrow_module

int td_arrow_file_read(std::int32_t form, const TdArrowSource *source, ArrowArrayStream *stream,
                       TdArrowError *error) {
  using namespace arrow_module;
  stream->release = nullptr;
  return reported(error, [&] {
    const auto bytes = std::make_shared<SourceBytes>(
        *source, std::shared_ptr<void>(source->owner, source->release));
    auto reader = std::make_shared<CheckedReader>(LimitedPool::make(source->max_memory));
    ARROW_RETURN_NOT_OK(reader->open(form, bytes));
    return arrow::ExportRecordBatchReader(std::move(reader), stream);
  });
}
