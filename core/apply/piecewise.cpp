// Assigns pieces of a dictionary to threads and orders their results.
#include "core/apply/piecewise.h"

#include "core/tensor/workers.h"
#include "core/tree/kinds.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <random>

namespace td {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

int workers_of(const PiecewiseOptions& options) {
  constexpr int most = 1024;  // more is a mistake, and would exhaust the system's threads
  if (options.num_workers < 0 || options.num_workers > most) {
    fail(Code::invalid_argument, "num_workers is ", options.num_workers, "; 0 to ", most,
         " are valid");
  }
  if (options.num_workers != 0) return options.num_workers;
  return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
}

// Fisher-Yates with the same numbers on every platform.
at::Tensor shuffled(std::int64_t n, std::uint64_t seed) {
  at::Tensor order = at::arange(n, at::TensorOptions().dtype(at::kLong));
  auto* at = order.data_ptr<std::int64_t>();
  std::mt19937_64 random(seed);
  for (std::int64_t i = n - 1; i > 0; --i) {
    std::swap(at[i], at[random() % static_cast<std::uint64_t>(i + 1)]);
  }
  return order;
}

// Cuts pieces. Workers cut each piece when they start it.
class Cutter {
 public:
  Cutter(const TensorDict& td, const PiecewiseOptions& options, int workers)
      // Cut our own nodes: the callback might change or free the dictionary through another handle.
      : td_(TensorDict(part_form(td.node())).clone(/*recurse=*/false)), seed_(options.seed) {
    size_ = static_cast<std::int64_t>(td_.dim_size(options.dim));
    const auto dims = static_cast<std::int64_t>(td_.batch_size().size());
    dim_ = options.dim < 0 ? options.dim + dims : options.dim;
    length_ = length(options, workers);
    elements_ = options.cut == Cut::elements;
    // An empty dimension is one empty piece, whose result defines the entries.
    count_ = elements_ ? size_ : std::max<std::int64_t>((size_ + length_ - 1) / length_, 1);
    if (options.shuffle) order_ = shuffled(size_, options.seed);
  }

  std::size_t count() const noexcept { return static_cast<std::size_t>(count_); }

  Piece piece(std::size_t number) const {
    Piece piece;
    piece.number = number;
    piece.count = count();
    piece.first = static_cast<std::int64_t>(number) * length_;
    piece.length = std::min(length_, size_ - piece.first);
    piece.seed = seed_ + number;
    return piece;
  }

  TensorDict cut(const Piece& piece) const {
    c10::SmallVector<IndexItem, 4> items;
    for (std::int64_t i = 0; i < dim_; ++i) items.push_back(IndexItem::range({}, {}));
    if (elements_) {
      items.push_back(IndexItem::at(order_.defined() ? order_.data_ptr<std::int64_t>()[piece.first]
                                                     : piece.first));
    } else if (order_.defined()) {
      items.push_back(IndexItem::of(order_.narrow(0, piece.first, piece.length)));
    } else {
      items.push_back(IndexItem::range(piece.first, piece.first + piece.length));
    }
    return td_.index(items);
  }

 private:
  std::int64_t length(const PiecewiseOptions& options, int workers) const {
    std::int64_t pieces = workers;
    switch (options.cut) {
      case Cut::elements: return 1;
      case Cut::per_worker: break;
      case Cut::count:
      case Cut::size:
        if (options.amount < 1) {
          fail(Code::invalid_argument, "cannot cut into pieces",
               options.cut == Cut::size ? " of size " : ", number ", options.amount);
        }
        if (options.cut == Cut::size)
          return std::min(options.amount, std::max<std::int64_t>(size_, 1));
        pieces = options.amount;
    }
    pieces = std::min(pieces, std::max<std::int64_t>(size_, 1));
    return std::max<std::int64_t>((size_ + pieces - 1) / pieces, 1);
  }

  TensorDict td_;
  std::uint64_t seed_;
  std::int64_t dim_, size_, length_, count_;
  bool elements_;
  at::Tensor order_;
};

}  // namespace

