// Assigns batches to workers and returns them in order.
#include "core/loader/loader.h"

#include "core/loader/epoch.h"
#include "core/loader/loader_state.h"
#include "core/loader/structure.h"
#include "core/memmap/reload.h"
#include "core/shape/convert.h"
#include "core/tensor/workers.h"

namespace td {

class Loader::State final : public Workers {
 public:
  State(const TensorDict& td, LoaderOptions options)
      : Workers(options.around_worker, 1),
        options_(checked(std::move(options))),
        td_(td),
        sizes_(td.batch_size().begin(), td.batch_size().end()),
        seed_(options_.seed),
        pool_(options_.ahead + static_cast<std::size_t>(options_.workers) + 3),
        slots_(std::max<std::size_t>(options_.ahead, 1)) {
    items_ = items_of(td_);
    if (options_.device || options_.pin) {  // fails here, not in the first batch
      ConvertOptions where;
      where.device = options_.device;
      where.pin = options_.pin;
      convert(TensorDict(), where);
    }
    epoch_ = std::make_shared<Epoch>(0, items_, seed_, options_);
    if (epoch_->batches() == 0 && !options_.refresh) {
      const std::int64_t slice = options_.slices.length;
      if (slice > 0 && items_->rows > 0 && items_->count() == 0) {
        fail(Code::invalid_argument, "no episode has ", slice, " rows, the slice_len; there are ",
             epoch_->rows(), " rows");
      }
      const char* what = slice > 0 ? " slices" : " rows";
      fail(epoch_->draws() == 0 ? Code::shape : Code::invalid_argument, epoch_->draws(), what,
           " for rank ", options_.rank, " of ", options_.world_size, " give no batch of ",
           options_.rows, "; there are ", epoch_->rows(), " rows");
    }
  }

  void start() { Workers::start(static_cast<std::size_t>(options_.workers)); }

  std::optional<TensorDict> next() {
    const Call call(*this);
    if (!epoch_) {
      if (options_.epochs != 0 && number_ >= options_.epochs) return std::nullopt;
      go_to(new_epoch(number_), 0);
    }
    if (given_ == epoch_->batches()) {
      const std::lock_guard<std::mutex> hold(mutex_);
      epoch_.reset();
      ++number_;
      return std::nullopt;
    }
    if (!options_.refresh && td_.batch_size() != SizesView(sizes_)) {
      fail(Code::shape, "the dictionary has batch size ", show_sizes(td_.batch_size()),
           " now; the loader began with ", show_sizes(sizes_), ", and does not refresh");
    }
    TensorDict batch = threads_.empty() ? make_here() : wait_for_batch();
    if (options_.transform) structure_.require(batch);
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      slot(given_++) = Slot();
    }
    room_.notify_one();
    return batch;
  }

  LoaderPlace place() {
    const Call call(*this);
    if (!epoch_) return {number_, 0, 0, 0};
    return {number_, given_, epoch_->batches(), epoch_->draws()};
  }

  LoaderMark mark() {
    const Call call(*this);
    LoaderMark mark(options_);
    mark.seed = seed_;
    mark.epoch = number_;
    if (epoch_) {
      mark.batch = given_;
      mark.source_rows = epoch_->rows();
    }
    return mark;
  }

  void go_to(const LoaderMark& mark) {
    const Call call(*this);
    mark.require_fit(LoaderMark(options_));
    if (mark.source_rows >= 0) {
      if (mark.source_rows > items_->source->rows() && options_.refresh) items_ = fresh_items();
      if (mark.source_rows > items_->source->rows()) {
        fail(Code::shape, "the state is of ", mark.source_rows, " rows; the dictionary has ",
             items_->source->rows());
      }
      const std::shared_ptr<const Items> items =
          mark.source_rows == items_->rows
              ? items_
              : std::make_shared<Items>(items_->source, mark.source_rows, options_);
      auto epoch = std::make_shared<Epoch>(mark.epoch, items, mark.seed, options_);
      if (mark.batch > epoch->batches()) {
        fail(Code::invalid_argument, "the state is at batch ", mark.batch, " of an epoch of ",
             epoch->batches());
      }
      go_to(std::move(epoch), mark.batch);
    } else {
      go_to(nullptr, 0);
    }
    number_ = mark.epoch;
    seed_ = mark.seed;
  }

 private:
  struct Slot {
    bool done = false;
    bool again = false;  // returned before, but not accepted: the caller makes it again
    std::optional<TensorDict> batch;
    std::exception_ptr failure;
  };

  struct Call : Workers::Call {
    explicit Call(State& state)
        : Workers::Call(
              state, "the function of the loader asked it for something: it would wait for itself",
              "another call is at work with this loader") {}
  };

