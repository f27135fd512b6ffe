// What a buffer holds, and its folder. replay_open.cpp makes and opens one.
#include "core/replay/replay_hold.h"

#include "core/io/folder.h"
#include "core/memmap/memmap.h"
#include "core/shape/join.h"
#include "core/shape/shape.h"

#include <ATen/ATen.h>

namespace td {

void Replay::require_single() const {
  if (members_.empty()) return;
  fail(Code::unsupported, "the folder is an ensemble of ", members_.size(),
       " buffers: load one of them, as \"", options_.folder, "/storage/0\"");
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
  if (read_) return read_(at::arange(counts_.length, at::kLong));
  if (!rows_) {
    const std::int64_t none[] = {0};
    return TensorDict(none);
  }
  return unflat(narrow(rows_->dict(), 0, 0, counts_.length));
}

void Replay::save(const std::string& path, bool durable) {
  require_single();
  if (read_) {
    fail(Code::unsupported, "the rows are those of a data set, which is only read: ",
         "td_dataset_convert writes them");
  }
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
