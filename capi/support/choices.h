// choices.h: optional arguments, enumerations and flags.
#pragma once

#include "arguments.h"

#include <optional>

namespace capi {

// An optional dictionary or tensor.
template <class Handle>
class OptionalIn {
 public:
  explicit OptionalIn(const Handle* handle) {
    if (handle != nullptr) object_.emplace(find(handle));
  }
  auto get() noexcept { return object_ ? &**object_ : nullptr; }

 private:
  std::optional<Borrowed<Handle>> object_;
};
using OptionalDict = OptionalIn<td_tensordict>;
using OptionalTensor = OptionalIn<td_tensor>;

// A path that may be left out: without names there is no path.
class OptionalPath {
 public:
  OptionalPath(const char* const* path, std::size_t path_len) {
    if (path_len != 0) path_.emplace(path, path_len);
  }
  operator td::Path() const noexcept {  // NOLINT: implicit on purpose
    return path_ ? td::Path(*path_) : td::Path();
  }

 private:
  std::optional<PathIn> path_;
};

// Converts a number from `first` to `last` to an enumeration of the core with the same numbers.
template <class Choice>
Choice choice_in(std::int32_t number, std::int32_t first, std::int32_t last, const char* name) {
  if (number < first || number > last) {
    td::fail(td::Code::invalid_argument, name, " is ", number, "; ", first, " to ", last,
             " are valid");
  }
  return static_cast<Choice>(number);
}

// Refuses unknown flags.
inline void check_flags(std::uint32_t flags, std::uint32_t known) {
  if ((flags & ~known) != 0) {
    td::fail(td::Code::invalid_argument, "flags are ", flags, "; only ", known, " is valid");
  }
}

// For a call with a single flag: whether it is set. Refuses others.
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

using capi::check_flags;
using capi::OptionalDict;
