// core/replay/writer_state.h: what decides where new rows go, besides the ring's cursor.
#pragma once

#include "core/replay/json_members.h"

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace td {

// The state of TorchRL's writers. A plain ring keeps no state.
struct WriterState {
  bool immutable = false;  // ImmutableDatasetWriter: there is no writer/, and no row is added

  // TensorDictMaxValueWriter: a new row replaces the one of the smallest rank if its own is larger.
  using Ranked = std::pair<double, std::int64_t>;  // rank and place
  std::vector<std::string> rank_key;               // empty: in order of the ring
  c10::ScalarType rank_dtype = c10::ScalarType::Float;
  std::vector<Ranked> ranks;  // a heap, smallest first

  // How often each row of the first dimension was overwritten; -1: never written. Empty: not counted.
  std::vector<std::int64_t> generations;
  bool counts_generations = false;

  bool by_rank() const noexcept { return !rank_key.empty(); }
  bool is_ring() const noexcept { return !immutable && !by_rank() && !counts_generations; }

  // `json`: writer/metadata.json in `folder`. Throws Code::format, Code::unsupported, Code::io.
  static WriterState read(const std::string& folder, const JsonMembers& json, std::int64_t places);

  // Writes the tables and puts their sizes into `json`.
  void write(const std::string& folder, bool in_new, JsonMembers& json) const;

  // Where a row of this rank goes; -1: nowhere. `cursor` is the next place of a ring that is not full.
  std::int64_t place_for(double rank, std::int64_t cursor, std::int64_t capacity);

  // Makes room for changes, which then cannot fail.
  void reserve(std::int64_t rows, std::int64_t capacity, std::int64_t places);

  void count(std::int64_t row) noexcept;  // a row of the first dimension was written

  static constexpr const char* ranks_file = "current_top_values.memmap";
  static constexpr const char* generations_file = "generation.memmap";
};

}  // namespace td
