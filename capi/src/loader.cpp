// tensordict/td_loader.h
#include "choices.h"
#include "dataset_handle.h"
#include "foreign_call.h"
#include "future_handle.h"
#include "give.h"
#include "guard.h"
#include "key_names.h"
#include "module_handle.h"
#include "tensordict/td_loader.h"

#include "core/datasets/set_loader.h"

namespace capi {

template <>
struct Traits<td_loader> : OwnedTraits<td::Loader, Kind::loader> {
  static constexpr const char* name = "loader";
};

}  // namespace capi

namespace {

// Applies the caller's function, then the module, to each batch.
td::BatchFn transform_in(td_map_fn callback, void* user, const td_module* module) {
  td::ModulePtr called;
  if (module != nullptr) called = *in(module);
  if (callback == nullptr && called == nullptr) return nullptr;
  return [callback, user, called](const td::Piece& piece, const td::TensorDict& batch) {
    td::TensorDict result = batch;
    if (callback != nullptr) result = capi::call_map(callback, user, piece, batch).value_or(batch);
    if (called != nullptr) called->call_inplace(result);
    return result;
  };
}

td::SliceOptions slices_in(const td_loader_options& given) {
  td::SliceOptions result;
  result.length = given.slice_len;
  result.step = given.slice_step;
  result.short_ones = (given.flags & TD_LOADER_SHORT) != 0;
  if (given.episode != nullptr) result.episode = capi::key_names(*given.episode);
  result.ends = capi::key_names(given.ends, given.ends_len, "ends");
  return result;
}

td::LoaderOptions loader_options_in(const td_loader_options* options) {
  const td_loader_options given =
      capi::options_in(not_null(options, "options"), td_loader_options TD_LOADER_OPTIONS_INIT);
  check_flags(given.flags, 2 * TD_LOADER_PIN_MEMORY - 1);
  const auto flag = [&](td_loader_flags wanted) { return (given.flags & wanted) != 0; };
  td::LoaderOptions result;
  result.rows = given.rows;
  result.seed = given.seed;
  result.epochs = given.epochs;
  result.shuffle = flag(TD_LOADER_SHUFFLE);
  result.with_replacement = flag(TD_LOADER_REPLACEMENT);
  result.draws = given.draws;
  if (given.weights != nullptr) result.weights = *in(given.weights);
  result.drop_last = flag(TD_LOADER_DROP_LAST);
  result.flat = flag(TD_LOADER_FLAT);
  result.refresh = flag(TD_LOADER_REFRESH);
  result.concatenate = flag(TD_LOADER_CONCATENATE);
  result.slices = slices_in(given);
  result.keys = capi::key_names(given.keys, given.keys_len, "keys");
  result.rank = given.rank;
  result.world_size = given.world_size == 0 ? 1 : given.world_size;
  result.workers = given.num_workers;
  result.ahead = given.ahead;
  result.device = capi::device_in(given.device_type, given.device_index);
  result.pin = flag(TD_LOADER_PIN_MEMORY);
  result.transform = transform_in(given.transform, given.transform_user, given.module);
  result.around_worker = capi::like_this_thread();
  return result;
}

}  // namespace

td_status td_loader_create(const td_tensordict* td, const td_loader_options* options,
                           td_loader** result) noexcept {
  return give(__func__, result,
              [&] { return std::make_unique<td::Loader>(*in(td), loader_options_in(options)); });
}

td_status td_loader_create_from_dataset(const td_dataset* dataset, const td_loader_options* options,
                                        td_loader** result) noexcept {
  return give(__func__, result,
              [&] { return td::load_dataset(*in(dataset), loader_options_in(options)); });
}

void td_loader_free(td_loader* loader) noexcept { capi::free_handle(loader); }

td_status td_loader_next(td_loader* loader, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    std::optional<td::TensorDict> batch = in(loader)->next();
    if (batch) out.put(std::move(*batch));
  });
}

td_status td_loader_where(const td_loader* loader, int64_t* epoch, int64_t* batch,
                          int64_t* batches) noexcept {
  return guard_plain(__func__, [&] {
    const td::LoaderPlace place = in(loader)->place();
    if (epoch != nullptr) *epoch = place.epoch;
    if (batch != nullptr) *batch = place.batch;
    if (batches != nullptr) *batches = place.batches;
  });
}

td_status td_loader_state(const td_loader* loader, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(loader)->state(); });
}

td_status td_loader_load_state(td_loader* loader, const td_tensordict* state) noexcept {
  return guard(__func__, [&] { in(loader)->load_state(*in(state)); });
}