class PieceStream::State final : public Workers {
 public:
  State(const TensorDict& td, const PiecewiseOptions& options, PieceFn function, std::size_t ahead)
      : Workers(options.around_worker, options.worker_threads),
        workers_(static_cast<std::size_t>(workers_of(options))),
        cutter_(td, options, static_cast<int>(workers_)),
        function_(std::move(function)) {
    if (ahead == 0) ahead = 2 * workers_;
    const std::size_t room = ahead < none ? ahead + 1 : none;
    slots_.resize(std::min(room, cutter_.count()));
  }

  std::size_t count() const noexcept { return cutter_.count(); }

  void start() {
    const std::size_t wanted = std::min(workers_, cutter_.count());
    if (wanted >= 2) Workers::start(wanted);
  }

  std::optional<Result> next() {
    const Call call(*this,
                    "the function of the iterator asked for its results: it would wait for itself",
                    "another call is waiting for the next result of this iterator");
    if (threads_.empty()) return next_here();
    std::unique_lock<std::mutex> hold(mutex_);
    if (given_ == count()) return std::nullopt;
    Slot& slot = slots_[given_ % slots_.size()];
    ready_.wait(hold, [&] { return slot.done || given_ >= failed_ || stopped_; });
    if (!slot.done && given_ >= failed_) std::rethrow_exception(failure_);
    if (!slot.done)
      fail(Code::bad_handle, "the iterator was freed while a call waited for its result");
    Result result = std::move(slot.result);
    slot = Slot();
    ++given_;
    room_.notify_one();
    return result;
  }

 private:
  struct Slot {
    bool done = false;
    Result result;
  };

  Result run(std::size_t number, int worker) const {
    Result result{cutter_.piece(number), std::nullopt};
    result.piece.worker = worker;
    result.td = function_(result.piece, cutter_.cut(result.piece));
    return result;
  }

  // Without threads: works on request.
  std::optional<Result> next_here() {
    if (failure_) std::rethrow_exception(failure_);
    if (given_ == count()) return std::nullopt;
    try {
      Result result = run(given_, 0);
      ++given_;
      return result;
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  }

  void note_end(const std::exception_ptr& failure) noexcept override {
    const std::lock_guard<std::mutex> hold(mutex_);
    note_failure(begun_, failure);
  }

  void work(int worker) override {
    std::unique_lock<std::mutex> hold(mutex_);
    while (true) {
      room_.wait(hold, [&] { return finished() || begun_ - given_ < slots_.size(); });
      if (finished()) return;
      const std::size_t number = begun_++;
      hold.unlock();
      Result result;
      std::exception_ptr failure;
      try {
        result = run(number, worker);
      } catch (...) {
        failure = std::current_exception();
      }
      hold.lock();
      if (failure) {
        note_failure(number, failure);
      } else {
        Slot& slot = slots_[number % slots_.size()];
        slot.result = std::move(result);
        slot.done = true;
        if (number == given_) ready_.notify_one();
      }
    }
  }

  bool finished() const noexcept { return stopped_ || begun_ >= std::min(count(), failed_); }

  // Pieces start in order, so when all have finished, the first failure in order is known.
  void note_failure(std::size_t number, const std::exception_ptr& failure) {
    if (number < failed_) {
      failed_ = number;
      failure_ = failure;
    }
    ready_.notify_one();
    room_.notify_all();
  }

  const std::size_t workers_;
  const Cutter cutter_;
  const PieceFn function_;
  std::vector<Slot> slots_;  // for pieces from `given_` on
  std::size_t begun_ = 0, given_ = 0, failed_ = none;
  std::exception_ptr failure_;
};

PieceStream::PieceStream(const TensorDict& td, const PiecewiseOptions& options, PieceFn function,
                         std::size_t ahead)
    : state_(std::make_shared<State>(td, options, std::move(function), ahead)) {
  state_->start();
}

PieceStream::~PieceStream() { stop(); }

void PieceStream::stop() { state_->stop(); }

std::optional<PieceStream::Result> PieceStream::next() {
  const std::shared_ptr<State> state = state_;
  return state->next();
}

std::optional<PieceStream::Result> PieceStream::next_kept() {
  const std::shared_ptr<State> state = state_;
  while (true) {
    std::optional<Result> result = state->next();
    if (!result || result->td) return result;
  }
}

std::size_t PieceStream::count() const noexcept { return state_->count(); }

}  // namespace td
