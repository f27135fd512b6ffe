// A buffer at work: rows are put in and drawn. replay_open.cpp makes and opens it.
#include "core/replay/replay.h"

#include "core/io/folder.h"
#include "core/memmap/memmap.h"
#include "core/shape/join.h"
#include "core/shape/shape.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace td {

// Serializes calls, across processes if a process writes to the folder.
class Replay::Hold {
 public:
  Hold(Replay& replay, bool alone) : lock_(replay.mutex_) {
    if (!replay.live_) return;
    folder_.emplace(*replay.live_, alone);
    const RingCounts now = replay.live_->read();
    if (now.capacity != replay.counts_.capacity || now.written < replay.counts_.written) {
      fail(Code::format, "\"", replay.live_->folder(), "\" is that of another buffer now");
    }
    replay.counts_ = now;
    if (!replay.rows_ && now.written != 0) replay.attach();
  }

 private:
  std::lock_guard<std::mutex> lock_;
  std::optional<LiveFolder::Hold> folder_;
};

void Replay::require_single() const {
  if (members_.empty()) return;
  fail(Code::unsupported, "the folder is an ensemble of ", members_.size(),
       " buffers: load one of them, as \"", options_.folder, "/storage/0\"");
}

// Draws a buffer for each of as many pieces as there are buffers, and each piece from its buffer, as TorchRL's
// SamplerEnsemble does without other options.
TensorDict Replay::sample_members(std::int64_t rows) {
  const auto n = static_cast<std::int64_t>(members_.size());
  if (rows % n != 0) {
    fail(Code::invalid_argument, "a batch of ", rows,
         " rows is no whole number of rows from each of ", n, " buffers");
  }
  std::vector<TensorDict> pieces;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t id = random_.below(n);
    TensorDict piece = members_[static_cast<std::size_t>(id)]->sample(rows / n);
    const std::string_view path[] = {"buffer_ids"};
    piece.set(path, at::full(piece.batch_size(), id, at::kLong));
    pieces.push_back(std::move(piece));
  }
  return cat(pieces, 0);
}

// Rows are added only where all that the folder says stays true.
void Replay::require_writable() const {
  require_single();
  if (files_.state.immutable)
    fail(Code::unsupported, "the buffer is immutable: its folder has no writer");
  if (files_.knows_rows) {
    fail(Code::unsupported, "the folder has the state of ", files_.foreign,
         ", which knows its rows: new ones would make it untrue");
  }
  if (!live_) return;
  if (!files_.state.is_ring()) {
    fail(Code::unsupported, "the writer of \"", live_->folder(), "\" ",
         files_.state.by_rank() ? "ranks rows" : "counts generations",
         ": load the folder to add rows, and save it");
  }
  if (!counts_.full() && counts_.cursor != counts_.length) {
    fail(Code::unsupported, "the next row in \"", live_->folder(), "\" goes to place ",
         counts_.cursor, " of ", counts_.length, " rows: load the folder to add rows, and save it");
  }
}

// The rank of each row, from its values.
std::vector<double> Replay::ranks_of(const TensorDict& rows, std::int64_t count) const {
  const std::vector<std::string_view> path(files_.state.rank_key.begin(),
                                           files_.state.rank_key.end());
  const at::Tensor values = rows.get(path);
  if (values.numel() != count) {
    fail(Code::unsupported, show_path(path), " has shape ", show_sizes(values.sizes()), " for ",
         count, " rows: how TorchRL makes one rank of several numbers is not in the folder");
  }
  if (!at::isFloatingType(values.scalar_type()) &&
      !at::isIntegralType(values.scalar_type(), /*includeBool=*/true)) {
    fail(Code::dtype, show_path(path), " ranks rows and must be real");
  }
  const at::NoGradGuard no_grad;
  const at::Tensor ranks = values.detach().to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
  const auto* first = ranks.data_ptr<double>();
  std::vector<double> result(first, first + count);
  for (const double rank : result)
    if (std::isnan(rank)) fail(Code::invalid_argument, show_path(path), " is NaN: it ranks rows");
  return result;
}

void Replay::put_by_rank(const NewRows& rows, const std::vector<double>& ranks) {
  sampler_->follow(counts_, rows_.get());
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(rows.count));
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::size_t ranked = files_.state.ranks.size();
    const std::int64_t place = files_.state.place_for(ranks[static_cast<std::size_t>(row)],
                                                      counts_.cursor, counts_.capacity);
    if (place < 0) continue;
    rows_->write(rows, row, 1, place);
    places.push_back(place);
    counts_.length = std::max(counts_.length, place + 1);
    // A row that replaces another leaves the cursor where it is.
    if (files_.state.ranks.size() != ranked) counts_.cursor = (place + 1) % counts_.capacity;
    ++counts_.written;
  }
  sampler_->replaced(places, counts_, *rows_);
}

