#include "core/replay/replay.h"

#include "core/io/folder.h"
#include "core/memmap/memmap.h"
#include "core/shape/shape.h"
#include "core/tensor/mapped_tensor.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <fcntl.h>
#include <algorithm>
#include <cerrno>

namespace td {

namespace {

constexpr std::size_t kept_batches = 4;

// Room on the disk for all of a file: a row that finds none would end the process with a signal.
void make_room(const std::string& path, std::size_t bytes) {
  const files::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  while (::fallocate(file.get(), 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return;  // such file systems cannot say
    files::fail_io("cannot make room for", path, errno);
  }
}

TensorDict load_rows(const std::string& folder, bool live) {
  LoadOptions options;
  options.private_mapping = !live;
  options.device = at::Device(at::kCPU);
  TensorDict rows = load_memmap(files::join(folder, replay_folder::storage), options);
  if (rows.batch_size().empty() || rows.batch_size()[0] < 1) {
    fail(Code::format, "the rows in \"", folder, "\" have batch size ",
         show_sizes(rows.batch_size()), "; it must begin with their number");
  }
  if (!live) return rows;
  visit_paths(*rows.node(), [&](Path path, const Value& value) {
    if (value.is_node()) return;
    const MappedFile* file = mapping_of(value.tensor());
    if (value.tensor().numel() == 0) return;
    if (file == nullptr || !file->writes_through())
      fail(Code::io, "cannot write ", show_path(path), " in \"", folder, "\"");
    make_room(file->path(), file->bytes());
  });
  return rows;
}

}  // namespace

// One call at a time; of all processes that have the folder open, too, if one of them writes.
class Replay::Hold {
 public:
  Hold(Replay& replay, bool alone) : lock_(replay.mutex_) {
    if (!replay.live_) return;
    folder_.emplace(*replay.live_, alone);
    const RingCounts now = replay.live_->read();
    if (now.capacity != replay.counts_.capacity || now.written < replay.counts_.written) {
      fail(Code::format, "\"", replay.live_->folder(), "\" is that of another buffer now");
    }
    replay.counts_ = now;
    if (!replay.rows_ && now.written != 0) replay.attach(/*live=*/true);
  }

