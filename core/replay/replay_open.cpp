// Makes a buffer, or opens one in a folder.
#include "core/io/folder.h"
#include "core/memmap/memmap.h"
#include "core/replay/compact_storage.h"
#include "core/replay/replay.h"
#include "core/replay/sampler_record.h"
#include "core/tensor/mapped_tensor.h"
#include "core/tree/walk.h"

#include <fcntl.h>
#include <algorithm>
#include <cerrno>

namespace td {

namespace {

constexpr std::size_t kept_batches = 4;

// Reserves disk space: a full disk would raise a signal when mapped memory is written.
void make_room(const std::string& path, std::size_t bytes) {
  const files::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  while (::fallocate(file.get(), 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return;  // such file systems cannot reserve
    files::fail_io("cannot make room for", path, errno);
  }
}

TensorDict load_rows(const std::string& folder, bool live, const std::string& member = {}) {
  LoadOptions options;
  options.private_mapping = !live;
  options.device = at::Device(at::kCPU);
  TensorDict rows = load_memmap(files::join(folder, replay_folder::storage) + member, options);
  if (is_compact_storage(rows)) {
    if (live) {
      fail(Code::unsupported, "the rows in \"", folder,
           "\" are stored without what repeats (FlatStorageCheckpointer): they can be loaded, "
           "and saved to another folder, but not shared");
    }
    rows = expand_compact_storage(rows);
  }
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

Replay::Replay(const ReplayOptions& options) : options_(checked(options)), pool_(kept_batches) {
  if (options_.capacity < 1)
    fail(Code::invalid_argument, "capacity is ", options_.capacity, "; it must be at least 1");
  if (options_.sampling == ReplaySampling::as_stored) options_.sampling = ReplaySampling::random;
  files_ = ReplayFiles::fresh(options_);
  counts_ = files_.counts;
  random_ = *files_.random;
  make_sampler();
  if (options_.folder.empty()) return;
  if (options_.dims > 1) {
    fail(Code::unsupported, "a storage of ", options_.dims,
         " dimensions is made in memory: save it, and load the folder");
  }
  const std::string folder = files::absolute(options_.folder);
  if (files::look(files::join(folder, ".")).found != files::Found::nothing &&
      !files::list(folder).empty()) {
    fail(Code::io, "cannot make a buffer in \"", folder, "\": the folder is not empty");
  }
  files_.set(counts_, random_, options_);
  save_replay(folder, files_, nullptr, nullptr, /*durable=*/false, LiveFolder::text(counts_));
  live_ = std::make_unique<LiveFolder>(folder, LiveFolder::Use::share);
}

namespace {

// "/0" for "folder/storage/0", a buffer of an ensemble, which becomes "folder"; else empty.
std::string member_of(std::string& path) {
  if (files::look(files::join(path, "storage_metadata.json")).found != files::Found::file ||
      files::look(files::join(path, replay_folder::storage)).found != files::Found::nothing)
    return {};
  const std::size_t name = path.rfind('/');
  const std::size_t parent =
      name == 0 || name == std::string::npos ? name : path.rfind('/', name - 1);
  if (parent == std::string::npos ||
      path.compare(parent + 1, name - parent - 1, replay_folder::storage) != 0)
    return {};
  std::string folder = path.substr(0, parent), member = path.substr(name);
  if (!replay_folder::ensemble_in(folder)) return {};
  path = std::move(folder);
  return member;
}

}  // namespace

std::unique_ptr<Replay> Replay::open(const std::string& folder, const ReplayOptions& options,
                                     bool live) {
  if (folder.empty()) fail(Code::io, "no such folder: the path is empty");
  std::string path = files::absolute(folder);
  const std::string member = member_of(path);
  std::unique_ptr<Replay> result(new Replay(options, path));
  result->member_ = member;
  if (member.empty() && replay_folder::ensemble_in(path)) {
    result->open_members();
  } else {
    result->open_files(live);
  }
  if (live && (!member.empty() || !result->members_.empty()))
    fail(Code::unsupported, "\"", folder, "\" is an ensemble's: it can be loaded, but not shared");
  return result;
}

std::unique_ptr<Replay> Replay::over(TensorDict known, ReadRows read, ReplayOptions options) {
  options.capacity = known.batch_size()[0];
  auto result = std::make_unique<Replay>(options);
  result->counts_ = result->counts_.after(options.capacity);
  result->rows_ = std::make_unique<RingRows>(std::move(known));
  result->read_ = std::move(read);
  return result;
}

// Opens the buffers of an ensemble, each with the sampler of its own files.
void Replay::open_members() {
  const std::string& folder = options_.folder;
  const replay_folder::Ensemble ensemble = *replay_folder::ensemble_in(folder);
  if (ensemble.members == 0) fail(Code::format, "the ensemble in \"", folder, "\" has no buffers");
  options_.rows = options_.rows != 0 ? options_.rows : ReplayFiles::batch_rows(folder).value_or(0);
  RandomNumbers seeds{options_.seed, 0};
  for (std::int64_t k = 0; k < ensemble.members; ++k) {
    ReplayOptions options = options_;
    options.seed = seeds.next();
    std::unique_ptr<Replay> member(new Replay(options, folder));
    member->member_ = "/" + std::to_string(k);
    member->is_empty_ =
        std::find(ensemble.empty.begin(), ensemble.empty.end(), k) != ensemble.empty.end();
    member->open_files(/*live=*/false);
    if (!member->is_empty_) counts_.capacity += member->counts_.capacity;
    counts_.length += member->counts_.length;
    counts_.written += member->counts().written;
    members_.push_back(std::move(member));
  }
  if (options_.capacity != 0 && options_.capacity != counts_.capacity) {
    fail(Code::invalid_argument, "capacity is ", options_.capacity, "; the ensemble in \"", folder,
         "\" has ", counts_.capacity);
  }
  random_ = RandomNumbers{options_.seed, 0};
}

Replay::Replay(ReplayOptions options, std::string folder)
    : options_(std::move(options)), pool_(kept_batches) {
  options_.folder = std::move(folder);
}

void Replay::open_files(bool live) {
  const std::string& folder = options_.folder;
  // Validate the folder before creating a live file in it. No process writes while that file is missing.
  if (live &&
      files::look(files::join(folder, LiveFolder::file_name)).found == files::Found::nothing)
    ReplayFiles::read(folder, {});
  std::unique_ptr<LiveFolder> opened;
  std::optional<LiveFolder::Hold> hold;
  do {
    hold.reset();
    opened =
        std::make_unique<LiveFolder>(folder, live ? LiveFolder::Use::share : LiveFolder::Use::read);
    // Under the lock, rows, JSON files and sampler files belong to the same save.
    hold.emplace(*opened, /*alone=*/live);
  } while (opened->is_removed());
  struct Made {  // by this call, which has not succeeded yet
    LiveFolder* live;
    ~Made() {
      if (live != nullptr) live->remove();
    }
  } made{live && opened->is_new() ? opened.get() : nullptr};
  std::optional<TensorDict> rows;
  if (replay_folder::holds_rows(folder, member_) && !is_empty_)
    rows = load_rows(folder, live, member_);
  files_ =
      ReplayFiles::read(folder, rows ? rows->batch_size() : SizesView(), member_, options_.dims);
  if (live && !rows && options_.dims > 1)
    fail(Code::unsupported, "\"", folder,
         "\" has no rows yet: its storage will have one dimension");
  if (is_empty_) files_.counts = RingCounts{1, 0, 0, 0, 0};  // nothing says how many places it has
  counts_ = opened->begin(files_.counts);
  files_.counts.capacity = counts_.capacity;
  if (rows) rows_ = std::make_unique<RingRows>(flat(*rows, files_.inner), files_.places());
  if (!rows_ && counts_.written != 0)
    fail(Code::io, "no rows in \"", folder, "\": it has no storage/meta.json");
  if (member_.empty() && options_.capacity != 0 && options_.capacity != counts_.capacity) {
    fail(Code::invalid_argument, "capacity is ", options_.capacity, "; the buffer in \"", folder,
         "\" has ", counts_.capacity);
  }
  options_.capacity = counts_.capacity;
  options_.as_stored = options_.sampling == ReplaySampling::as_stored;
  if (options_.as_stored) {
    options_.sampling = files_.sampling;
    // What another program has written since counts for more.
    const std::optional<ReplayOptions>& record = files_.sampler_options;
    if (record && by_files(record->sampling) == files_.sampling)
      options_ = with_record(std::move(options_), *record);
  }
  if (options_.rows == 0) options_.rows = files_.rows.value_or(0);
  options_ = checked(std::move(options_));
  random_ = files_.random.value_or(RandomNumbers{options_.seed, 0});
  make_sampler();
  if (files_.sampling == by_files(options_.sampling) && files_.foreign.empty())
    load_sampler(opened->cut_off_save());
  made.live = nullptr;
  if (live) live_ = std::move(opened);
}

// A process that died in a save leaves files of two saves: those of the older one count, or those of the newer, or the
// sampler begins anew.
void Replay::load_sampler(const std::optional<RingCounts>& cut_off) {
  // The sampler's files are as old as the JSON files and do not cover newer rows.
  RingCounts then = counts_;
  if (files_.counts.written != counts_.written) then = files_.counts;
  then.gap = 0;
  const std::string folder = files::join(options_.folder, replay_folder::sampler) + member_;
  if (!cut_off) return sampler_->load(folder, then);
  for (const RingCounts& counts : {then, *cut_off}) {
    try {
      return sampler_->load(folder, counts);
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
      make_sampler();
    }
  }
}

void Replay::make_sampler() {
  switch (options_.sampling) {
    case ReplaySampling::as_stored:
    case ReplaySampling::random: sampler_ = make_random_draws(); break;
    case ReplaySampling::without_replacement:
      sampler_ = make_draws_without_replacement(options_);
      break;
    case ReplaySampling::foreign: sampler_ = make_foreign_draws(files_.foreign); break;
    case ReplaySampling::slices:
    case ReplaySampling::slices_without_replacement: sampler_ = make_slice_draws(options_); break;
    case ReplaySampling::prioritized_slices: sampler_ = make_prioritized_slices(options_); break;
    case ReplaySampling::prioritized:
      sampler_ = std::make_unique<Priorities>(options_, options_.capacity);
      break;
  }
  priorities_ = sampler_->priorities();
  if (options_.steps > 0) returns_.emplace(options_);
}

// Opens the rows that another process has created.
void Replay::attach() {
  const std::string& folder = live_->folder();
  auto rows = std::make_unique<RingRows>(load_rows(folder, /*live=*/true));
  if (rows->dict().batch_size()[0] != counts_.capacity) {
    fail(Code::format, "the rows in \"", folder, "\" are ", rows->dict().batch_size()[0],
         "; the buffer has places for ", counts_.capacity);
  }
  rows_ = std::move(rows);
}

std::unique_ptr<RingRows> Replay::new_rows(const TensorDict& like,
                                           std::int64_t places_of_row) const {
  if (!live_)
    return std::make_unique<RingRows>(RingRows::like(like, counts_.capacity), places_of_row);
  const std::string path = files::join(live_->folder(), replay_folder::storage);
  memmap_like(RingRows::shape_like(like, counts_.capacity), path);
  return std::make_unique<RingRows>(load_rows(live_->folder(), /*live=*/true));
}

}  // namespace td