// Refuses rows whose entry of priorities cannot be used.
void Replay::check_new_priorities(const TensorDict& rows, std::int64_t count) const {
  if (options_.priority.empty()) return;
  const std::vector<std::string_view> path(options_.priority.begin(), options_.priority.end());
  Priorities::given(rows.get(path), path, count);
}

// Rows of one call share what is the largest priority before it. If there is no memory for it now, the next draw takes
// note of them.
void Replay::note_new_rows() noexcept {
  if (priorities_ == nullptr) return;
  try {
    sampler_->follow(counts_, rows_.get());
  } catch (...) {
  }
}

// The dimensions of the storage after the first. A new storage has as many as the options say; the first rows say their
// sizes.
Sizes Replay::inner_for(const TensorDict& rows) const {
  if (rows_ || options_.dims <= 1) return files_.inner;
  const SizesView batch = rows.batch_size();
  const auto dims = static_cast<std::size_t>(options_.dims);
  if (batch.size() < dims) {
    fail(Code::shape, "rows of batch size ", show_sizes(batch), " do not fill a storage of ", dims,
         " dimensions");
  }
  ReplayFiles shaped;
  shaped.inner.assign(batch.begin() + 1, batch.begin() + static_cast<std::ptrdiff_t>(dims));
  if (shaped.places() < 1 || counts_.capacity % shaped.places() != 0) {
    fail(Code::shape, "a capacity of ", counts_.capacity,
         " elements is no whole number of rows of ", show_sizes(shaped.inner), " elements");
  }
  return shaped.inner;
}

void Replay::put(const TensorDict& given, bool single) {
  const Hold hold(*this, /*alone=*/true);
  require_writable();
  TensorDict td = given;
  Sizes inner = files_.inner;
  if (!inner.empty() || options_.dims > 1) {
    if (single) td = td.unsqueeze(0);
    single = false;
    inner = inner_for(td);
    td = flat(td, inner);
  }
  if (!single && !td.batch_size().empty() && td.batch_size()[0] == 0) return;
  const std::int64_t places = product_of(inner);
  std::unique_ptr<RingRows> made;
  if (!rows_) {
    if (!single && td.batch_size().empty())
      fail(Code::shape, "rows are counted along the first batch dimension; the batch size is []");
    made = new_rows(single ? td.unsqueeze(0) : td, places);
  }
  const RingRows& ring = made ? *made : *rows_;
  const NewRows rows = ring.match(td, single);
  check_new_priorities(td, rows.count);
  files_.state.reserve(rows.count, counts_.capacity, places);
  const auto begin = [&] {
    if (!made) return;
    rows_ = std::move(made);
    files_.inner = inner;
  };
  if (files_.state.by_rank()) {
    const std::vector<double> ranks = ranks_of(single ? td.unsqueeze(0) : td, rows.count);
    begin();
    put_by_rank(rows, ranks);
    return;
  }
  begin();
  for (std::int64_t done = 0; done < rows.count;) {
    // Only a full ring overwrites rows; the gap marks them.
    const std::int64_t room = counts_.full() ? counts_.capacity : counts_.capacity - counts_.cursor;
    const std::int64_t step = std::min(rows.count - done, room);
    if (live_ && counts_.full()) {
      RingCounts during = counts_;
      during.gap = std::max(step, counts_.gap);
      live_->write(during);
    }
    rows_->write(rows, done, step, counts_.cursor);
    for (std::int64_t k = 0; k < step; k += places)
      files_.state.count((counts_.cursor + k) % counts_.capacity / places);
    RingCounts after = counts_.after(step);
    // A writer that died may have left a larger gap.
    after.gap = std::max<std::int64_t>(counts_.gap - step, 0);
    if (live_) live_->write(after);
    counts_ = after;
    done += step;
    // The priorities of rows that later ones of this call overwrite count for the largest, too.
    if (rows.count > counts_.capacity) note_new_rows();
  }
  note_new_rows();
}

TensorDict Replay::sample(std::int64_t rows) { return drawn_batch(rows, nullptr).batch; }

Relabeled Replay::sample_hindsight(std::int64_t rows, const HindsightOptions& options) {
  check_hindsight(options);
  return drawn_batch(rows, &options);
}

