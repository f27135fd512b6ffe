// core/replay/replay.h: a replay buffer: a ring of rows, and a sampler that draws from it.
#pragma once

#include "core/loader/batch_pool.h"
#include "core/replay/live_folder.h"
#include "core/replay/priorities.h"
#include "core/replay/replay_files.h"
#include "core/replay/replay_sampler.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace td {

// Threads may call side by side; one works at a time. A failure leaves the buffer as it was.
class Replay {
 public:
  // An empty one: in memory, or in a new folder, which others may open.
  explicit Replay(const ReplayOptions& options);

  // One from a folder. `live`: what is written reaches the folder, and others who have it open.
  static std::unique_ptr<Replay> open(const std::string& folder, const ReplayOptions& options,
                                      bool live);

  // One row, or the rows of a dictionary, in order.
  void add(const TensorDict& row) { put(row, /*single=*/true); }
  void extend(const TensorDict& rows) { put(rows, /*single=*/false); }

  // `rows` 0: as many as the options say.
  TensorDict sample(std::int64_t rows);

  void update_priority(const at::Tensor& index, const at::Tensor& priorities);
  void set_beta(double beta);

  // Of a storage of several dimensions `cursor` and `written` count rows of the first one, as TorchRL does.
  RingCounts counts();

  // The rows that are there, in the order of their places, over the memory of the buffer.
  TensorDict dict();

  // Writes a folder, or, without a name, what the own folder is yet to say.
  void save(const std::string& path, bool durable);

 private:
  class Hold;
  Replay(ReplayOptions options, std::string folder);

  void open_files(bool live);
  void make_sampler();
  void attach();
  std::unique_ptr<RingRows> new_rows(const TensorDict& like) const;
  void put(const TensorDict& given, bool single);
  TensorDict gathered(const Drawn& drawn);
  at::Tensor index_of(c10::ArrayRef<std::int64_t> places) const;
  at::Tensor places_of(const at::Tensor& index) const;
  TensorDict flat(const TensorDict& rows) const;
  TensorDict unflat(const TensorDict& rows) const;
  Priorities& priorities();

  std::mutex mutex_;
  ReplayOptions options_;
  RingCounts counts_;
  std::unique_ptr<RingRows> rows_;  // none until the first row has come
  std::unique_ptr<ReplaySampler> sampler_;
  Priorities* priorities_ = nullptr;  // the sampler, if it is one
  RandomNumbers random_;
  ReplayFiles files_;
  std::unique_ptr<LiveFolder> live_;
  BatchPool pool_;
};

}  // namespace td
