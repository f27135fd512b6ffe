// Folders of TorchRL: replay buffers, whose rows are memory-mapped files that grow.
#include "core/append/append.h"
#include "core/datasets/save.h"
#include "core/inspect/nbytes.h"
#include "core/io/new_file.h"
#include "core/replay/live_folder.h"
#include "core/replay/replay.h"
#include "core/shape/join.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

class TorchrlWriter final : public SetWriter {
 public:
  explicit TorchrlWriter(SetPlan plan)
      : plan_(std::move(plan)), folder_(files::absolute(plan_.path)), draft_(plan_.options) {
    const bool there = files::look(folder_).found != files::Found::nothing;
    if (there && !replay_folder::is_one(folder_))
      fail(Code::io, quote(folder_), " is there already, and is no replay buffer to replace");
    if (!plan_.metadata.is_empty()) draft_.lose("the metadata");
    if (there && plan_.options.resume) resume();
  }

  std::int64_t episodes() const override { return episodes_; }

  void add(const TensorDict& episode, const TensorDict& about) override {
    if (!about.is_empty()) draft_.lose("the metadata of episodes");
    const TensorDict rows = tensors_of(episode);
    if (!rows.batch_size().empty() && rows.batch_size()[0] == 0) draft_.lose_empty(episodes_);
    if (plan_.each) draft_.require_all(DatasetKind::torchrl);
    if (rows.batch_size().empty()) fail(Code::shape, "an episode has a batch dimension of steps");
    if (rows.batch_size()[0] > 0) {
      if (plan_.each) {
        append(numbered(rows));
      } else {
        wait(rows);
      }
    }
    ++episodes_;
  }

  void finish() override {
    if (episodes_ == 0)
      fail(Code::shape, "a data set of TorchRL has one episode at least, and none was written");
    if (plan_.each) return;
    draft_.require_all(DatasetKind::torchrl);
    write_waiting();
    if (rows_ == 0)
      fail(Code::shape, "a buffer of TorchRL has one step at least, and none was written");
    ReplayOptions buffer = buffer_of(rows_);
    ReplayFiles content = ReplayFiles::fresh(buffer);
    content.set({buffer.capacity, rows_, 0, rows_}, RandomNumbers(), buffer);
    new_->commit(content, make_random_draws().get(), plan_.options.durable);
  }

 private:
  std::string part(const char* path) const { return files::join(folder_, path); }

  // Rows behind those that are counted are of a writer that was killed.
  void resume() {
    if (files::look(part(LiveFolder::file_name)).found != files::Found::nothing)
      fail(Code::unsupported, quote(folder_), " is shared by processes, and does not grow");
    rows_ = memmap_length(part(replay_folder::storage)).rows;
    files_ = ReplayFiles::read(folder_, Sizes{rows_});
    const RingCounts& counts = files_.counts;
    if (counts.cursor % counts.capacity != counts.length % counts.capacity && counts.cursor != 0) {
      fail(Code::unsupported, quote(folder_),
           " has replaced its oldest rows: no episodes are added behind its end");
    }
    if (files_.sampling == ReplaySampling::prioritized || files_.knows_rows) {
      fail(Code::unsupported, quote(folder_),
           " has a sampler that knows each row: no episodes are added");
    }
    episodes_ = Dataset::open(folder_, DatasetOptions())->episodes();
    if (rows_ != counts.length) memmap_truncate(part(replay_folder::storage), counts.length);
    rows_ = counts.length;
  }

  // A copy, which shares the tensors.
  TensorDict tensors_of(const TensorDict& episode) {
    TensorDict rows = episode.clone(/*recurse=*/false);
    visit_paths(*episode.node(), [&](Path path, const Value& value) {
      if (!value.is_node() || episode.kind_of(path) != EntryKind::non_tensor) return;
      draft_.lose("values that are no tensors, as " + show_path(path));
      rows.remove(path);
    });
    return rows;
  }

  // A tensorclass has no entry but its fields.
  TensorDict numbered(TensorDict rows) const {
    if (rows.stored({"episode"}) == nullptr && rows.node()->tensorclass() == nullptr)
      rows.set({"episode"}, at::full({rows.batch_size()[0]}, episodes_, at::kLong));
    return rows;
  }

  static ReplayOptions buffer_of(std::int64_t steps) {
    ReplayOptions buffer;
    buffer.sampling = ReplaySampling::random;
    buffer.capacity = std::max<std::int64_t>(steps, 1);
    return buffer;
  }

  void save(const TensorDict& rows) const {
    Replay replay(buffer_of(rows.batch_size()[0]));
    replay.extend(rows);
    replay.save(folder_, plan_.options.durable);
  }

  // Until there are some megabytes of them.
  void wait(const TensorDict& rows) {
    constexpr std::int64_t most = 8 << 20;
    waiting_.push_back(rows);
    waiting_bytes_ += measure(rows, Measure::bytes);
    if (waiting_bytes_ >= most) write_waiting();
  }

  void write_waiting() {
    if (!new_) new_.emplace(folder_);
    if (waiting_.empty()) return;
    const TensorDict rows = waiting_.size() == 1 ? waiting_[0] : cat(waiting_, 0);
    AppendOptions options;
    options.aside = true;
    memmap_append(new_->storage(), rows, options);
    rows_ += rows.batch_size()[0];
    waiting_.clear();
    waiting_bytes_ = 0;
  }

  void append(const TensorDict& rows) {
    const std::int64_t end = rows_ + rows.batch_size()[0];
    if (rows_ == 0) {
      save(rows);
      files_ = ReplayFiles::read(folder_, Sizes{end});
      rows_ = end;
      return;
    }
    AppendOptions options;
    options.durable = plan_.options.durable;
    memmap_append(part(replay_folder::storage), rows, options);
    try {
      count(end);
    } catch (...) {
      memmap_truncate(part(replay_folder::storage), rows_, options);
      throw;
    }
    rows_ = end;
  }

  // "len" comes last: only then there are more rows.
  void count(std::int64_t rows) {
    files_.writer.set("cursor", "0");
    files_.writer.set("write_count", std::to_string(rows));
    files_.storage.set("len", std::to_string(rows));
    write("writer/metadata.json", files_.writer.text());
    write("storage/storage_metadata.json", files_.storage.text());
  }

  void write(const char* path, const std::string& text) const {
    files::NewFile file(part(path));
    file.write(text.data(), text.size());
    file.commit(plan_.options.durable);
  }

  SetPlan plan_;
  std::string folder_;
  Draft draft_;
  ReplayFiles files_;
  std::int64_t rows_ = 0, episodes_ = 0;
  std::optional<NewReplayFolder> new_;  // for finish()
  std::vector<TensorDict> waiting_;     // to be written to it
  std::int64_t waiting_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SetWriter> write_torchrl(const SetPlan& plan) {
  return std::make_unique<TorchrlWriter>(plan);
}

}  // namespace td::datasets
