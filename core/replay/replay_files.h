// core/replay/replay_files.h: the folder of a replay buffer, as TorchRL writes it.
#pragma once

#include "core/replay/json_members.h"
#include "core/replay/replay_sampler.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace td {

// What the files of a folder say, but for the rows and the sampler's state. Nothing in them is trusted.
struct ReplayFiles {
  RingCounts counts;
  // The further dimensions of a storage of several: each of their elements has a place of its own. Empty for
  // one dimension. TorchRL then counts elements in "len", and rows of the first dimension in the cursor.
  Sizes inner;
  JsonMembers storage, writer, buffer;
  std::optional<std::int64_t> rows;                  // of a batch
  std::optional<RandomNumbers> random;               // only we write them
  ReplaySampling sampling = ReplaySampling::random;  // what the sampler's files are of

  // Files of parts that we do not have: paths in the folder, and what they hold.
  std::vector<std::pair<std::string, std::string>> others;

  // Of a new buffer.
  static ReplayFiles fresh(const ReplayOptions& options);

  // `storage`: the batch size of the dictionary in the folder; empty where no row has been written yet. Throws
  // Code::io, Code::format, Code::unsupported.
  static ReplayFiles read(const std::string& folder, SizesView storage);

  // How many places a row of the first dimension has.
  std::int64_t places() const noexcept;

  // Where the ring stands, and the numbers, into the texts.
  void set(const RingCounts& counts, const RandomNumbers& random, std::int64_t rows);

  // All but the rows. `in_new`: into a folder that is being made.
  void write(const std::string& folder, bool in_new, const ReplaySampler* sampler) const;
};

namespace replay_folder {
inline constexpr const char* storage = "storage";
inline constexpr const char* sampler = "sampler";
inline constexpr const char* writer = "writer";
bool holds_rows(const std::string& folder);
}  // namespace replay_folder

// Writes a folder aside, which then takes the place of what is there: of a replay buffer, or of nothing. Other
// files in it stay.
void save_replay(const std::string& path, const ReplayFiles& files, const TensorDict* rows,
                 const ReplaySampler* sampler, bool durable, const std::string& extra = {});

}  // namespace td
