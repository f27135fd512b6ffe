// core/distributed/expected.h: the call that the ranks expect next: the one that came after the last one before.
#pragma once

#include "core/formats/checksums.h"

#include <map>
#include <utility>

namespace td::distributed {

// Learns from calls that all ranks agreed on and from nothing else, so all ranks expect the same.
class Expected {
 public:
  // Bytes of the values that the expected call sends; 0 if none is expected, or if it sends too many.
  std::size_t bytes() const noexcept { return next_.bytes; }
  bool is(const Digest& call) const noexcept { return bytes() != 0 && next_.digest == call; }

  void agreed(const Digest& digest, std::size_t bytes) {
    const Call now{digest, bytes};
    if (after_.size() >= most) after_.clear();
    after_[{last_.digest.high, last_.digest.low}] = now;
    last_ = now;
    const auto found = after_.find({digest.high, digest.low});
    next_ = found == after_.end() ? Call{} : found->second;
  }

 private:
  static constexpr std::size_t most = 1024;  // calls that are remembered
  struct Call {
    Digest digest;
    std::size_t bytes = 0;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Call> after_;
  Call last_;
  Call next_;
};

}  // namespace td::distributed
