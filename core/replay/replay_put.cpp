// Rows are put into a buffer.
#include "core/replay/replay_hold.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace td {

// Rows are added only where all that the folder says stays true.
void Replay::require_writable() const {
  require_single();
  if (read_)
    fail(Code::unsupported, "the rows are those of a data set, which is only read: none are added");
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

// The priorities that rows bring with them; empty without an entry of them. Refuses an entry that cannot be used.
std::vector<double> Replay::new_priorities(const TensorDict& rows, std::int64_t count) const {
  if (options_.priority.empty()) return {};
  const std::vector<std::string_view> path(options_.priority.begin(), options_.priority.end());
  return Priorities::given(rows.get(path), path, count);
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
  const std::vector<double> priorities = new_priorities(td, rows.count);
  const std::int64_t first = counts_.cursor;
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
  }
  note_new_rows();
  if (!priorities.empty() && rows.count > counts_.capacity) {
    const auto lost = static_cast<std::size_t>(rows.count - counts_.capacity);
    priorities_->note_replaced(c10::ArrayRef<double>(priorities).slice(0, lost), first);
  }
}

}  // namespace td
