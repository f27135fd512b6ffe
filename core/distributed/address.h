// core/distributed/address.h: where the ranks of a group find each other.
#pragma once

#include "core/distributed/backend.h"
#include "core/distributed/group.h"

namespace td::distributed {

// tcp://HOST:PORT, file:///PATH, or env:// for MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE; `?rank=R&world_size=N` may
// follow, as in Python. Code::invalid_argument with what is wrong or missing.
Meeting meeting_of(const GroupOptions& options);

}  // namespace td::distributed
