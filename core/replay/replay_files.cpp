#include "core/replay/replay_files.h"

#include "core/io/folder.h"
#include "core/io/new_file.h"
#include "core/io/unfinished.h"
#include "core/memmap/memmap.h"
#include "core/replay/live_folder.h"
#include "core/replay/priorities.h"

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <functional>
#include <limits>
#include <numeric>

namespace td {

namespace {

using files::Found;
using files::join;

constexpr std::size_t longest_json = std::size_t{1} << 20;
constexpr std::size_t most_other_bytes = std::size_t{64} << 20;
constexpr const char* storage_json = "storage/storage_metadata.json";
constexpr const char* writer_json = "writer/metadata.json";
constexpr const char* buffer_json = "buffer_metadata.json";
constexpr const char* draws_json = "draws.json";  // Python ignores it
constexpr const char* queue_file = "prefetch.pkl";

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Files that a save rewrites, or that become stale: batches that Python has drawn ahead.
bool is_ours(std::string_view name) {
  return is_one_of(name, {replay_folder::storage, replay_folder::sampler, replay_folder::writer,
                          buffer_json, draws_json, queue_file, LiveFolder::file_name});
}

bool is_ours_in_sampler(std::string_view name) {
  return is_one_of(
      name, {Priorities::settings_file, "sumtree.memmap", "mintree.memmap", "meta.json",
             "len_storage.memmap", "_sample_list.memmap", "drop_last.memmap", "_ran_out.memmap"});
}

JsonMembers members_in(const std::string& folder, const char* name) {
  const std::string path = join(folder, name);
  return JsonMembers(files::read(path, longest_json), "\"" + path + "\"");
}

std::int64_t number_in(const JsonMembers& members, const std::string& folder, const char* file,
                       const char* name) {
  const std::optional<std::int64_t> value = members.integer(name);
  if (!value) fail(Code::format, "\"", join(folder, file), "\" has no \"", name, "\"");
  return *value;
}

void write_file(const std::string& path, bool in_new, const std::string& text) {
  files::NewFile file(path, in_new);
  file.write(text.data(), text.size());
  file.commit();
}

// The items of a folder, without unfinished ones.
std::vector<files::Item> finished(const std::string& path) {
  const files::Descriptor folder(::open(path.c_str(), files::folder_flags));
  if (!folder.is_open()) files::fail_io("cannot open the folder", path, errno);
  std::vector<files::Item> items = files::list(folder.get(), path);
  const auto left = [&](const files::Item& item) {
    return files::is_unfinished(folder.get(), item);
  };
  items.erase(std::remove_if(items.begin(), items.end(), left), items.end());
  return items;
}

// Collects unknown files below a folder; does not follow links.
class Others {
 public:
  explicit Others(const std::string& root) : root_(root) {}

  std::vector<std::pair<std::string, std::string>> collect() {
    for (const files::Item& item : finished(root_))
      if (!is_ours(item.name)) take(item, item.name);
    if (files::look(join(root_, replay_folder::sampler)).found == Found::folder) {
      for (const files::Item& item : finished(join(root_, replay_folder::sampler)))
        if (!is_ours_in_sampler(item.name)) take(item, join(replay_folder::sampler, item.name));
    }
    return std::move(found_);
  }

 private:
  void take(const files::Item& item, const std::string& path) {
    std::vector<std::pair<Found, std::string>> todo{{item.found, path}};
    while (!todo.empty()) {
      const auto [found, at] = std::move(todo.back());
      todo.pop_back();
      if (found == Found::file) {
        found_.emplace_back(at, files::read(join(root_, at), most_other_bytes - bytes_));
        bytes_ += found_.back().second.size();
      } else if (found == Found::folder) {
        for (const files::Item& inner : files::list(join(root_, at)))
          todo.emplace_back(inner.found, join(at, inner.name));
      }
      if (found_.size() + todo.size() > 10000)
        fail(Code::format, "\"", root_, "\" holds more than 10000 files of other parts");
    }
  }

