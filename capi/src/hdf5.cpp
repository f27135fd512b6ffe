// tensordict/td_hdf5.h
#include "choices.h"
#include "give.h"
#include "guard.h"
#include "key_names.h"
#include "key_snapshot.h"
#include "tensordict/td_hdf5.h"

#include "core/hdf5/hdf5.h"

namespace capi {

template <>
struct Traits<td_hdf5> : OwnedTraits<td::hdf5::Reader, Kind::hdf5> {
  static constexpr const char* name = "HDF5 file";
};

}  // namespace capi

namespace {

td::hdf5::Options hdf5_options_in(const td_hdf5_options* options) {
  const td_hdf5_options given = capi::options_in(options, td_hdf5_options TD_HDF5_OPTIONS_INIT);
  check_flags(given.flags, 2 * TD_HDF5_STACK - 1);
  td::hdf5::Options result;
  result.attributes = (given.flags & TD_HDF5_ATTRIBUTES) != 0;
  result.skip = (given.flags & TD_HDF5_SKIP) != 0;
  result.stack = (given.flags & TD_HDF5_STACK) != 0;
  if (given.group != nullptr) result.group = given.group;
  result.keys = capi::key_names(given.keys, given.keys_len, "keys");
  result.batch_dims = given.batch_dims;
  result.max_bytes = given.max_bytes;
  if (given.max_depth != 0) result.max_depth = given.max_depth;
  if (given.max_entries != 0) result.max_entries = given.max_entries;
  return result;
}

td::hdf5::SaveOptions hdf5_save_in(const td_hdf5_save_options* options) {
  const td_hdf5_save_options given =
      capi::options_in(options, td_hdf5_save_options TD_HDF5_SAVE_OPTIONS_INIT);
  check_flags(given.flags, 2 * TD_HDF5_SAVE_DURABLE - 1);
  td::hdf5::SaveOptions result;
  result.stack = (given.flags & TD_HDF5_SAVE_STACK) != 0;
  result.durable = (given.flags & TD_HDF5_SAVE_DURABLE) != 0;
  if (given.group != nullptr) result.group = given.group;
  result.deflate = given.deflate;
  result.chunk_rows = given.chunk_rows;
  return result;
}

}  // namespace

td_status td_hdf5_open(const char* file, const td_hdf5_options* options,
                       td_hdf5** result) noexcept {
  return give(__func__, result, [&] {
    return td::hdf5::Reader::open(not_null(file, "file"), hdf5_options_in(options));
  });
}

void td_hdf5_free(td_hdf5* file) noexcept { capi::free_handle(file); }

td_status td_hdf5_batch_size(const td_hdf5* file, int64_t* sizes, size_t sizes_cap,
                             size_t* dims) noexcept {
  return guard(__func__,
               [&] { capi::write_sizes(in(file)->batch_size(), sizes, sizes_cap, dims); });
}

td_status td_hdf5_keys(const td_hdf5* file, td_keys** result) noexcept {
  return give(__func__, result,
              [&] { return std::make_unique<capi::KeySnapshot>(in(file)->keys()); });
}

td_status td_hdf5_read(const td_hdf5* file, const td_index_item* items, size_t items_len,
                       td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(file)->read(items_in(items, items_len)); });
}

td_status td_hdf5_load(const char* file, const td_hdf5_options* options,
                       td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::hdf5::load(not_null(file, "file"), hdf5_options_in(options)); });
}

td_status td_hdf5_save(const td_tensordict* td, const char* file,
                       const td_hdf5_save_options* options) noexcept {
  return guard(__func__,
               [&] { td::hdf5::save(in(td), not_null(file, "file"), hdf5_save_in(options)); });
}
