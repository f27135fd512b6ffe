// core/apply/piecewise.h: applies a callback to pieces of a dictionary, on several threads.
#pragma once

#include "core/tree/tensordict.h"

#include <functional>
#include <memory>

namespace td {

// How to cut a dictionary along a dimension.
enum class Cut {
  per_worker,  // one piece for each worker
  size,        // pieces of `amount` elements; the last may be smaller
  count,       // at most `amount` pieces of equal size; the last may be smaller
  elements,    // single elements, without the dimension
};

struct PiecewiseOptions {
  std::int64_t dim = 0;
  Cut cut = Cut::per_worker;
  std::int64_t amount = 0;
  int num_workers = 1;     // 1: the calling thread; 0: one for each CPU
  int worker_threads = 1;  // libtorch's threads for one worker
  bool shuffle = false;    // permutes the elements by `seed`
  std::uint64_t seed = 0;
  // Wraps all work of each thread that is started.
  std::function<void(const std::function<void()>&)> around_worker;
};

// One piece of the work.
struct Piece {
  std::size_t number = 0, count = 0;
  std::int64_t first = 0,
               length = 0;  // elements along the dimension, in permuted order if `shuffle`
  int worker = 0;
  std::uint64_t seed = 0;  // the piece's own, independent of the number of workers
};

// Receives a new dictionary over the piece's memory. Called concurrently with more than one worker.
using PieceFn = std::function<std::optional<TensorDict>(const Piece& piece, const TensorDict& td)>;

// Called on the calling thread.
using ProgressFn = std::function<void(std::size_t done, std::size_t total)>;

// The results, in order of the pieces. Workers run ahead by up to `ahead` pieces; 0: twice their number. The
// first failing piece in order ends the results, even if another failed earlier in time; no further piece is
// started.
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
  // nullopt after the last piece. Rethrows the callback's failure on each call.
  std::optional<Result> next();
  // The next non-empty result.
  std::optional<Result> next_kept();
  std::size_t count() const noexcept;

  // Starts no more pieces and waits for those in progress, unless one of them makes the call.
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

// The results, concatenated along the dimension, or stacked if the pieces were elements. nullopt if all
// results are empty. With `out`, writes them there in order and returns it.
std::optional<TensorDict> map_pieces(const TensorDict& td, const PiecewiseOptions& options,
                                     const std::optional<TensorDict>& out, const PieceFn& function,
                                     const ProgressFn& progress);

}  // namespace td
