// core/datasets/repair.h: a data set that is damaged, or contradicts itself, written anew with all that can be read of it.
#pragma once

#include "core/datasets/verify.h"

#include <cstdint>
#include <functional>
#include <string>

namespace td {

struct RepairOptions {
  bool dry = false;       // tells what it would do, and writes nothing
  bool durable = false;   // waits until the new set is on the disk
  bool may_lose = false;  // in place also when an episode cannot be read
};

struct RepairStep {
  enum What : std::int32_t {
    found = 0,   // wrong with the set
    mended = 1,  // counted anew, or left out because nothing needs it
    lost = 2,    // an episode, or a part of a file, that cannot be read
    left = 3     // still wrong with the new set
  };
  What what;
  DatasetProblem problem;
};
using RepairFn = std::function<void(const RepairStep&)>;

struct Repaired {
  std::int64_t episodes = 0, steps = 0;  // of the new set
  std::int64_t found = 0, lost = 0, left = 0;
  bool is_written = false;
};

// Verifies the set; if something is wrong, reads every episode without believing what the set says of itself, and writes
// those that can be read to `out` as a set of the same kind, by the same writer that converts sets. `out` may be the path of the set.
// An HDF5 file may be cut off. A bag in MCAP gets an end behind the last whole message. Code::unsupported for other kinds; Code::format if no episode can
// be read, or one cannot and the set would be replaced without `may_lose`. Then nothing is written.
Repaired repair_dataset(const std::string& path, const std::string& out,
                        const RepairOptions& options, const RepairFn& told);

}  // namespace td
