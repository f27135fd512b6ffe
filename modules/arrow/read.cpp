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
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

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

// The record batches that are asked for. They allocate from a pool, which lives until all are released.
class Batches {
 public:
  virtual ~Batches() = default;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  virtual arrow::Result<BatchPtr> next() = 0;  // nullptr: the end
};
using BatchesPtr = std::unique_ptr<Batches>;

// Numbers of columns in the schema; nullptr: all.
using Columns = const std::vector<int> *;

class File {
 public:
  virtual ~File() = default;
  virtual arrow::Result<std::shared_ptr<arrow::Schema>> schema() = 0;
  virtual int parts() const = 0;
  virtual arrow::Result<std::int64_t> rows(int part) = 0;
  virtual arrow::Result<BatchesPtr> read(int begin, int end, Columns columns) = 0;
};

class IpcFile final : public File {
 public:
  static arrow::Result<std::unique_ptr<File>> open(const BytesPtr &bytes, arrow::MemoryPool *pool) {
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = pool;
    options.use_threads = false;
    auto result = std::make_unique<IpcFile>();
    ARROW_ASSIGN_OR_RAISE(result->reader_,
                          arrow::ipc::RecordBatchFileReader::Open(
                              std::make_shared<arrow::io::BufferReader>(bytes), options));
    return result;
  }

  arrow::Result<std::shared_ptr<arrow::Schema>> schema() override { return reader_->schema(); }
  int parts() const override { return reader_->num_record_batches(); }
  arrow::Result<std::int64_t> rows(int part) override {
    ARROW_ASSIGN_OR_RAISE(const auto batch, reader_->ReadRecordBatch(part));
    return batch->num_rows();
  }
  arrow::Result<BatchesPtr> read(int begin, int end, Columns columns) override {
    auto result = std::make_unique<Some>(reader_, begin, end);
    result->schema_ = reader_->schema();
    if (columns != nullptr) {
      result->columns_ = *columns;
      result->chosen_ = true;
      arrow::FieldVector fields;
      for (const int column : *columns) fields.push_back(reader_->schema()->field(column));
      result->schema_ = arrow::schema(std::move(fields), reader_->schema()->metadata());
    }
    return result;
  }

 private:
  using ReaderPtr = std::shared_ptr<arrow::ipc::RecordBatchFileReader>;
  struct Some final : Batches {
    Some(ReaderPtr reader, int begin, int end)
        : reader_(std::move(reader)), at_(begin), end_(end) {}
    std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
    arrow::Result<BatchPtr> next() override {
      if (at_ == end_) return nullptr;
      ARROW_ASSIGN_OR_RAISE(auto batch, reader_->ReadRecordBatch(at_++));
      return chosen_ ? batch->SelectColumns(columns_) : batch;
    }
    ReaderPtr reader_;
    int at_, end_;
    bool chosen_ = false;
    std::vector<int> columns_;
    std::shared_ptr<arrow::Schema> schema_;
  };

  ReaderPtr reader_;
};

class ParquetFile final : public File {
 public:
  static arrow::Result<std::unique_ptr<File>> open(const BytesPtr &bytes, arrow::MemoryPool *pool) {
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
    auto result = std::make_unique<ParquetFile>();
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<parquet::arrow::FileReader> file,
                          builder.memory_pool(pool)->properties(properties)->Build());
    result->file_ = std::move(file);
    return result;
  }

  arrow::Result<std::shared_ptr<arrow::Schema>> schema() override {
    std::shared_ptr<arrow::Schema> result;
    ARROW_RETURN_NOT_OK(file_->GetSchema(&result));
    return result;
  }
  int parts() const override { return file_->num_row_groups(); }
  arrow::Result<std::int64_t> rows(int part) override {
    return file_->parquet_reader()->metadata()->RowGroup(part)->num_rows();
  }
  arrow::Result<BatchesPtr> read(int begin, int end, Columns columns) override {
    std::vector<int> parts, leaves;
    for (int part = begin; part < end; ++part) parts.push_back(part);
    const auto &fields = file_->manifest().schema_fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (columns == nullptr || std::binary_search(columns->begin(), columns->end(), int(i)))
        add_leaves(fields[i], leaves);
    }
    auto result = std::make_unique<Some>();
    result->file_ = file_;
    ARROW_ASSIGN_OR_RAISE(result->reader_, file_->GetRecordBatchReader(parts, leaves));
    return result;
  }

 private:
  struct Some final : Batches {
    std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }
    arrow::Result<BatchPtr> next() override { return reader_->Next(); }
    std::shared_ptr<parquet::arrow::FileReader> file_;
    std::unique_ptr<arrow::RecordBatchReader> reader_;
  };

  static void add_leaves(const parquet::arrow::SchemaField &field, std::vector<int> &leaves) {
    if (field.is_leaf()) leaves.push_back(field.column_index);
    for (const auto &child : field.children) add_leaves(child, leaves);
  }

  std::shared_ptr<parquet::arrow::FileReader> file_;
};

