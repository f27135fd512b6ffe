// core/distributed/reach.h: waits until rank 0 listens at a meeting.
#pragma once

#include "core/distributed/backend.h"

namespace td::distributed {

// libtorch tries again and again by itself, but writes each try that fails to stderr. Throws Code::io after the
// meeting's limit.
void wait_for_listener(const Meeting& meeting);

}  // namespace td::distributed
