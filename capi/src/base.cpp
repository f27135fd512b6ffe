// tensordict/td_base.h: version and status names. The error slot is in support/error_slot.cpp.
#include "arguments.h"
#include "core/base/error.h"
#include "error_slot.h"

#include <ATen/Version.h>

#include <atomic>
#include <string>

namespace {

struct StatusRow {
  td_status status;
  const char* name;
};
#define ROW(name) \
  { name, #name }
constexpr StatusRow statuses[] = {
    ROW(TD_OK),
    ROW(TD_ERR_NULL_ARGUMENT),
    ROW(TD_ERR_BAD_HANDLE),
    ROW(TD_ERR_INVALID_ARGUMENT),
    ROW(TD_ERR_BUFFER_TOO_SMALL),
    ROW(TD_ERR_KEY_NOT_FOUND),
    ROW(TD_ERR_KEY_INVALID),
    ROW(TD_ERR_KEY_EXISTS),
    ROW(TD_ERR_WRONG_ENTRY),
    ROW(TD_ERR_LOCKED),
    ROW(TD_ERR_CYCLE),
    ROW(TD_ERR_SHAPE),
    ROW(TD_ERR_INDEX),
    ROW(TD_ERR_DTYPE),
    ROW(TD_ERR_DEVICE),
    ROW(TD_ERR_IO),
    ROW(TD_ERR_FORMAT),
    ROW(TD_ERR_OUT_OF_MEMORY),
    ROW(TD_ERR_DEVICE_OUT_OF_MEMORY),
    ROW(TD_ERR_BUSY),
    ROW(TD_ERR_CAPACITY),
    ROW(TD_ERR_UNSUPPORTED),
    ROW(TD_ERR_VERSION),
    ROW(TD_ERR_CALLBACK),
    ROW(TD_ERR_TORCH),
    ROW(TD_ERR_INTERNAL),
};
#undef ROW

// The core has the codes of the ABI.
static_assert(static_cast<td_status>(td::Code::cycle) == TD_ERR_CYCLE);
static_assert(static_cast<td_status>(td::Code::shape) == TD_ERR_SHAPE);
static_assert(static_cast<td_status>(td::Code::io) == TD_ERR_IO);
static_assert(static_cast<td_status>(td::Code::busy) == TD_ERR_BUSY);
static_assert(static_cast<td_status>(td::Code::capacity) == TD_ERR_CAPACITY);
static_assert(static_cast<td_status>(td::Code::version) == TD_ERR_VERSION);
static_assert(static_cast<td_status>(td::Code::internal) == TD_ERR_INTERNAL);

// Old versions of libtorch state their version in the text of the build settings only: "…, TORCH_VERSION=1.13.1, …".
std::string find_torch_version() {
  const std::string config = at::show_config();
  constexpr std::string_view mark = "TORCH_VERSION=";
  const std::size_t at = config.find(mark);
  if (at == std::string::npos) return "unknown";
  const std::size_t from = at + mark.size();
  return config.substr(from, config.find_first_of(", \n", from) - from);
}

}  // namespace

int32_t td_abi_version(void) noexcept { return TD_ABI_VERSION; }

int32_t td_supports_abi(int32_t abi) noexcept { return abi == TD_ABI_VERSION ? 1 : 0; }

const char* td_version(void) noexcept {
#define TEXT_OF(x) #x
#define VERSION_OF(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
  return VERSION_OF(TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH);
#undef VERSION_OF
#undef TEXT_OF
}

const char* td_torch_version(void) noexcept {
  try {
    static const std::string* const version =
        new std::string(find_torch_version());  // never destroyed
    return version->c_str();
  } catch (...) {
    return "unknown";
  }
}

const char* td_status_name(td_status status) noexcept {
  for (const StatusRow& row : statuses) {
    if (row.status == status) return row.name;
  }
  return "TD_ERR_UNKNOWN";
}

void td_release_set_flag(void* user) noexcept {
  if (user != nullptr)
    reinterpret_cast<std::atomic<int32_t>*>(user)->store(1, std::memory_order_release);
}

td_release_fn td_release_flag_fn(void) noexcept { return td_release_set_flag; }

int64_t td_debug_live_handles(void) noexcept { return capi::HandleTable::instance().live(); }
