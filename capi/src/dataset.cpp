// tensordict/td_dataset.h
#include "choices.h"
#include "dataset_handle.h"
#include "give.h"
#include "guard.h"
#include "tensordict/td_dataset.h"

#include "core/datasets/save.h"

namespace capi {

template <>
struct Traits<td_dataset_writer> : OwnedTraits<td::DatasetWriter, Kind::dataset_writer> {
  static constexpr const char* name = "writer of a data set";
};

}  // namespace capi

namespace {

td::DatasetOptions dataset_options_in(const td_dataset_options* options) {
  const td_dataset_options given =
      capi::options_in(options, td_dataset_options TD_DATASET_OPTIONS_INIT);
  check_flags(given.flags, TD_DATASET_DECODE | TD_DATASET_VIDEOS);
  td::DatasetOptions result;
  result.kind = capi::choice_in<td::DatasetKind>(given.kind, TD_DATASET_KIND_DETECT,
                                                 TD_DATASET_KIND_ROS, "kind");
  result.max_episode_steps = given.max_episode_steps;
  result.max_bytes = given.max_bytes;
  result.max_entries = given.max_entries;
  result.decode = (given.flags & TD_DATASET_DECODE) != 0;
  result.videos = given.flags != 0;  // decoding is both
  result.rate = given.rate;
  if (given.clock != nullptr) result.clock = given.clock;
  return result;
}

td::DatasetKind dataset_kind_in(td_dataset_kind kind) {
  return capi::choice_in<td::DatasetKind>(kind, TD_DATASET_KIND_MINARI, TD_DATASET_KIND_ROS,
                                          "kind");
}

td::DatasetSaveOptions dataset_save_in(const td_dataset_save_options* options) {
  const td_dataset_save_options given =
      capi::options_in(options, td_dataset_save_options TD_DATASET_SAVE_OPTIONS_INIT,
                       offsetof(td_dataset_save_options, video));
  check_flags(given.flags, 2 * TD_DATASET_SAVE_LEROBOT_V21 - 1);
  td::DatasetSaveOptions result;
  result.lossy = (given.flags & TD_DATASET_SAVE_LOSSY) != 0;
  result.durable = (given.flags & TD_DATASET_SAVE_DURABLE) != 0;
  result.lerobot_v21 = (given.flags & TD_DATASET_SAVE_LEROBOT_V21) != 0;
  result.resume = (given.flags & TD_DATASET_SAVE_RESUME) != 0;
  result.deflate = given.deflate;
  result.video = capi::choice_in<td::VideoChoice>(given.video, TD_DATASET_VIDEO_NONE,
                                                  TD_DATASET_VIDEO_AV1, "video");
  result.video_quality = given.video_quality;
  result.fps = given.fps;
  return result;
}

}  // namespace

td_status td_dataset_open(const char* file, const td_dataset_options* options,
                          td_dataset** result) noexcept {
  return give(__func__, result, [&] {
    return td::Dataset::open(not_null(file, "file"), dataset_options_in(options));
  });
}

void td_dataset_free(td_dataset* dataset) noexcept { capi::free_handle(dataset); }

td_status td_dataset_about(const td_dataset* dataset, td_dataset_kind* kind, int64_t* episodes,
                           int64_t* steps) noexcept {
  return guard(__func__, [&] {
    const td::Dataset& set = *in(dataset);
    if (steps != nullptr) *steps = set.steps();
    if (kind != nullptr) *kind = static_cast<td_dataset_kind>(set.kind());
    if (episodes != nullptr) *episodes = set.episodes();
  });
}

td_status td_dataset_version(const td_dataset* dataset, char* text, size_t text_cap,
                             size_t* length) noexcept {
  return guard(__func__, [&] { capi::write_text(in(dataset)->version(), text, text_cap, length); });
}

td_status td_dataset_lengths(const td_dataset* dataset, int64_t* lengths, size_t lengths_cap,
                             size_t* count) noexcept {
  return guard(__func__,
               [&] { capi::write_sizes(in(dataset)->lengths(), lengths, lengths_cap, count); });
}

td_status td_dataset_structure(const td_dataset* dataset, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(dataset)->structure(); });
}

td_status td_dataset_metadata(const td_dataset* dataset, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(dataset)->metadata(); });
}

td_status td_dataset_episode_metadata(const td_dataset* dataset, int64_t episode,
                                      td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(dataset)->metadata(episode); });
}

td_status td_dataset_episode(const td_dataset* dataset, int64_t episode,
                             td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(dataset)->episode(episode); });
}

td_status td_dataset_episodes(const td_dataset* dataset, int64_t first, int64_t count,
                              td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(dataset)->episodes(first, count); });
}

td_status td_dataset_rows(const td_dataset* dataset, int64_t first, int64_t count,
                          td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(dataset)->rows(first, count); });
}

td_status td_dataset_flat(const td_dataset* dataset, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(dataset)->rows(0, in(dataset)->steps()); });
}

td_status td_dataset_save(const td_tensordict* td, const td_tensordict* metadata,
                          td_dataset_kind kind, const char* file,
                          const td_dataset_save_options* options) noexcept {
  return guard(__func__, [&] {
    td::save_dataset(in(td), OptionalDict(metadata).get(), dataset_kind_in(kind),
                     not_null(file, "file"), dataset_save_in(options));
  });
}

td_status td_dataset_convert(const td_dataset* dataset, td_dataset_kind kind, const char* file,
                             const td_dataset_save_options* options) noexcept {
  return guard(__func__, [&] {
    td::convert_dataset(*in(dataset), dataset_kind_in(kind), not_null(file, "file"),
                        dataset_save_in(options));
  });
}

td_status td_dataset_writer_open(const char* file, td_dataset_kind kind,
                                 const td_tensordict* metadata,
                                 const td_dataset_save_options* options,
                                 td_dataset_writer** result) noexcept {
  return give(__func__, result, [&] {
    return td::DatasetWriter::open(not_null(file, "file"), OptionalDict(metadata).get(),
                                   dataset_kind_in(kind), dataset_save_in(options));
  });
}

td_status td_dataset_writer_add(td_dataset_writer* writer, const td_tensordict* rows,
                                const td_tensordict* metadata) noexcept {
  return guard(__func__, [&] { in(writer)->add(in(rows), OptionalDict(metadata).get()); });
}

td_status td_dataset_writer_episodes(const td_dataset_writer* writer, int64_t* result) noexcept {
  return guard(__func__, [&] { *not_null(result, "result") = in(writer)->episodes(); });
}

td_status td_dataset_writer_close(td_dataset_writer* writer) noexcept {
  return guard(__func__, [&] { in(writer)->close(); });
}

void td_dataset_writer_free(td_dataset_writer* writer) noexcept { capi::free_handle(writer); }
