// core/replay/replay.h: a replay buffer: a ring of rows and a sampler.
#pragma once

#include "core/loader/batch_pool.h"
#include "core/replay/hindsight.h"
#include "core/replay/live_folder.h"
#include "core/replay/multi_step.h"
#include "core/replay/priorities.h"
#include "core/replay/replay_files.h"
#include "core/replay/replay_sampler.h"
#include "core/replay/slice_batch.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace td {

// Thread-safe: calls are serialized. A failed call leaves the buffer unchanged.
class Replay {
 public:
  // An empty buffer, in memory or in a new folder that other processes may open.
  explicit Replay(const ReplayOptions& options);

  // A buffer from a folder. `live`: writes reach the folder, and the processes that have it open.
  static std::unique_ptr<Replay> open(const std::string& folder, const ReplayOptions& options,
                                      bool live);

  // Rows that lie elsewhere and never change: none can be written. `known` has what samplers look at, with a value for
  // each row; `read` gives rows by their numbers.
  using ReadRows = std::function<TensorDict(const at::Tensor& rows)>;
  static std::unique_ptr<Replay> over(TensorDict known, ReadRows read, ReplayOptions options);

  // Adds one row, or the rows of a dictionary in order.
  void add(const TensorDict& row) { put(row, /*single=*/true); }
  void extend(const TensorDict& rows) { put(rows, /*single=*/false); }

  // `rows` 0: the options' number.
  TensorDict sample(std::int64_t rows);
  // With other goals in the first rows; their rewards are as they were written.
  Relabeled sample_hindsight(std::int64_t rows, const HindsightOptions& options);

  void update_priority(const at::Tensor& index, const at::Tensor& priorities);
  void set_beta(double beta);

  // With several storage dimensions, `cursor` and `written` count rows of the first one, as in TorchRL.
  RingCounts counts();

  // The stored rows in order of their places, over the buffer's memory.
  TensorDict dict();

  // Writes a folder; without a path, updates the buffer's own folder.
  void save(const std::string& path, bool durable);

 private:
  class Hold;
  Replay(ReplayOptions options, std::string folder);

  void open_files(bool live);
  void open_members();
  void require_single() const;
  TensorDict sample_members(std::int64_t rows);
  void make_sampler();
  void load_sampler(const std::optional<RingCounts>& cut_off);
  void attach();
  std::unique_ptr<RingRows> new_rows(const TensorDict& like, std::int64_t places_of_row) const;
  void put(const TensorDict& given, bool single);
  void require_writable() const;
  std::vector<double> ranks_of(const TensorDict& rows, std::int64_t count) const;
  void put_by_rank(const NewRows& rows, const std::vector<double>& ranks);
  std::vector<double> new_priorities(const TensorDict& rows, std::int64_t count) const;
  void note_new_rows() noexcept;
  Sizes inner_for(const TensorDict& rows) const;
  Relabeled drawn_batch(std::int64_t rows, const HindsightOptions* hindsight);
  std::int64_t relabel(const HindsightOptions& options, const Drawn& drawn, RandomNumbers& random,
                       TensorDict& batch);
  TensorDict gathered(const Drawn& drawn);
  at::Tensor index_of(c10::ArrayRef<std::int64_t> places) const;
  at::Tensor places_of(const at::Tensor& index) const;
  TensorDict flat(const TensorDict& rows, SizesView inner) const;
  TensorDict unflat(const TensorDict& rows) const;
  Priorities& priorities();

  std::mutex mutex_;
  ReplayOptions options_;
  RingCounts counts_;
  std::unique_ptr<RingRows> rows_;  // nullptr before the first row
  ReadRows read_;                   // of rows that lie elsewhere; rows_ has what samplers look at
  std::unique_ptr<ReplaySampler> sampler_;
  Priorities* priorities_ = nullptr;  // of the sampler, if it is prioritized
  RandomNumbers random_;
  ReplayFiles files_;
  std::unique_ptr<LiveFolder> live_;
  BatchPool pool_;
  std::optional<MultiStep> returns_;
  std::optional<RingEpisodes> episodes_;  // for other goals

  std::vector<std::unique_ptr<Replay>> members_;  // of an ensemble, which has no rows of its own
  std::string member_;                            // "/0", …: of an ensemble's folder
  bool is_empty_ = false;                         // a member without rows
};

}  // namespace td
