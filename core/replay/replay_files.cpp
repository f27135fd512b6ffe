#include "core/replay/replay_files.h"

#include "core/io/folder.h"
#include "core/io/new_file.h"
#include "core/io/unfinished.h"
#include "core/memmap/memmap.h"
#include "core/replay/live_folder.h"
#include "core/replay/priorities.h"
#include "core/replay/sampler_record.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace td {

namespace {

using files::Found;
using files::join;
using replay_folder::buffer_json;
using replay_folder::draws_json;
using replay_folder::finished;
using replay_folder::longest_json;
using replay_folder::queue_file;
using replay_folder::storage_json;
using replay_folder::writer_json;

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

void read_draws(ReplayFiles& files, const std::string& folder) {
  const JsonMembers members = members_in(folder, draws_json);
  files.random =
      RandomNumbers{static_cast<std::uint64_t>(number_in(members, folder, draws_json, "seed")),
                    static_cast<std::uint64_t>(number_in(members, folder, draws_json, "drawn"))};
  if (const Plain* sampler = members.find("sampler"))
    files.sampler_options = read_sampler_record(*sampler, "\"" + join(folder, draws_json) + "\"");
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Computes the ring's counts. `rows`: how many of the first dimension hold rows. The number of storage dimensions is
// not stored: it follows from the number of elements in the rows of the first dimension.
void count_places(ReplayFiles& files, SizesView storage, std::int64_t cursor, std::int64_t written,
                  std::int64_t rows, std::optional<std::int64_t> known, std::int64_t wanted,
                  const std::string& folder) {
  RingCounts& counts = files.counts;
  counts.cursor = cursor;
  counts.written = written;
  if (storage.empty()) return;
  counts.capacity = storage[0];
  std::int64_t places = 1;
  std::size_t dims = 1;
  const auto more = [&] {
    std::int64_t product = 0;
    if (dims == storage.size() || storage[dims] < 1 ||
        __builtin_mul_overflow(places, storage[dims], &product) ||
        product > std::numeric_limits<std::int64_t>::max() / storage[0])
      return false;
    places = product;
    ++dims;
    return true;
  };
  const auto find = [&](const auto& fits) {
    places = 1;
    dims = 1;
    do {
      if (fits()) return true;
    } while (more());
    places = 1;
    dims = 1;
    return false;
  };
  const bool named = wanted != 0 && find([&] { return dims == static_cast<std::size_t>(wanted); });
  if (wanted != 0 && !named) {
    fail(Code::invalid_argument, "dims is ", wanted, "; the rows in \"", folder,
         "\" have batch size ", show_sizes(storage));
  }
  // Priorities say how many places there are. Rows that write_at() wrote are not those that the counter counts.
  const bool found =
      named || (known && find([&] { return storage[0] * places == *known; })) || rows <= 0 ||
      find([&] { return counts.length == places * rows; }) ||
      find([&] { return counts.length % places == 0 && counts.length / places <= storage[0]; });
  static_cast<void>(found);  // check() refuses what does not fit
  files.inner.assign(storage.begin() + 1, storage.begin() + static_cast<std::ptrdiff_t>(dims));
  counts.capacity *= places;
  if (__builtin_mul_overflow(cursor, places, &counts.cursor) ||
      __builtin_mul_overflow(written, places, &counts.written)) {
    fail(Code::format, "\"", join(folder, writer_json), "\" says that ", written,
         " rows were written, of ", places, " elements each");
  }
}

// Forms of a storage that hold no dictionary of tensors, by their files.
void refuse_other_storages(const std::string& storage) {
  if (files::look(join(storage, "data_indices.json")).found != Found::nothing ||
      files::look(join(storage, "compressed_data")).found != Found::nothing) {
    fail(Code::unsupported, "\"", storage,
         "\" is a compressed list (CompressedListStorage): its rows can be read by TorchRL only");
  }
  if (files::look(join(storage, ".")).found != Found::folder) return;
  for (const files::Item& item : finished(storage)) {
    if (item.found == Found::file && files::ends_with(item.name, ".h5")) {
      fail(Code::unsupported, "\"", join(storage, item.name),
           "\" is an HDF5 file (H5StorageCheckpointer): its rows can be read by TorchRL only");
    }
  }
}

// Finds out which sampler wrote its files, and how many places they are of.
void find_sampler(ReplayFiles& files, const std::string& sampler,
                  std::optional<std::int64_t>& places) {
  const auto has = [&](const char* name) {
    return files::look(join(sampler, name)).found != Found::nothing;
  };
  const auto foreign = [&](std::string name, bool knows_rows) {
    files.sampling = ReplaySampling::foreign;
    files.foreign = std::move(name);
    files.knows_rows = knows_rows;
  };
  const Plain* consumed = files.buffer.find("consume_after_n_samples");
  if (has(Priorities::settings_file)) {
    files.sampling = ReplaySampling::prioritized;
    const std::string path = join(sampler, Priorities::settings_file);
    const JsonMembers settings(files::read(path, longest_json), "\"" + path + "\"");
    const std::optional<double> capacity = settings.real("_max_capacity");
    if (capacity && *capacity >= 1 && *capacity <= 0x1p53)
      places = static_cast<std::int64_t>(*capacity);
  } else if (has("len_storage.memmap")) {
    files.sampling = ReplaySampling::without_replacement;
  } else if (has("consuming_sampler.pt") || (consumed != nullptr && !consumed->is(Plain::null))) {
    foreign("ConsumingSampler", true);
  } else if (has("streaming_slice.pt")) {
    foreign("StreamingSliceSampler", true);
  } else if (has("consumer_version.memmap")) {
    foreign("StalenessAwareSampler", false);  // rows carry their versions themselves
  } else if (has("meta.json")) {
    foreign("a sampler of TorchRL that is not known here", true);
  }
}

std::optional<std::int64_t> rows_in(const JsonMembers& buffer, const std::string& folder) {
  const Plain* rows = buffer.find("batch_size");
  if (rows == nullptr || rows->is(Plain::null)) return std::nullopt;
  const std::optional<std::int64_t> result = buffer.integer("batch_size");
  if (*result < 1)
    fail(Code::format, "\"", join(folder, buffer_json), "\" has batch_size ", *result);
  return result;
}

}  // namespace

std::int64_t product_of(SizesView sizes) noexcept {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
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

std::optional<std::int64_t> ReplayFiles::batch_rows(const std::string& folder) {
  if (files::look(join(folder, buffer_json)).found == Found::nothing) return std::nullopt;
  return rows_in(members_in(folder, buffer_json), folder);
}

ReplayFiles ReplayFiles::read(const std::string& folder, SizesView storage,
                              const std::string& member, std::int64_t dims) {
  const std::string storage_of = join(replay_folder::storage + member, "storage_metadata.json");
  const std::string writer_of = join(replay_folder::writer + member, "metadata.json");
  const char* const storage_json = storage_of.c_str();
  const char* const writer_json = writer_of.c_str();
  ReplayFiles result = fresh(ReplayOptions());
  result.random.reset();
  refuse_other_storages(join(folder, replay_folder::storage) + member);
  const bool described = files::look(join(folder, storage_json)).found != Found::nothing;
  if (!described && files::look(join(folder, writer_json)).found == Found::nothing &&
      replay_folder::holds_rows(folder, member)) {
    fail(Code::io, "\"", folder, "\" has rows, but its writer has not saved it: neither \"",
         storage_of, "\" nor \"", writer_of,
         "\" says how many places hold one; \"storage\" can be loaded as a dictionary");
  }
  // What has neither file is no buffer's folder: reading one says so.
  result.state.immutable =
      described && files::look(join(folder, writer_json)).found == Found::nothing;
  if (!result.state.immutable) result.writer = members_in(folder, writer_json);
  if (described) result.storage = members_in(folder, storage_json);
  if (files::look(join(folder, buffer_json)).found != Found::nothing)
    result.buffer = members_in(folder, buffer_json);
  if (files::look(join(folder, draws_json)).found != Found::nothing) read_draws(result, folder);
  const Plain* tree = result.storage.find("is_pytree");
  if (tree != nullptr && (!tree->is(Plain::boolean) || tree->truth()))
    fail(Code::unsupported, "\"", join(folder, storage_json),
         "\" says that a pytree is stored, and no dictionary");
  result.rows = rows_in(result.buffer, folder);
  result.counts.length = number_in(result.storage, folder, storage_json, "len");
  std::optional<std::int64_t> known;
  find_sampler(result, join(folder, replay_folder::sampler) + member, known);
  if (result.state.immutable) {
    // Nothing counts the rows that were written: they are those that are there.
    count_places(result, storage, 0, 0, storage.empty() ? 0 : storage[0], known, dims, folder);
    result.counts.written = std::max<std::int64_t>(result.counts.length, 0);
    result.counts.cursor =
        result.counts.capacity > 0 ? result.counts.written % result.counts.capacity : 0;
  } else {
    const std::int64_t places = storage.empty() ? 0 : storage[0];
    const std::int64_t written = number_in(result.writer, folder, writer_json, "write_count");
    count_places(result, storage, number_in(result.writer, folder, writer_json, "cursor"), written,
                 std::min(written, places), known, dims, folder);
    result.state =
        WriterState::read(join(folder, replay_folder::writer) + member, result.writer, places);
  }
  if (member.empty()) result.others = replay_folder::others_in(folder, !result.foreign.empty());
  return result;
}

void ReplayFiles::set(const RingCounts& now, const RandomNumbers& numbers,
                      const ReplayOptions& options) {
  counts = now;
  const std::int64_t batch = options.rows;
  storage.set("len", std::to_string(now.length));
  if (!state.immutable) writer.set("cursor", std::to_string(now.cursor / places()));
  if (!state.immutable) writer.set("write_count", std::to_string(now.written / places()));
  if (batch != 0 && rows != batch) buffer.set("batch_size", std::to_string(batch));
  // Keep a folder of Python's unchanged until rows are drawn.
  if (random || numbers.drawn != 0) random = numbers;
  sampler_options = options;
}

void ReplayFiles::write(const std::string& folder, bool in_new,
                        const ReplaySampler* sampler) const {
  files::NewFolders made;
  const auto folders_for = [&](const std::string& path) {
    made.make_with_parents(parent_of(join(folder, path)));
  };
  const bool other_sampler = !foreign.empty() && sampler != nullptr && sampler->has_files();
  for (const auto& [path, content] : others) {
    if (other_sampler && path.rfind(std::string(replay_folder::sampler) + "/", 0) == 0) continue;
    folders_for(path);
    write_file(join(folder, path), in_new, content);
  }
  if (sampler != nullptr) sampler->save(join(folder, replay_folder::sampler), in_new);
  folders_for(storage_json);
  write_file(join(folder, storage_json), in_new, storage.text());
  if (random) {
    const std::string record = sampler_options ? sampler_record(*sampler_options) : std::string();
    write_file(join(folder, draws_json), in_new,
               "{\"seed\": " + std::to_string(static_cast<std::int64_t>(random->seed)) +
                   ", \"drawn\": " + std::to_string(random->drawn) +
                   (record.empty() ? "" : ", \"sampler\": " + record) + "}");
  }
  write_file(join(folder, buffer_json), in_new, buffer.text());
  if (!state.immutable) {
    folders_for(writer_json);
    JsonMembers counted = writer;
    state.write(join(folder, replay_folder::writer), in_new, counted);
    write_file(join(folder, writer_json), in_new, counted.text());
  }
  made.keep();
}

NewReplayFolder::NewReplayFolder(const std::string& path)
    : target_(files::absolute(path)),
      there_(files::look(join(target_, ".")).found == Found::folder),
      replacement_(target_, nullptr, !there_ || replay_folder::is_one(target_)) {
  if (!there_) return;
  for (const files::Item& item : finished(target_)) {
    if (!replay_folder::is_ours(item.name)) replacement_.keep(item.name);
  }
  replacement_.drop(queue_file);
  replacement_.drop(LiveFolder::file_name);
}

std::string NewReplayFolder::storage() const {
  return join(replacement_.path(), replay_folder::storage);
}

void NewReplayFolder::commit(const ReplayFiles& content, const ReplaySampler* sampler, bool durable,
                             const std::string& extra) {
  const std::string& folder = replacement_.path();
  content.write(folder, /*in_new=*/true, sampler);
  // When files are replaced one by one, those of another sampler or writer would remain.
  for (const char* part : {replay_folder::sampler, replay_folder::writer}) {
    const std::string old = join(target_, part);
    if (!there_ || files::look(old).found != Found::folder) continue;
    for (const files::Item& item : files::list(old)) {
      const std::string path_of = join(part, item.name);
      if (files::look(join(folder, path_of)).found == Found::nothing) replacement_.drop(path_of);
    }
  }
  if (!extra.empty()) write_file(join(folder, LiveFolder::file_name), true, extra);
  replacement_.commit(durable);
}

void save_replay(const std::string& path, const ReplayFiles& content, const TensorDict* rows,
                 const ReplaySampler* sampler, bool durable, const std::string& extra) {
  NewReplayFolder folder(path);
  if (rows != nullptr) {
    MemmapOptions options;
    options.copy_existing = true;
    options.aside = true;
    memmap(*rows, folder.storage(), options);
  }
  folder.commit(content, sampler, durable, extra);
}

}  // namespace td
