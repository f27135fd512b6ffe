// tensordict/td_verify.h
#include "foreign_call.h"
#include "guard.h"

#include "core/memmap/verify.h"
#include "tensordict/td_verify.h"

namespace {

td_verify_options options_in(const td_verify_options* options) {
  return capi::options_in(options, td_verify_options TD_VERIFY_OPTIONS_INIT);
}

td::BytesFn progress_in(const td_verify_options& given) {
  if (given.progress == nullptr) return nullptr;
  return [&given](std::size_t done, std::size_t total) {
    capi::call_progress(given.progress, given.progress_user, done, total);
  };
}

}  // namespace

td_status td_memmap_verify(const char* dir, const td_verify_options* options,
                           size_t* damaged) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(damaged, "damaged") = 0;
    const td_verify_options given = options_in(options);
    const std::vector<td::Finding> findings =
        td::verify_memmap(not_null(dir, "dir"), given.num_threads, progress_in(given));
    if (given.damage != nullptr) capi::call_damage(given.damage, given.user, findings);
    *damaged = findings.size();
  });
}

td_status td_memmap_write_checksums(const char* dir, const td_verify_options* options) noexcept {
  return guard_plain(__func__, [&] {
    const td_verify_options given = options_in(options);
    if (given.damage != nullptr) {
      td::fail(td::Code::invalid_argument, "td_verify_options.damage is for td_memmap_verify()");
    }
    td::checksum_memmap(not_null(dir, "dir"), given.num_threads, progress_in(given));
  });
}
