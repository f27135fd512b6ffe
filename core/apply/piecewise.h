// core/apply/piecewise.h: a function of the caller over the pieces of a dictionary, on several threads.
#pragma once

#include "core/tree/tensordict.h"

#include <memory>

namespace td {

// How a dictionary is cut along a dimension.
enum class Cut {
  per_worker,  // as many pieces as there are workers
  size,        // pieces of `amount` elements, the last one of what is left
  count,       // at most `amount` pieces of equal size, the last one of what is left
  elements,    // one element each, without the dimension
};

struct PiecewiseOptions {
  std::int64_t dim = 0;
  Cut cut = Cut::per_worker;
  std::int64_t amount = 0;
  int num_workers = 1;     // 1: the calling thread; 0: as many threads as there are CPUs
  int worker_threads = 1;  // of libtorch, for operations of one worker
  bool shuffle = false;    // the elements in an order that follows from `seed`
  std::uint64_t seed = 0;
  // Called on each thread that is started, around all that it does.
  std::function<void(const std::function<void()>&)> around_worker;
};

// One piece of the work.
struct Piece {
  std::size_t number = 0, count = 0;
  std::int64_t first = 0,
               length = 0;  // elements along the dimension; in shuffled order if shuffled
  int worker = 0;
  std::uint64_t seed = 0;  // of its own, the same with any number of workers
};

// Receives a dictionary of its own over the memory of the piece. Called on several threads at once when
// there is more than one worker.
using PieceFn = std::function<std::optional<TensorDict>(const Piece& piece, const TensorDict& td)>;

// Called on the thread of the caller.
using ProgressFn = std::function<void(std::size_t done, std::size_t total)>;

// The results one by one, in the order of the pieces. Workers run ahead by up to `ahead` pieces; 0
// stands for twice their number.
//
// Failures are those of one thread: the first piece in order that fails ends the results, whichever
// failed first in time, and no further piece is begun.
class PieceStream {
 public:
  PieceStream(const TensorDict& td, const PiecewiseOptions& options, PieceFn function,
              std::size_t ahead);
  ~PieceStream();  // stop()
  PieceStream(const PieceStream&) = delete;
  PieceStream& operator=(const PieceStream&) = delete;

  struct Result {
    Piece piece;
    std::optional<TensorDict> td;
  };
  // Nothing after the last piece. Throws what the function threw, each time.
  std::optional<Result> next();
  // The next one for which the function returned something.
  std::optional<Result> next_kept();
  std::size_t count() const noexcept;

  // Begins no more pieces and waits for those that have been begun; not when called by one of them.
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

// The results put together along the dimension: one after the other, or stacked when the pieces were
// elements. Nothing when the function returned nothing for any piece. With `out` they are written
// there, one by one and in order, and the result is `out`.
std::optional<TensorDict> map_pieces(const TensorDict& td, const PiecewiseOptions& options,
                                     const std::optional<TensorDict>& out, const PieceFn& function,
                                     const ProgressFn& progress);

}  // namespace td