Relabeled Replay::drawn_batch(std::int64_t rows, const HindsightOptions* hindsight) {
  const Hold hold(*this, /*alone=*/false);
  if (rows < 0) fail(Code::invalid_argument, "rows is ", rows, "; a batch has at least 1");
  if (rows == 0) rows = options_.rows;
  if (rows == 0)
    fail(Code::invalid_argument, "neither the call nor the options say how many rows a batch has");
  if (hindsight != nullptr) {
    require_single();
    if (options_.steps > 0 || options_.by_slice) {
      fail(Code::unsupported, "other goals have other rewards: neither returns of n_steps nor ",
           "batches by slice can be made of them");
    }
  }
  if (!members_.empty()) return {sample_members(rows), 0};
  if (!rows_ || counts_.whole() == 0)
    fail(Code::shape, "the buffer holds no rows yet: none can be drawn");
  const at::NoGradGuard no_grad;
  sampler_->follow(counts_, rows_.get());
  RandomNumbers random = random_;
  Drawn drawn;
  drawn.places.reserve(static_cast<std::size_t>(rows));  // refuses what no memory holds
  sampler_->draw(counts_, *rows_, rows, random, drawn);
  const SliceLayout layout =
      options_.by_slice ? SliceLayout::filled(drawn) : SliceLayout::of(drawn);
  Relabeled result{gathered(drawn), 0};
  if (returns_) returns_->apply(counts_, *rows_, drawn.places, result.batch);
  if (hindsight != nullptr) result.rows = relabel(*hindsight, drawn, random, result.batch);
  if (options_.mark_ends) layout.mark(result.batch);
  if (options_.by_slice) result.batch = layout.by_slice(std::move(result.batch));
  sampler_->commit();
  random_ = random;
  return result;
}

// Gives the first rows other goals; how many.
std::int64_t Replay::relabel(const HindsightOptions& options, const Drawn& drawn,
                             RandomNumbers& random, TensorDict& batch) {
  if (!episodes_) {
    ReplayOptions told_apart = options_;
    told_apart.slices = episodes_of(std::move(told_apart.slices));
    episodes_.emplace(told_apart);
  }
  episodes_->follow(counts_, *rows_);
  const c10::ArrayRef<std::int64_t> places = drawn.places;
  const std::int64_t first =
      hindsight_rows(options, static_cast<std::int64_t>(drawn.places.size()));
  give_reached_goals(options, *episodes_, *rows_, places.slice(0, static_cast<std::size_t>(first)),
                     random, batch);
  return first;
}

TensorDict Replay::gathered(const Drawn& drawn) {
  const auto n = static_cast<std::int64_t>(drawn.places.size());
  TensorDict result;
  const std::shared_ptr<const RowSource>& source = rows_->source();
  if (source->plain()) {
    std::shared_ptr<PooledBatch> batch = pool_.take(source, {n});
    source->copy_rows(drawn.places, batch->targets());
    result = batch->dict();
    pool_.give(batch);
  } else {
    result = source->pick(at::tensor(drawn.places, at::kLong));
  }
  const auto put = [&](std::string_view name, at::Tensor value) {
    const std::string_view path[] = {name};
    // As in TorchRL, all elements of a row get the row's number.
    Sizes sizes(result.batch_size().begin(), result.batch_size().end());
    sizes.append(value.sizes().begin() + 1, value.sizes().end());
    if (value.sizes() != SizesView(sizes)) {
      while (value.dim() < static_cast<std::int64_t>(sizes.size())) value = value.unsqueeze(1);
      value = value.expand(sizes).contiguous();
    }
    result.set(path, std::move(value));
  };
  put("index", index_of(drawn.places));
  if (!drawn.weights.empty()) {
    at::Tensor weights = at::empty({n}, at::kFloat);
    std::copy(drawn.weights.begin(), drawn.weights.end(), weights.data_ptr<float>());
    put("priority_weight", std::move(weights));
  }
  return result;
}

// An index for each place: one number, or one per storage dimension.
at::Tensor Replay::index_of(c10::ArrayRef<std::int64_t> places) const {
  const std::size_t dims = files_.inner.size() + 1;
  const auto n = static_cast<std::int64_t>(places.size());
  at::Tensor index = dims == 1 ? at::empty({n}, at::kLong)
                               : at::empty({n, static_cast<std::int64_t>(dims)}, at::kLong);
  auto* into = index.data_ptr<std::int64_t>();
  for (std::int64_t place : places) {
    for (std::size_t d = dims; d-- > 1;) {
      into[d] = place % files_.inner[d - 1];
      place /= files_.inner[d - 1];
    }
    into[0] = place;
    into += dims;
  }
  return index;
}

