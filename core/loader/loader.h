// core/loader/loader.h: minibatches of a dictionary, prepared by worker threads.
#pragma once

#include "core/apply/piecewise.h"
#include "core/loader/sampler.h"
#include "core/loader/slices.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

// Transforms a batch before it is returned. `piece` identifies the batch and has a seed for it. Called
// concurrently with more than one worker.
using BatchFn = std::function<TensorDict(const Piece& piece, const TensorDict& batch)>;

struct LoaderOptions {
  std::int64_t rows = 0;  // of a batch; with slices: slices of a batch
  std::uint64_t seed = 0;
  std::int64_t epochs = 0;  // 0: unlimited
  bool shuffle = false;
  bool with_replacement = false;
  std::int64_t draws = 0;    // per epoch, with replacement or weights; 0: the number of items
  at::Tensor weights;        // of the rows; a slice has its first row's
  bool drop_last = false;    // drops an incomplete last batch; gives all ranks equally many
  bool flat = false;         // all batch dimensions count as rows
  bool refresh = false;      // reads the dictionary or its folder again for each epoch
  bool concatenate = false;  // joins slices along the rows, without a dimension for slices
  SliceOptions slices;
  std::vector<std::vector<std::string>> keys;  // empty: all
  std::int64_t rank = 0, world_size = 1;
  int workers = 0;        // 0: batches are made on request
  std::size_t ahead = 0;  // batches that workers may prepare; 0: twice the workers
  std::optional<c10::Device> device;
  bool pin = false;
  BatchFn transform;
  // Wraps all work of each thread that is started.
  std::function<void(const std::function<void()>&)> around_worker;
};

// Replaces 0 by defaults; throws Code::invalid_argument for contradictory options.
LoaderOptions checked(LoaderOptions options);

// A loader's position.
struct LoaderPlace {
  std::int64_t epoch;    // from 0
  std::int64_t batch;    // next batch of the epoch
  std::int64_t batches;  // of the epoch
  std::int64_t items;    // rows or slices that this rank draws in the epoch
};

// The batches of consecutive epochs. Their order depends only on the seed, not on the number of workers. A
// failure does not advance the loader.
class Loader {
 public:
  // Throws Code::invalid_argument, shape, key_not_found, wrong_entry, device.
  Loader(const TensorDict& td, LoaderOptions options);
  ~Loader();  // stop()
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next batch; nullopt once after each epoch, and always after the last one. Reuses the memory of
  // released batches.
  std::optional<TensorDict> next();

  LoaderPlace place() const;

  // The state needed to continue at the next batch, as a small dictionary.
  TensorDict state() const;
  void load_state(const TensorDict& state);

  // Starts no more batches and waits for those in progress, unless one of them makes the call.
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace td
