// core/replay/replay_files.h: the folder of a replay buffer, in TorchRL's format.
#pragma once

#include "core/io/folder.h"
#include "core/replay/json_members.h"
#include "core/replay/replay_folder.h"
#include "core/replay/replay_sampler.h"
#include "core/replay/writer_state.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace td {

std::int64_t product_of(SizesView sizes) noexcept;

// The metadata of a folder, without rows and sampler state. Not trusted.
struct ReplayFiles {
  RingCounts counts;
  // The storage dimensions after the first; each of their elements has its own place. TorchRL then counts
  // elements in "len", but rows of the first dimension in the cursor.
  Sizes inner;
  JsonMembers storage, writer, buffer;
  std::optional<std::int64_t> rows;              // of a batch
  std::optional<RandomNumbers> random;           // only this library writes them
  std::optional<ReplayOptions> sampler_options;  // and these: what the sampler's files do not say
  ReplaySampling sampling = ReplaySampling::random;  // which sampler wrote its files
  std::string foreign;                               // the sampler's name, if only TorchRL has it
  bool knows_rows = false;                           // its state says something of each row
  WriterState state;

  // Files of components that this library lacks: relative path and content.
  std::vector<std::pair<std::string, std::string>> others;

  // For a new buffer.
  static ReplayFiles fresh(const ReplayOptions& options);

  // `storage`: batch size of the stored dictionary; empty if no row was written. Throws Code::io,
  // Code::format, Code::unsupported.
  // `member`: "/0", … for one buffer of an ensemble; empty: of the folder's only one.
  // `dims`: of the storage, if the caller knows; 0: it follows from the counts.
  static ReplayFiles read(const std::string& folder, SizesView storage,
                          const std::string& member = {}, std::int64_t dims = 0);

  // Rows of a batch, as buffer_metadata.json says.
  static std::optional<std::int64_t> batch_rows(const std::string& folder);

  // Places in a row of the first dimension.
  std::int64_t places() const noexcept { return product_of(inner); }

  // Puts counts, random numbers and how the buffer draws into the JSON texts.
  void set(const RingCounts& counts, const RandomNumbers& random, const ReplayOptions& options);

  // Writes everything except the rows. `in_new`: the folder is being created.
  void write(const std::string& folder, bool in_new, const ReplaySampler* sampler) const;
};

// A new folder of a replay buffer, which takes the place of the existing one: that must be a replay buffer or missing, and its
// other files are kept. Without commit() it is removed.
class NewReplayFolder {
 public:
  explicit NewReplayFolder(const std::string& path);

  std::string storage() const;  // the folder that gets the rows; the folder is not there yet
  void commit(const ReplayFiles& files, const ReplaySampler* sampler, bool durable,
              const std::string& extra = {});

 private:
  std::string target_;
  bool there_;
  files::FolderReplacement replacement_;
};

// With these rows.
void save_replay(const std::string& path, const ReplayFiles& files, const TensorDict* rows,
                 const ReplaySampler* sampler, bool durable, const std::string& extra = {});

}  // namespace td
