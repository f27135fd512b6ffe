// choices.h: arguments that may be left out, and those that are one of a few numbers.
#pragma once

#include "arguments.h"

#include <optional>

namespace capi {

// A dictionary that need not be given.
class OptionalDict {
 public:
  explicit OptionalDict(const td_tensordict* handle) {
    if (handle != nullptr) dict_.emplace(find(handle));
  }
  const td::TensorDict* get() noexcept { return dict_ ? &**dict_ : nullptr; }

 private:
  std::optional<Borrowed<td_tensordict>> dict_;
};

// One of the numbers from `first` to `last`, as the enumeration of the core that counts alike.
template <class Choice>
Choice choice_in(std::int32_t number, std::int32_t first, std::int32_t last, const char* name) {
  if (number < first || number > last) {
    td::fail(td::Code::invalid_argument, name, " is ", number, "; ", first, " to ", last,
             " are valid");
  }
  return static_cast<Choice>(number);
}

// Refuses flags that a call does not know.
inline void check_flags(std::uint32_t flags, std::uint32_t known) {
  if ((flags & ~known) != 0) {
    td::fail(td::Code::invalid_argument, "flags are ", flags, "; only ", known, " is valid");
  }
}

// Whether the one flag that a call knows is given; others are refused.
inline bool flag_in(std::uint32_t flags, std::uint32_t known) {
  check_flags(flags, known);
  return flags != 0;
}

inline void require_zero(std::int32_t reserved) {
  if (reserved != 0) {
    td::fail(td::Code::invalid_argument, "a reserved field of the options is not zero");
  }
}

}  // namespace capi
