// core/replay/replay_hold.h: one call of a buffer at a time.
#pragma once

#include "core/replay/replay.h"

namespace td {

// Serializes calls, across processes if a process writes to the folder.
class Replay::Hold {
 public:
  Hold(Replay& replay, bool alone) : lock_(replay.mutex_) {
    if (!replay.live_) return;
    folder_.emplace(*replay.live_, alone);
    const RingCounts now = replay.live_->read();
    if (now.capacity != replay.counts_.capacity || now.written < replay.counts_.written) {
      fail(Code::format, "\"", replay.live_->folder(), "\" is that of another buffer now");
    }
    replay.counts_ = now;
    if (!replay.rows_ && now.written != 0) replay.attach();
  }

 private:
  std::lock_guard<std::mutex> lock_;
  std::optional<LiveFolder::Hold> folder_;
};

}  // namespace td
