// core/replay/replay_folder.h: which files the folder of a replay buffer has, in TorchRL's format.
#pragma once

#include "core/io/folder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td::replay_folder {

inline constexpr const char* storage = "storage";
inline constexpr const char* sampler = "sampler";
inline constexpr const char* writer = "writer";
inline constexpr const char* storage_json = "storage/storage_metadata.json";
inline constexpr const char* writer_json = "writer/metadata.json";
inline constexpr const char* buffer_json = "buffer_metadata.json";
inline constexpr const char* draws_json = "draws.json";  // Python ignores it
inline constexpr const char* queue_file = "prefetch.pkl";
inline constexpr std::size_t longest_json = std::size_t{1} << 20;

bool holds_rows(const std::string& folder, const std::string& member = {});
// Whether the folder has the files of a buffer.
bool is_one(const std::string& folder);
// How many buffers an ensemble has, and which hold no rows; nullopt for another folder.
struct Ensemble {
  std::int64_t members = 0;
  std::vector<std::int64_t> empty;
};
std::optional<Ensemble> ensemble_in(const std::string& folder);

// The items of a folder, without unfinished ones.
std::vector<files::Item> finished(const std::string& path);

// Files that a save rewrites, or that become stale: batches that Python has drawn ahead.
bool is_ours(std::string_view name);

// The files below a folder that this library does not know: relative path and content. `foreign`: all of the sampler's
// files are unknown.
std::vector<std::pair<std::string, std::string>> others_in(const std::string& folder, bool foreign);

}  // namespace td::replay_folder
