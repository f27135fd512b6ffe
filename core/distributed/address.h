// core/distributed/address.h: parses the url that says where the ranks of a group meet.
#pragma once

#include "core/distributed/backend.h"
#include "core/distributed/group.h"

namespace td::distributed {

// tcp://HOST:PORT, file:///PATH, or env:// for MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE;
// `?rank=R&world_size=N` may follow, as in Python. Throws Code::invalid_argument.
Meeting meeting_of(const GroupOptions& options);

}  // namespace td::distributed
