// tensordict/td_reload.h
#include "give.h"
#include "guard.h"
#include "memmap_options.h"

#include "core/memmap/reload.h"

td_status td_memmap_load_into(td_tensordict* td, const char* dir,
                              const td_load_options* options) noexcept {
  return guard(__func__, [&] {
    td::load_into(in(td), not_null(dir, "dir"), capi::load_options_in(options));
  });
}

td_status td_memmap_refresh(td_tensordict* td, const td_load_options* options) noexcept {
  return guard(__func__, [&] { td::memmap_refresh(in(td), capi::load_options_in(options)); });
}

td_status td_memmap_make(td_tensordict* td, const char* const* path, size_t path_len,
                         const int64_t* sizes, size_t dims, td_dtype dtype,
                         const td_memmap_options* options, td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    const PathIn names(path, path_len);
    std::optional<c10::ScalarType> wanted;
    if (dtype != TD_DTYPE_OTHER) wanted = capi::dtype_in(dtype);
    return td::make_memmap(in(td), names, sizes_in(sizes, dims), wanted,
                           capi::memmap_options_in(options));
  });
}

td_status td_memmap_make_from_tensor(td_tensordict* td, const char* const* path, size_t path_len,
                                     const td_tensor* source, const td_memmap_options* options,
                                     td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    const PathIn names(path, path_len);
    return td::make_memmap_from(in(td), names, in(source), capi::memmap_options_in(options));
  });
}
