// tensordict/td_append.h
#include "choices.h"
#include "give.h"
#include "guard.h"
#include "writer_handle.h"

#include "core/append/append.h"

namespace {

td::AppendOptions append_options_in(const td_append_options* options) {
  const td_append_options given = capi::options_in(
      options, td_append_options TD_APPEND_OPTIONS_INIT, offsetof(td_append_options, background));
  td::AppendOptions result;
  result.durable = given.durable != 0;
  result.checksums = given.checksums != 0;
  result.shard = capi::choice_in<td::Shard>(given.shard, TD_SHARD_NONE, TD_SHARD_ANY,
                                            "td_append_options.shard");
  result.publish_rows = given.publish_rows;
  result.publish_bytes = given.publish_bytes;
  result.buffer_bytes = given.buffer_bytes;
  result.background = given.background >= 0;
  result.meta_ms = given.meta_ms;
  if (given.resume_at_len != 0) {
    const PathIn path(given.resume_at, given.resume_at_len);
    for (const std::string_view name : td::Path(path)) result.resume_at.emplace_back(name);
  }
  return result;
}

}  // namespace

td_status td_writer_open_append(const char* dir, const td_tensordict* like,
                                const td_append_options* options, td_writer** result) noexcept {
  return give(__func__, result, [&] {
    OptionalDict sample(like);
    return td::open_append(not_null(dir, "dir"), sample.get(), append_options_in(options));
  });
}

td_status td_writer_folder(const td_writer* writer, char* text, size_t text_cap,
                           size_t* length) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_text(in(writer)->folder(), text, text_cap, length); });
}

td_status td_memmap_append(const char* dir, const td_tensordict* td,
                           const td_append_options* options) noexcept {
  return guard(__func__, [&] {
    td::memmap_append(not_null(dir, "dir"), in(td), append_options_in(options));
  });
}

td_status td_memmap_truncate(const char* dir, int64_t rows,
                             const td_append_options* options) noexcept {
  return guard(__func__, [&] {
    td::memmap_truncate(not_null(dir, "dir"), rows, append_options_in(options));
  });
}

td_status td_memmap_length(const char* dir, int64_t* rows, int64_t* stored,
                           int64_t* spare) noexcept {
  return guard(__func__, [&] {
    not_null(rows, "rows");
    const td::MemmapLength length = td::memmap_length(not_null(dir, "dir"));
    *rows = length.rows;
    if (stored != nullptr) *stored = length.stored;
    if (spare != nullptr) *spare = length.spare;
  });
}
