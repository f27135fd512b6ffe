// tensordict/td_map.h
#include "foreign_call.h"
#include "guard.h"

namespace capi {

// A callback may free the iterator while a call waits in it: that call holds a reference to the stream.
// Freeing the handle stops the work.
struct SharedStream {
  explicit SharedStream(std::shared_ptr<td::PieceStream> given) : stream(std::move(given)) {}
  ~SharedStream() { stream->stop(); }
  SharedStream(const SharedStream&) = delete;
  SharedStream& operator=(const SharedStream&) = delete;
  const std::shared_ptr<td::PieceStream> stream;
};

template <>
struct Traits<td_map_iter> : OwnedTraits<SharedStream, Kind::map_iter> {
  static constexpr const char* name = "iterator";
};

}  // namespace capi

namespace {

td_map_options options_in(const td_map_options* options) {
  return capi::options_in(options, td_map_options TD_MAP_OPTIONS_INIT);
}

td::Cut cut_in(td_map_cut cut) {
  switch (cut) {
    case TD_MAP_CUT_PER_WORKER: return td::Cut::per_worker;
    case TD_MAP_CUT_SIZE: return td::Cut::size;
    case TD_MAP_CUT_COUNT: return td::Cut::count;
    case TD_MAP_CUT_ELEMENTS: return td::Cut::elements;
    default: td::fail(td::Code::invalid_argument, "cut is ", cut, "; it must be 0 to 3");
  }
}

td::PiecewiseOptions piecewise_in(const td_map_options& given) {
  if (given.reserved != 0)
    td::fail(td::Code::invalid_argument, "td_map_options.reserved is not zero");
  td::PiecewiseOptions result;
  result.dim = given.dim;
  result.cut = cut_in(given.cut);
  result.amount = given.amount;
  result.num_workers = given.num_workers;
  result.worker_threads = given.worker_threads;
  result.seed = given.seed;
  result.shuffle = given.shuffle != 0;
  // Workers call the library with the state of the calling thread.
  result.around_worker = [grad = capi::grad_wanted](const std::function<void()>& work) {
    capi::grad_wanted = grad;
    const capi::CallScope scope;
    work();
  };
  return result;
}

td::PieceFn function_in(td_map_fn callback, void* user) {
  not_null(reinterpret_cast<void*>(callback), "callback");
  return [callback, user](const td::Piece& piece, const td::TensorDict& source) {
    return capi::call_map(callback, user, piece, source);
  };
}

td::ProgressFn progress_in(td_progress_fn progress, void* user) {
  if (progress == nullptr) return nullptr;
  return [progress, user](std::size_t done, std::size_t total) {
    capi::call_progress(progress, user, done, total);
  };
}

void refuse(bool given, const char* field, const char* function) {
  if (given) td::fail(td::Code::invalid_argument, "td_map_options.", field, " is for ", function);
}

}  // namespace

td_status td_map(const td_tensordict* td, const td_map_options* options, td_map_fn callback,
                 void* user, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    const td_map_options given = options_in(options);
    refuse(given.shuffle != 0, "shuffle", "td_map_iter_create()");
    refuse(given.ahead != 0, "ahead", "td_map_iter_create()");
    std::optional<td::TensorDict> into;
    if (given.out != nullptr) into = *in(given.out);
    std::optional<td::TensorDict> made =
        td::map_pieces(*in(td), piecewise_in(given), into, function_in(callback, user),
                       progress_in(given.progress, given.progress_user));
    if (made) out.put(std::move(*made));
  });
}

td_status td_map_iter_create(const td_tensordict* td, const td_map_options* options,
                             td_map_fn callback, void* user, td_map_iter** result) noexcept {
  return guard(__func__, [&] {
    Out<td_map_iter> out(result);
    const td_map_options given = options_in(options);
    refuse(given.out != nullptr, "out", "td_map()");
    refuse(given.progress != nullptr, "progress", "td_map()");
    out.put(std::make_unique<capi::SharedStream>(std::make_shared<td::PieceStream>(
        *in(td), piecewise_in(given), function_in(callback, user), given.ahead)));
  });
}

td_status td_map_iter_next(td_map_iter* iter, td_tensordict** result, size_t* number) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    const std::shared_ptr<td::PieceStream> stream = in(iter)->stream;
    std::optional<td::PieceStream::Result> next = stream->next_kept();
    if (!next) return;
    out.put(std::move(*next->td));
    if (number != nullptr) *number = next->piece.number;
  });
}

void td_map_iter_free(td_map_iter* iter) noexcept { capi::free_handle(iter); }