using PoolPtr = std::shared_ptr<LimitedPool>;

// The pool's refusal: Arrow may report it in other words, or report only a consequence.
arrow::Status explained(const LimitedPool &pool, arrow::Status status) {
  if (status.ok() || !pool.refused()) return status;
  return arrow::Status::Invalid("reading it takes more than ", pool.limit(),
                                " bytes of memory, too much for a file of its size");
}

// The reader behind the caller's stream.
class CheckedReader final : public arrow::RecordBatchReader {
 public:
  CheckedReader(PoolPtr pool, BatchesPtr batches)
      : pool_(std::move(pool)), batches_(std::move(batches)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return batches_->schema(); }
  arrow::Status ReadNext(BatchPtr *out) override {
    return explained(*pool_, without_exception([&]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(*out, batches_->next());
      return *out == nullptr ? arrow::Status::OK() : (*out)->ValidateFull();
    }));
  }

 private:
  PoolPtr pool_;
  BatchesPtr batches_;
};

struct Opened {
  PoolPtr pool;
  std::unique_ptr<File> file;

  arrow::Status open(std::int32_t form, const TdArrowSource &source) {
    const auto bytes =
        std::make_shared<SourceBytes>(source, std::shared_ptr<void>(source.owner, source.release));
    pool = LimitedPool::make(source.max_memory);
    return explained(*pool, without_exception([&] {
      const auto open = form == TD_ARROW_MODULE_IPC ? IpcFile::open : ParquetFile::open;
      return open(bytes, pool.get()).Value(&file);
    }));
  }

  arrow::Status read(int begin, int end, Columns columns, ArrowArrayStream *stream) const {
    BatchesPtr batches;
    ARROW_RETURN_NOT_OK(explained(
        *pool, without_exception([&] { return file->read(begin, end, columns).Value(&batches); })));
    return arrow::ExportRecordBatchReader(std::make_shared<CheckedReader>(pool, std::move(batches)),
                                          stream);
  }
};

}  // namespace

}  // namespace arrow_module

struct TdArrowFile {
  arrow_module::Opened opened;
};

int td_arrow_file_read(std::int32_t form, const TdArrowSource *source, ArrowArrayStream *stream,
                       TdArrowError *error) {
  using namespace arrow_module;
  stream->release = nullptr;
  return reported(error, [&] {
    Opened opened;
    ARROW_RETURN_NOT_OK(opened.open(form, *source));
    return opened.read(0, opened.file->parts(), nullptr, stream);
  });
}

int td_arrow_file_open(std::int32_t form, const TdArrowSource *source, TdArrowFile **file,
                       TdArrowError *error) {
  *file = nullptr;
  return arrow_module::reported(error, [&] {
    auto made = std::make_unique<TdArrowFile>();
    ARROW_RETURN_NOT_OK(made->opened.open(form, *source));
    *file = made.release();
    return arrow::Status::OK();
  });
}

void td_arrow_file_close(TdArrowFile *file) { delete file; }

int td_arrow_file_about(TdArrowFile *file, ArrowSchema *schema, std::int64_t *parts,
                        TdArrowError *error) {
  schema->release = nullptr;
  return arrow_module::reported(error, [&] {
    *parts = file->opened.file->parts();
    ARROW_ASSIGN_OR_RAISE(const auto found, file->opened.file->schema());
    return arrow::ExportSchema(*found, schema);
  });
}

int td_arrow_file_rows(TdArrowFile *file, std::int64_t part, std::int64_t *rows,
                       TdArrowError *error) {
  return arrow_module::reported(
      error, [&] { return file->opened.file->rows(static_cast<int>(part)).Value(rows); });
}

int td_arrow_file_read_part(TdArrowFile *file, std::int64_t part, const std::int32_t *columns,
                            std::int64_t count, ArrowArrayStream *stream, TdArrowError *error) {
  stream->release = nullptr;
  return arrow_module::reported(error, [&] {
    const std::vector<int> chosen(columns, columns + count);
    const auto at = static_cast<int>(part);
    return file->opened.read(at, at + 1, &chosen, stream);
  });
}
