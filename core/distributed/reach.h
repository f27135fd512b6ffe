// core/distributed/reach.h: waits until somebody listens at a meeting.
#pragma once

#include "core/distributed/backend.h"

namespace td::distributed {

// libtorch tries again and again by itself, but writes to stderr that nobody is there yet. Throws Code::io after the
// meeting's limit.
void wait_for_listener(const Meeting& meeting);

}  // namespace td::distributed
