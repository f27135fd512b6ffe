// owner.h: memory that a client gives away with a function that releases it.
#pragma once

#include "tensordict/td_base.h"

#include <memory>
#include <utility>

namespace capi {

// Releases the memory at once if the call fails, before share() or in it.
class Owner {
 public:
  Owner(td_release_fn release, void* user) noexcept : release_(release), user_(user) {}
  ~Owner() {
    if (release_ != nullptr) release_(user_);
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  // Releases the memory with the last copy. Returns nullptr without a release function.
  std::shared_ptr<void> share() {
    if (release_ == nullptr) return nullptr;
    return {user_, std::exchange(release_, nullptr)};
  }

 private:
  td_release_fn release_;
  void* user_;
};

}  // namespace capi