  Slot& slot(std::int64_t number) noexcept {
    return slots_[static_cast<std::size_t>(number) % slots_.size()];
  }

  std::shared_ptr<const Items> items_of(const TensorDict& td) const {
    return std::make_shared<Items>(std::make_shared<RowSource>(td, options_.flat, options_.keys),
                                   options_);
  }

  // The items of the current dictionary, or of its folder as it is now.
  std::shared_ptr<const Items> fresh_items() const {
    if (td_.saved_path().empty()) return items_of(td_);
    TensorDict td = td_.clone(/*recurse=*/false);  // leaves the caller's dictionary unchanged
    td.node()->set_saved_path(td_.saved_path());
    memmap_refresh(td);
    return items_of(td);
  }

  std::shared_ptr<const Epoch> new_epoch(std::int64_t number) {
    const std::shared_ptr<const Items> items = options_.refresh ? fresh_items() : items_;
    auto epoch = std::make_shared<Epoch>(number, items, seed_, options_);
    items_ = items;
    return epoch;
  }

  // Drops batches that workers have made or are making.
  void go_to(std::shared_ptr<const Epoch> epoch, std::int64_t batch) {
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      epoch_ = std::move(epoch);
      begun_ = given_ = batch;
      ++turn_;
      for (Slot& slot : slots_) slot = Slot();
    }
    room_.notify_all();
  }

  TensorDict make_here() { return epoch_->batch(given_, 0, pool_, scratch_); }

  TensorDict wait_for_batch() {
    std::unique_lock<std::mutex> hold(mutex_);
    Slot& next = slot(given_);
    ready_.wait(hold, [&] { return next.done || stopped_; });
    if (!next.done)
      fail(Code::bad_handle, "the loader was freed while a call waited for its batch");
    if (next.again) {
      hold.unlock();
      return make_here();
    }
    next.again = true;
    if (next.failure) std::rethrow_exception(std::exchange(next.failure, nullptr));
    TensorDict batch = std::move(*next.batch);
    next.batch.reset();
    return batch;
  }

  // Only bookkeeping can fail there: batches carry their own failures.
  void note_end(const std::exception_ptr& /*failure*/) noexcept override {}

  void work(int worker) override {
    Scratch scratch;
    std::unique_lock<std::mutex> hold(mutex_);
    while (true) {
      room_.wait(hold, [&] { return stopped_ || may_begin(); });
      if (stopped_) return;
      const std::int64_t number = begun_++;
      const std::uint64_t turn = turn_;
      std::shared_ptr<const Epoch> epoch = epoch_;
      hold.unlock();
      Slot made;
      made.done = true;
      try {
        made.batch = epoch->batch(number, worker, pool_, scratch);
      } catch (...) {
        made.failure = std::current_exception();
      }
      epoch.reset();
      hold.lock();
      if (turn != turn_) continue;
      std::swap(slot(number), made);
      if (number == given_) ready_.notify_one();
    }
  }

  bool may_begin() const noexcept {
    return epoch_ && begun_ < epoch_->batches() &&
           begun_ - given_ < static_cast<std::int64_t>(slots_.size());
  }

  const LoaderOptions options_;
  const TensorDict td_;  // the caller's: used for its sizes, and as a whole to refresh
  const Sizes sizes_;
  std::uint64_t seed_;
  std::shared_ptr<const Items> items_;
  Structure structure_;  // of all batches, if a callback makes them
  BatchPool pool_;
  Scratch scratch_;                     // of the caller
  std::vector<Slot> slots_;             // of the batches from `given_` on
  std::shared_ptr<const Epoch> epoch_;  // nullptr between epochs
  std::int64_t number_ = 0;             // of the current epoch, or of the next one
  std::int64_t begun_ = 0, given_ = 0;  // batches of the epoch
  std::uint64_t turn_ = 0;              // number of jumps: batches made before a jump are dropped
};

Loader::Loader(const TensorDict& td, LoaderOptions options)
    : state_(std::make_shared<State>(td, std::move(options))) {
  state_->start();
}

Loader::~Loader() { stop(); }

void Loader::stop() { state_->stop(); }

// Keep the state alive: a callback may free the loader.
std::optional<TensorDict> Loader::next() {
  const std::shared_ptr<State> state = state_;
  return state->next();
}

LoaderPlace Loader::place() const {
  const std::shared_ptr<State> state = state_;
  return state->place();
}

TensorDict Loader::state() const {
  const std::shared_ptr<State> state = state_;
  return state->mark().to_dict();
}

void Loader::load_state(const TensorDict& saved) {
  const std::shared_ptr<State> state = state_;
  state->go_to(LoaderMark::from_dict(saved));
}

}  // namespace td