// The places of a caller's index. An index out of range gives an invalid place.
at::Tensor Replay::places_of(const at::Tensor& index) const {
  const std::size_t dims = files_.inner.size() + 1;
  if (dims == 1 || index.scalar_type() != at::kLong) return index;
  if (index.dim() == 0 || index.size(-1) != static_cast<std::int64_t>(dims)) {
    fail(Code::shape, "an index of shape ", show_sizes(index.sizes()), " does not end with the ",
         dims, " dimensions of the storage");
  }
  // A copy: another thread may write into the caller's index between the checks.
  const at::Tensor own =
      index.detach().to(at::TensorOptions(at::kCPU), /*non_blocking=*/false, /*copy=*/true);
  at::Tensor places = at::zeros(index.sizes().slice(0, index.sizes().size() - 1), at::kLong);
  at::Tensor exists = places.eq(0);
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t size = d == 0 ? counts_.capacity / files_.places() : files_.inner[d - 1];
    const at::Tensor at = own.select(-1, static_cast<std::int64_t>(d));
    exists = exists.logical_and(at.ge(0)).logical_and(at.lt(size));
    places = places * size + at;
  }
  return places.masked_fill(exists.logical_not(), -1);
}

// flat() gives each element of a multi-dimensional storage its own place; the next function reverses it.
TensorDict Replay::flat(const TensorDict& rows, SizesView inner) const {
  if (inner.empty()) return rows;
  const SizesView batch = rows.batch_size();
  if (batch.size() <= inner.size() || batch.slice(1, inner.size()) != inner) {
    fail(Code::shape, "rows of batch size ", show_sizes(batch), " do not fit a storage of ",
         show_sizes(inner), " elements for each row");
  }
  return flatten(rows, 0, static_cast<std::int64_t>(inner.size()));
}

TensorDict Replay::unflat(const TensorDict& rows) const {
  if (files_.inner.empty()) return rows;
  Sizes sizes{rows.batch_size()[0] / files_.places()};
  sizes.append(files_.inner.begin(), files_.inner.end());
  return unflatten(rows, 0, sizes);
}

Priorities& Replay::priorities() {
  require_single();
  if (priorities_ == nullptr)
    fail(Code::unsupported, "the buffer draws without priorities: only a prioritized one has them");
  priorities_->follow(counts_, rows_.get());
  return *priorities_;
}

void Replay::update_priority(const at::Tensor& index, const at::Tensor& priorities_of) {
  const Hold hold(*this, /*alone=*/false);
  priorities().update(places_of(index), priorities_of, counts_);
}

void Replay::set_beta(double beta) {
  const Hold hold(*this, /*alone=*/false);
  priorities().set_beta(beta);
}

RingCounts Replay::counts() {
  const Hold hold(*this, /*alone=*/false);
  RingCounts counts = counts_;
  counts.cursor /= files_.places();
  counts.written /= files_.places();
  return counts;
}

TensorDict Replay::dict() {
  const Hold hold(*this, /*alone=*/false);
  if (!members_.empty()) {
    std::vector<TensorDict> parts;
    for (const auto& member : members_)
      if (member->rows_) parts.push_back(member->dict());
    if (!parts.empty()) return cat(parts, 0);
  }
  if (!rows_) {
    const std::int64_t none[] = {0};
    return TensorDict(none);
  }
  return unflat(narrow(rows_->dict(), 0, 0, counts_.length));
}

void Replay::save(const std::string& path, bool durable) {
  require_single();
  if (!member_.empty())
    fail(Code::unsupported, "the buffer is one of an ensemble: only its rows can be saved");
  const bool own = live_ && (path.empty() || files::absolute(path) == live_->folder());
  const Hold hold(*this, /*alone=*/own);
  if (path.empty() && !own)
    fail(Code::invalid_argument, "the buffer has no folder of its own: name one");
  if (counts_.gap != 0) {
    fail(Code::busy, "the writer of ", counts_.gap, " rows at place ", counts_.cursor,
         " died before they were whole: write others there first");
  }
  sampler_->follow(counts_, rows_.get());
  ReplayFiles content = files_;
  content.set(counts_, random_, options_);
  if (own) {
    if (rows_ && durable) memmap_flush(rows_->dict());
    ReplayFiles changed = content;
    changed.others.clear();  // they exist already
    std::optional<RingCounts> stored;
    if (live_->cut_off_save())
      stored = ReplayFiles::read(live_->folder(), rows_ ? rows_->dict().batch_size() : SizesView())
                   .counts;
    live_->begin_save(counts_, stored);
    changed.write(live_->folder(), /*in_new=*/false, sampler_.get());
    if (durable) files::sync_tree(live_->directory(), live_->folder());
    live_->end_save();
  } else {
    if (!rows_)
      fail(Code::shape,
           "the buffer holds no rows yet: nothing says what a folder of them looks like");
    const TensorDict stored = unflat(rows_->dict());
    save_replay(path, content, &stored, sampler_.get(), durable);
  }
  files_ = std::move(content);
}

}  // namespace td
