// core/loader/loader.h: minibatches of a dictionary, made ahead by worker threads.
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

// What becomes of a batch before it is given. `piece` says which it is, and has a seed for it. Called on
// several threads at once when there is more than one worker.
using BatchFn = std::function<TensorDict(const Piece& piece, const TensorDict& batch)>;

struct LoaderOptions {
  std::int64_t rows = 0;  // of a batch; with slices: how many of these
  std::uint64_t seed = 0;
  std::int64_t epochs = 0;  // 0: any number
  bool shuffle = false;
  bool with_replacement = false;
  std::int64_t draws = 0;  // of an epoch with replacement or weights; 0: as many as there are items
  at::Tensor weights;      // of the rows; a slice has that of its first one
  bool drop_last = false;  // leaves out what is no full batch, and gives each rank as many batches
  bool flat = false;       // all batch dimensions count as rows
  bool refresh = false;    // the dictionary or its folder is looked at again in each epoch
  bool concatenate = false;  // slices one behind the other, not beside each other
  SliceOptions slices;
  std::vector<std::vector<std::string>> keys;  // none: all
  std::int64_t rank = 0, world_size = 1;
  int workers = 0;        // 0: batches are made when they are asked for
  std::size_t ahead = 0;  // batches that workers may be ahead; 0: twice the workers
  std::optional<c10::Device> device;
  bool pin = false;
  BatchFn transform;
  // Called on each thread that is started, around all that it does.
  std::function<void(const std::function<void()>&)> around_worker;
};

// The options with what 0 stands for; throws Code::invalid_argument for those that make no sense.
LoaderOptions checked(LoaderOptions options);

// Where a loader stands.
struct LoaderPlace {
  std::int64_t epoch;    // from 0
  std::int64_t batch;    // the number of the next one in the epoch
  std::int64_t batches;  // of the epoch
  std::int64_t items;    // rows or slices that this rank draws in the epoch
};

// Batches of one epoch after the other, in an order that follows from the seed alone, whatever the number
// of workers. A failure leaves the loader where it was.
class Loader {
 public:
  // Throws Code::invalid_argument, shape, key_not_found, wrong_entry, device.
  Loader(const TensorDict& td, LoaderOptions options);
  ~Loader();  // stop()
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next batch; nothing at the end of each epoch, once, and always after the last epoch.
  //
  // The memory of batches that nobody holds any more is used again.
  std::optional<TensorDict> next();

  LoaderPlace place() const;

  // What is needed to go on at the next batch: a small dictionary.
  TensorDict state() const;
  void load_state(const TensorDict& state);

  // Begins no more batches and waits for those that have been begun; not when called by one of them.
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace td
