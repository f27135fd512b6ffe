// tensordict/td_file.h
#include "give.h"
#include "guard.h"
#include "members_in.h"

#include "core/files/other_files.h"

// td_file_format is part of the ABI and written by hand in the header; td::format_rows describes its numbers.
static_assert(TD_FILE_AUTO == static_cast<td_file_format>(td::FileFormat::detect));
static_assert(TD_FILE_SAFETENSORS == static_cast<td_file_format>(td::FileFormat::safetensors));
static_assert(TD_FILE_NPY == static_cast<td_file_format>(td::FileFormat::npy));
static_assert(TD_FILE_NPZ == static_cast<td_file_format>(td::FileFormat::npz));
static_assert(TD_FILE_PT == static_cast<td_file_format>(td::FileFormat::pickled));
static_assert(TD_FILE_RAW == static_cast<td_file_format>(td::FileFormat::raw));
static_assert(TD_FILE_HDF5 == static_cast<td_file_format>(td::FileFormat::hdf5));
static_assert(TD_FILE_PARQUET == static_cast<td_file_format>(td::FileFormat::parquet));
static_assert(TD_FILE_ARROW == static_cast<td_file_format>(td::FileFormat::arrow));

namespace {

// Converts the options. Views the members of the caller.
class OptionsIn {
 public:
  explicit OptionsIn(const td_file_options* options)
      : given_(capi::options_in(options, td_file_options TD_FILE_OPTIONS_INIT)),
        members_(given_.members, given_.members_len, given_.item_bytes) {
    result_.format = static_cast<td::FileFormat>(given_.format);
    if (given_.separator != nullptr) result_.separator = given_.separator;
    result_.batch_dims = given_.batch_dims;
    result_.write_through = given_.write_through != 0;
    result_.deflate = given_.deflate != 0;
    result_.durable = given_.durable != 0;
    if (given_.max_depth != 0) result_.max_depth = given_.max_depth;
    if (given_.max_entries != 0) result_.max_entries = given_.max_entries;
    if (given_.metadata != nullptr) result_.metadata = given_.metadata;
    if (given_.members_len != 0) result_.layout = members_.layout();
    result_.header_bytes = given_.header_bytes;
  }
  operator const td::FileOptions&() const noexcept {
    return result_;
  }  // NOLINT: implicit on purpose

 private:
  td_file_options given_;
  MembersIn members_;
  td::FileOptions result_;
};

}  // namespace

td_status td_file_load(const char* file, const td_file_options* options,
                       td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::load_file(not_null(file, "file"), OptionsIn(options)); });
}

td_status td_file_save(const td_tensordict* td, const char* file,
                       const td_file_options* options) noexcept {
  return guard(__func__,
               [&] { td::save_file(in(td), not_null(file, "file"), OptionsIn(options)); });
}

td_status td_file_load_tensor(const char* file, const td_file_options* options,
                              td_tensor** result) noexcept {
  return give(__func__, result,
              [&] { return td::load_tensor(not_null(file, "file"), OptionsIn(options)); });
}

td_status td_file_save_tensor(const td_tensor* tensor, const char* file,
                              const td_file_options* options) noexcept {
  return guard(__func__,
               [&] { td::save_tensor(in(tensor), not_null(file, "file"), OptionsIn(options)); });
}

td_status td_file_metadata(const char* file, const td_file_options* options, char* text,
                           size_t text_cap, size_t* length) noexcept {
  return guard(__func__, [&] {
    capi::write_text(td::file_metadata(not_null(file, "file"), OptionsIn(options)), text, text_cap,
                     length);
  });
}
