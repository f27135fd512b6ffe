// Writes streams of record batches as files of Arrow and Parquet.
#include "failure.h"

#include <arrow/c/bridge.h>
#include <arrow/io/buffered.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <memory>
#include <optional>

namespace arrow_module {

namespace {

using Compression = arrow::Compression::type;

constexpr std::int64_t buffered_bytes = 1 << 20;

class Sink final : public arrow::io::OutputStream {
 public:
  explicit Sink(const TdArrowSink &sink) : sink_(sink) { set_mode(arrow::io::FileMode::WRITE); }

  // A discarded writer may still try to end its file.
  arrow::Status Write(const void *data, std::int64_t bytes) override {
    if (error_ == 0 && bytes != 0) error_ = sink_.write(sink_.user, data, bytes);
    if (error_ != 0) return arrow::Status::IOError("the file was not written");
    at_ += bytes;
    return arrow::Status::OK();
  }
  using Writable::Write;
  arrow::Result<std::int64_t> Tell() const override { return at_; }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }

 private:
  TdArrowSink sink_;
  std::int64_t at_ = 0;
  int error_ = 0;
  bool closed_ = false;
};
using SinkPtr = std::shared_ptr<arrow::io::OutputStream>;

// The first codec that this build of Arrow has.
std::optional<Compression> codec_among(std::initializer_list<Compression> wanted) {
  for (const Compression codec : wanted) {
    if (arrow::util::Codec::IsAvailable(codec)) return codec;
  }
  return std::nullopt;
}

arrow::Status write_ipc(arrow::RecordBatchReader &batches, const SinkPtr &sink, bool compress) {
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.allow_64bit = true;
  options.use_threads = false;
  if (compress) {
    const auto codec = codec_among({Compression::ZSTD, Compression::LZ4_FRAME});
    if (!codec) return arrow::Status::NotImplemented("the Arrow library here cannot compress");
    ARROW_ASSIGN_OR_RAISE(options.codec, arrow::util::Codec::Create(*codec));
  }
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(sink, batches.schema(), options));
  for (;;) {
    ARROW_ASSIGN_OR_RAISE(auto batch, batches.Next());
    if (!batch) return writer->Close();
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  }
}

arrow::Status write_parquet(arrow::RecordBatchReader &batches, const SinkPtr &sink) {
  parquet::WriterProperties::Builder properties;
  properties.compression(
      codec_among({Compression::ZSTD, Compression::SNAPPY}).value_or(Compression::UNCOMPRESSED));
  properties.enable_page_checksum();
  // Arrow's schema restores types that Parquet lacks, such as lists of fixed length.
  const auto as_arrow = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  ARROW_ASSIGN_OR_RAISE(
      auto writer, parquet::arrow::FileWriter::Open(*batches.schema(), arrow::default_memory_pool(),
                                                    sink, properties.build(), as_arrow));
  for (;;) {
    ARROW_ASSIGN_OR_RAISE(auto batch, batches.Next());
    if (!batch) return writer->Close();
    ARROW_ASSIGN_OR_RAISE(auto table, arrow::Table::FromRecordBatches({batch}));
    ARROW_RETURN_NOT_OK(writer->WriteTable(*table, batch->num_rows()));
  }
}

}  // namespace

}  // namespace arrow_module

int td_arrow_file_write(std::int32_t form, ArrowArrayStream *stream, std::int32_t compress,
                        const TdArrowSink *sink, TdArrowError *error) {
  using namespace arrow_module;
  const int failed = reported(error, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto batches, arrow::ImportRecordBatchReader(stream));
    ARROW_ASSIGN_OR_RAISE(auto buffered, arrow::io::BufferedOutputStream::Create(
                                             buffered_bytes, arrow::default_memory_pool(),
                                             std::make_shared<Sink>(*sink)));
    ARROW_RETURN_NOT_OK(form == TD_ARROW_MODULE_IPC ? write_ipc(*batches, buffered, compress != 0)
                                                    : write_parquet(*batches, buffered));
    return buffered->Close();
  });
  if (stream->release != nullptr) stream->release(stream);
  return failed;
}