  const std::string& root_;
  std::vector<std::pair<std::string, std::string>> found_;
  std::size_t bytes_ = 0;
};

RandomNumbers read_draws(const std::string& folder) {
  const JsonMembers members = members_in(folder, draws_json);
  return {static_cast<std::uint64_t>(number_in(members, folder, draws_json, "seed")),
          static_cast<std::uint64_t>(number_in(members, folder, draws_json, "drawn"))};
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

bool replay_folder::holds_rows(const std::string& folder) {
  return files::look(join(join(folder, storage), "meta.json")).found != Found::nothing;
}

ReplayFiles ReplayFiles::fresh(const ReplayOptions& options) {
  ReplayFiles result;
  result.counts.capacity = options.capacity;
  result.storage = JsonMembers("{\"metadata\": {}, \"is_pytree\": false, \"len\": 0}", "");
  result.writer = JsonMembers("{\"cursor\": 0, \"write_count\": 0}", "");
  result.buffer = JsonMembers("{\"batch_size\": null, \"consume_after_n_samples\": null}", "");
  result.random = RandomNumbers{options.seed, 0};
  return result;
}

namespace {

// Computes the ring's counts. The number of storage dimensions is not stored: it follows from the number of
// elements in the rows of the first dimension.
void count_places(ReplayFiles& files, SizesView storage, std::int64_t cursor, std::int64_t written,
                  const std::string& folder) {
  RingCounts& counts = files.counts;
  counts.cursor = cursor;
  counts.written = written;
  if (storage.empty()) return;
  counts.capacity = storage[0];
  const std::int64_t rows = std::min(written, storage[0]);
  std::int64_t places = 1;
  std::size_t dims = 1;
  while (rows > 0 && counts.length != places * rows) {
    if (dims == storage.size() || storage[dims] < 1 ||
        __builtin_mul_overflow(places, storage[dims], &places) ||
        places > std::numeric_limits<std::int64_t>::max() / storage[0])
      return;  // check() refuses these counts
    ++dims;
  }
  files.inner.assign(storage.begin() + 1, storage.begin() + static_cast<std::ptrdiff_t>(dims));
  counts.capacity *= places;
  if (__builtin_mul_overflow(cursor, places, &counts.cursor) ||
      __builtin_mul_overflow(written, places, &counts.written)) {
    fail(Code::format, "\"", join(folder, writer_json), "\" says that ", written,
         " rows were written, of ", places, " elements each");
  }
}

}  // namespace

std::int64_t ReplayFiles::places() const noexcept {
  return std::accumulate(inner.begin(), inner.end(), std::int64_t{1}, std::multiplies<>());
}

ReplayFiles ReplayFiles::read(const std::string& folder, SizesView storage) {
  ReplayFiles result = fresh(ReplayOptions());
  result.random.reset();
  result.writer = members_in(folder, writer_json);
  if (files::look(join(folder, storage_json)).found != Found::nothing)
    result.storage = members_in(folder, storage_json);
  if (files::look(join(folder, buffer_json)).found != Found::nothing)
    result.buffer = members_in(folder, buffer_json);
  if (files::look(join(folder, draws_json)).found != Found::nothing)
    result.random = read_draws(folder);
  const Plain* tree = result.storage.find("is_pytree");
  if (tree != nullptr && (!tree->is(Plain::boolean) || tree->truth()))
    fail(Code::unsupported, "\"", join(folder, storage_json),
         "\" says that no dictionary is stored");
  const Plain* rows = result.buffer.find("batch_size");
  if (rows != nullptr && !rows->is(Plain::null)) {
    result.rows = result.buffer.integer("batch_size");
    if (*result.rows < 1)
      fail(Code::format, "\"", join(folder, buffer_json), "\" has batch_size ", *result.rows);
  }
  result.counts.length = number_in(result.storage, folder, storage_json, "len");
  count_places(result, storage, number_in(result.writer, folder, writer_json, "cursor"),
               number_in(result.writer, folder, writer_json, "write_count"), folder);
  const std::string sampler = join(folder, replay_folder::sampler);
  if (files::look(join(sampler, Priorities::settings_file)).found != Found::nothing) {
    result.sampling = ReplaySampling::prioritized;
  } else if (files::look(join(sampler, "len_storage.memmap")).found != Found::nothing) {
    result.sampling = ReplaySampling::without_replacement;
  }
  result.others = Others(folder).collect();
  return result;
}

void ReplayFiles::set(const RingCounts& now, const RandomNumbers& numbers, std::int64_t batch) {
  counts = now;
  storage.set("len", std::to_string(now.length));
  writer.set("cursor", std::to_string(now.cursor / places()));
  writer.set("write_count", std::to_string(now.written / places()));
  if (batch != 0 && rows != batch) buffer.set("batch_size", std::to_string(batch));
  // Keep a folder of Python's unchanged until rows are drawn.
  if (random || numbers.drawn != 0) random = numbers;
}

void ReplayFiles::write(const std::string& folder, bool in_new,
                        const ReplaySampler* sampler) const {
  files::NewFolders made;
  const auto folders_for = [&](const std::string& path) {
    made.make_with_parents(parent_of(join(folder, path)));
  };
  for (const auto& [path, content] : others) {
    folders_for(path);
    write_file(join(folder, path), in_new, content);
  }
  if (sampler != nullptr) sampler->save(join(folder, replay_folder::sampler), in_new);
  folders_for(storage_json);
  write_file(join(folder, storage_json), in_new, storage.text());
  if (random) {
    write_file(join(folder, draws_json), in_new,
               "{\"seed\": " + std::to_string(static_cast<std::int64_t>(random->seed)) +
                   ", \"drawn\": " + std::to_string(random->drawn) + "}");
  }
  write_file(join(folder, buffer_json), in_new, buffer.text());
  folders_for(writer_json);
  write_file(join(folder, writer_json), in_new, writer.text());
  made.keep();
}

void save_replay(const std::string& path, const ReplayFiles& content, const TensorDict* rows,
                 const ReplaySampler* sampler, bool durable, const std::string& extra) {
  const std::string target = files::absolute(path);
  const bool there = files::look(join(target, ".")).found == Found::folder;
  const bool replay = there && files::look(join(target, writer_json)).found == Found::file;
  files::FolderReplacement replacement(target, nullptr, replay || !there);
  if (there) {
    for (const files::Item& item : finished(target)) {
      if (!is_ours(item.name)) replacement.keep(item.name);
    }
    replacement.drop(queue_file);
    replacement.drop(LiveFolder::file_name);
  }
  const std::string& folder = replacement.path();
  if (rows != nullptr) {
    MemmapOptions options;
    options.copy_existing = true;
    options.aside = true;
    memmap(*rows, join(folder, replay_folder::storage), options);
  }
  content.write(folder, /*in_new=*/true, sampler);
  // When files are replaced one by one, those of another sampler would remain.
  const std::string old = join(target, replay_folder::sampler);
  if (there && files::look(old).found == Found::folder) {
    for (const files::Item& item : files::list(old)) {
      const std::string path_of = join(replay_folder::sampler, item.name);
      if (files::look(join(folder, path_of)).found == Found::nothing) replacement.drop(path_of);
    }
  }
  if (!extra.empty()) write_file(join(folder, LiveFolder::file_name), true, extra);
  replacement.commit(durable);
}

}  // namespace td