 private:
  std::lock_guard<std::mutex> lock_;
  std::optional<LiveFolder::Hold> folder_;
};

Replay::Replay(const ReplayOptions& options) : options_(checked(options)), pool_(kept_batches) {
  if (options_.capacity < 1)
    fail(Code::invalid_argument, "capacity is ", options_.capacity, "; it must be at least 1");
  if (options_.sampling == ReplaySampling::as_stored) options_.sampling = ReplaySampling::random;
  files_ = ReplayFiles::fresh(options_);
  counts_ = files_.counts;
  random_ = *files_.random;
  make_sampler();
  if (options_.folder.empty()) return;
  const std::string folder = files::absolute(options_.folder);
  if (files::look(files::join(folder, ".")).found != files::Found::nothing &&
      !files::list(folder).empty()) {
    fail(Code::io, "cannot make a buffer in \"", folder, "\": the folder is not empty");
  }
  files_.set(counts_, random_, options_.rows);
  save_replay(folder, files_, nullptr, nullptr, /*durable=*/false, LiveFolder::text(counts_));
  live_ = std::make_unique<LiveFolder>(folder, counts_);
}

std::unique_ptr<Replay> Replay::open(const std::string& folder, const ReplayOptions& options,
                                     bool live) {
  if (folder.empty()) fail(Code::io, "no such folder: the path is empty");
  const std::string path = files::absolute(folder);
  std::unique_ptr<Replay> result(new Replay(options, path));
  result->open_files(live);
  return result;
}

Replay::Replay(ReplayOptions options, std::string folder)
    : options_(std::move(options)), pool_(kept_batches) {
  options_.folder = std::move(folder);
}

void Replay::open_files(bool live) {
  const std::string& folder = options_.folder;
  std::int64_t capacity = 0;
  if (replay_folder::holds_rows(folder)) {
    TensorDict rows = load_rows(folder, live);
    capacity = rows.batch_size()[0];
    rows_ = std::make_unique<RingRows>(std::move(rows));
  }
  files_ = ReplayFiles::read(folder, capacity);
  if (const auto now = LiveFolder::glance(folder, files_.counts)) {
    if (rows_ && now->capacity != capacity) {
      fail(Code::format, "\"", files::join(folder, LiveFolder::file_name),
           "\" says that there are ", now->capacity, " places for rows; there are ", capacity);
    }
    files_.counts.capacity = now->capacity;
    counts_ = *now;
  } else {
    files_.counts.check("\"" + folder + "\"");
    counts_ = files_.counts;
  }
  if (!rows_ && counts_.written != 0) {
    // Between the two looks another process may have written the first row: its files come before its number.
    if (!replay_folder::holds_rows(folder))
      fail(Code::io, "no rows in \"", folder, "\": it has no storage/meta.json");
    attach(live);
  }
  if (options_.capacity != 0 && options_.capacity != counts_.capacity) {
    fail(Code::invalid_argument, "capacity is ", options_.capacity, "; the buffer in \"", folder,
         "\" has ", counts_.capacity);
  }
  options_.capacity = counts_.capacity;
  if (options_.sampling == ReplaySampling::as_stored) options_.sampling = files_.sampling;
  if (options_.rows == 0) options_.rows = files_.rows.value_or(0);
  options_ = checked(std::move(options_));
  random_ = files_.random.value_or(RandomNumbers{options_.seed, 0});
  make_sampler();
  if (files_.sampling == options_.sampling) {
    // Its files are as old as the JSON files: of rows that have come since they say nothing.
    RingCounts then = counts_;
    if (files_.counts.written != counts_.written) then = files_.counts;
    then.gap = 0;
    sampler_->load(files::join(folder, replay_folder::sampler), then);
  }
  if (live) live_ = std::make_unique<LiveFolder>(folder, files_.counts);
}

void Replay::make_sampler() {
  switch (options_.sampling) {
    case ReplaySampling::as_stored:
    case ReplaySampling::random: sampler_ = make_random_draws(); break;
    case ReplaySampling::without_replacement:
      sampler_ = make_draws_without_replacement(options_);
      break;
    case ReplaySampling::slices: sampler_ = make_slice_draws(options_); break;
    case ReplaySampling::prioritized: {
      auto made = std::make_unique<Priorities>(options_, options_.capacity);
      priorities_ = made.get();
      sampler_ = std::move(made);
      break;
    }
  }
}

// Somebody else has written the first row.
void Replay::attach(bool live) {
  const std::string& folder = live_ ? live_->folder() : options_.folder;
  auto rows = std::make_unique<RingRows>(load_rows(folder, live));
  if (rows->dict().batch_size()[0] != counts_.capacity) {
    fail(Code::format, "the rows in \"", folder, "\" are ", rows->dict().batch_size()[0],
         "; the buffer has places for ", counts_.capacity);
  }
  rows_ = std::move(rows);
}

std::unique_ptr<RingRows> Replay::new_rows(const TensorDict& like) const {
  if (!live_) return std::make_unique<RingRows>(RingRows::like(like, counts_.capacity));
  const std::string path = files::join(live_->folder(), replay_folder::storage);
  memmap_like(RingRows::shape_like(like, counts_.capacity), path);
  return std::make_unique<RingRows>(load_rows(live_->folder(), /*live=*/true));
}

void Replay::put(const TensorDict& td, bool single) {
  const Hold hold(*this, /*alone=*/true);
  if (!single && !td.batch_size().empty() && td.batch_size()[0] == 0) return;
  std::unique_ptr<RingRows> made;
  if (!rows_) {
    if (!single && td.batch_size().empty())
      fail(Code::shape, "rows are counted by the first batch dimension, and there is none");
    made = new_rows(single ? td.unsqueeze(0) : td);
  }
  const RingRows& ring = made ? *made : *rows_;
  const NewRows rows = ring.match(td, single);
  if (made) rows_ = std::move(made);
  for (std::int64_t done = 0; done < rows.count;) {
    // Rows that are there are overwritten only when the ring is full, which the gap is for.
    const std::int64_t room = counts_.full() ? counts_.capacity : counts_.capacity - counts_.length;
    const std::int64_t step = std::min(rows.count - done, room);
    if (live_ && counts_.full()) {
      RingCounts during = counts_;
      during.gap = std::max(step, counts_.gap);
      live_->write(during);
    }
    rows_->write(rows, done, step, counts_.cursor);
    RingCounts after = counts_.after(step);
    // One that died here before may have left more than this.
    after.gap = std::max<std::int64_t>(counts_.gap - step, 0);
    if (live_) live_->write(after);
    counts_ = after;
    done += step;
  }
}

TensorDict Replay::sample(std::int64_t rows) {
  const Hold hold(*this, /*alone=*/false);
  if (rows < 0) fail(Code::invalid_argument, "rows is ", rows, "; a batch has at least 1");
  if (rows == 0) rows = options_.rows;
  if (rows == 0)
    fail(Code::invalid_argument, "neither the call nor the options say how many rows a batch has");
  if (!rows_ || counts_.whole() == 0)
    fail(Code::shape, "the buffer holds no rows yet: none can be drawn");
  sampler_->follow(counts_);
  RandomNumbers random = random_;
  Drawn drawn;
  sampler_->draw(counts_, *rows_, rows, random, drawn);
  TensorDict result = gathered(drawn);
  sampler_->commit();
  random_ = random;
  return result;
}

TensorDict Replay::gathered(const Drawn& drawn) {
  const at::NoGradGuard no_grad;
  const auto n = static_cast<std::int64_t>(drawn.places.size());
  const at::Tensor index = at::empty({n}, at::kLong);
  std::copy(drawn.places.begin(), drawn.places.end(), index.data_ptr<std::int64_t>());
  TensorDict result;
  const std::shared_ptr<const RowSource>& source = rows_->source();
  if (source->plain()) {
    std::shared_ptr<PooledBatch> batch = pool_.take(source, {n});
    source->copy_rows(drawn.places, batch->targets());
    result = batch->dict();
    pool_.give(batch);
  } else {
    result = source->pick(index);
  }
  const auto put = [&](std::string_view name, const at::Tensor& value) {
    const std::string_view path[] = {name};
    result.set(path, value);
  };
  put("index", index);
  if (!drawn.weights.empty()) {
    const at::Tensor weights = at::empty({n}, at::kFloat);
    std::copy(drawn.weights.begin(), drawn.weights.end(), weights.data_ptr<float>());
    put("priority_weight", weights);
  }
  return result;
}

Priorities& Replay::priorities() {
  if (priorities_ == nullptr)
    fail(Code::unsupported, "the buffer draws without priorities: only a prioritized one has them");
  priorities_->follow(counts_);
  return *priorities_;
}

void Replay::update_priority(const at::Tensor& places, const at::Tensor& priorities_of) {
  const Hold hold(*this, /*alone=*/false);
  priorities().update(places, priorities_of, counts_);
}

void Replay::set_beta(double beta) {
  const Hold hold(*this, /*alone=*/false);
  priorities().set_beta(beta);
}

RingCounts Replay::counts() {
  const Hold hold(*this, /*alone=*/false);
  return counts_;
}

TensorDict Replay::dict() {
  const Hold hold(*this, /*alone=*/false);
  if (!rows_) {
    const std::int64_t none[] = {0};
    return TensorDict(none);
  }
  return narrow(rows_->dict(), 0, 0, counts_.length);
}

void Replay::save(const std::string& path, bool durable) {
  const bool own = live_ && (path.empty() || files::absolute(path) == live_->folder());
  const Hold hold(*this, /*alone=*/own);
  if (path.empty() && !own)
    fail(Code::invalid_argument, "the buffer has no folder of its own: name one");
  if (counts_.gap != 0) {
    fail(Code::busy, "the writer of ", counts_.gap, " rows at place ", counts_.cursor,
         " died before they were whole: write others there first");
  }
  sampler_->follow(counts_);
  ReplayFiles content = files_;
  content.set(counts_, random_, options_.rows);
  if (own) {
    if (rows_ && durable) memmap_flush(rows_->dict());
    ReplayFiles changed = content;
    changed.others.clear();  // they are there
    changed.write(live_->folder(), /*in_new=*/false, sampler_.get());
    if (durable) files::sync_tree(live_->directory(), live_->folder());
    live_->note_stored(counts_);
  } else {
    if (!rows_)
      fail(Code::shape,
           "the buffer holds no rows yet: nothing says what a folder of them looks like");
    save_replay(path, content, &rows_->dict(), sampler_.get(), durable);
  }
  files_ = std::move(content);
}

}  // namespace td
