// Combines the results of pieces into one dictionary, or into parts of an existing one.
#include "core/apply/piecewise.h"
#include "core/keys/entries.h"
#include "core/shape/join.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tree/batch_op.h"
#include "core/tree/engine.h"
#include "core/tree/kinds.h"
#include "core/tree/walk.h"

#include <atomic>
#include <mutex>

namespace td {

namespace {

// Indexes dimension `dim`, and all of those before it.
c10::SmallVector<IndexItem, 4> items_at(std::int64_t dim, IndexItem item) {
  c10::SmallVector<IndexItem, 4> items;
  for (std::int64_t i = 0; i < dim; ++i) items.push_back(IndexItem::range({}, {}));
  items.push_back(std::move(item));
  return items;
}

// Writes results into a dictionary with the same entries.
class Target {
 public:
  Target(const TensorDict& td, std::int64_t dim, bool elements) : td_(td), elements_(elements) {
    td.dim_size(dim);
    dim_ = dim < 0 ? dim + static_cast<std::int64_t>(td.batch_size().size()) : dim;
  }

  void write(const PieceStream::Result& result) {
    std::int64_t length = result.piece.length;
    if (result.td) {
      const TensorDict& source = *result.td;
      if (!elements_) length = static_cast<std::int64_t>(source.dim_size(dim_));
      for (const KeyList::Key& key : list_keys(source, {true, false, false}).keys) {
        const std::vector<std::string_view> path(key.path.begin(), key.path.end());
        if (td_.kind_of(path) == EntryKind::none) {
          fail(Code::key_not_found, "out has no entry ", show_path(path),
               " for the result of piece ", result.piece.number);
        }
      }
      c10::SmallVector<IndexItem, 4> items;
      for (std::int64_t i = 0; i < dim_; ++i) items.push_back(IndexItem::range({}, {}));
      items.push_back(elements_ ? IndexItem::at(next_) : IndexItem::range(next_, next_ + length));
      td_.set_at(items, source);
    }
    next_ += length;
  }

 private:
  TensorDict td_;
  std::int64_t dim_;
  bool elements_;
  std::int64_t next_ = 0;
};

// Allocates a result for all pieces, modelled on one of them.
class RoomOp final : public BatchOp {
 public:
  RoomOp(std::int64_t dim, bool elements, std::int64_t size)
      : dim_(static_cast<std::size_t>(dim)), elements_(elements), size_(size) {}
  Sizes batch(SizesView before) const override {
    Sizes sizes(before.begin(), before.end());
    if (elements_) sizes.insert(sizes.begin() + dim_, size_);
    sizes[dim_] = size_;
    return sizes;
  }
  at::Tensor leaf(const at::Tensor& before) const override {
    return fast::make_dense(batch(before.sizes()), before.scalar_type());
  }

 private:
  std::size_t dim_;
  bool elements_;
  std::int64_t size_;
};

// Combines results while work continues: workers write their results in place as long as all are alike.
// Others are joined at the end.
class Joined {
 public:
  Joined(std::int64_t dim, bool elements, std::int64_t size)
      : dim_(dim), elements_(elements), size_(size), open_(fast::can_skip_dispatcher()) {}

  // Called by the worker. Returns what to keep: the result, or the part it was written to.
  TensorDict place(const Piece& piece, const TensorDict& result) {
    const std::optional<TensorDict> room = room_for(piece, result);
    if (!room) return result;
    const TensorDict part = room->index(
        items_at(dim_, elements_ ? IndexItem::at(piece.first)
                                 : IndexItem::range(piece.first, piece.first + piece.length)));
    if (!write(part.node(), result.node())) return result;
    ++written_;
    return part;
  }

  // Called by the calling thread, in order.
  void add(TensorDict kept) { kept_.push_back(std::move(kept)); }

  std::optional<TensorDict> join(std::size_t pieces) const {
    if (kept_.empty()) return std::nullopt;
    if (written_ == pieces) return room_;
    return elements_ ? maybe_dense_stack(kept_, dim_) : td::cat(kept_, dim_);
  }

 private:
  std::optional<TensorDict> room_for(const Piece& piece, const TensorDict& result) {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (!room_ && open_) {
      open_ = plain(piece, *result.node());
      if (open_) room_.emplace(map(result.node(), RoomOp(dim_, elements_, size_)));
    }
    return room_;
  }

  bool plain(const Piece& piece, const Node& result) const {
    const auto at = static_cast<std::size_t>(dim_);
    const SizesView batch = result.batch();
    if (elements_ ? batch.size() < at : batch.size() <= at || batch[at] != piece.length) {
      return false;
    }
    bool answer = is_plain(result) && !result.tagged();
    visit_values(result, [&](const Value& value) {
      // A shared dictionary may be separate in other results.
      answer = answer && (value.is_node() ? !value.node()->tagged() && holders_of(*value.node()) < 2
                                          : fast::plain_cpu(value.tensor()));
    });
    return answer;
  }

  // Whether a result matches its part of the room, and the pairs of tensors.
  struct Likeness : WalkSink<Take::whole> {
    Take meet(const Here&, NodesHere nodes) {
      alike = holds_entries(*nodes[1]);
      return alike ? Take::whole : Take::nothing;
    }
    void enter(const Here&, Dicts dicts) {
      const DenseNode &to = *dicts[0], &from = *dicts[1];
      alike = !from.tagged() && from.batch() == to.batch() && from.device() == to.device() &&
              same_names(to, from);
    }
    void leaf(const Here&, Tensors tensors) {
      const at::Tensor &target = *tensors[0], &source = *tensors[1];
      alike = fast::plain_cpu(source) && source.scalar_type() == target.scalar_type() &&
              source.sizes() == target.sizes();
      leaves.emplace_back(&target, &source);
    }
    void value(const Here&, NodesHere) { alike = false; }
    bool mixed(const Here&) {
      alike = false;
      return true;
    }
    bool done() const { return !alike; }

    bool alike = true;
    std::vector<std::pair<const at::Tensor*, const at::Tensor*>> leaves;
  };

  // Returns false, without a write, if the result does not match.
  static bool write(const NodePtr& part, const NodePtr& result) {
    Likeness likeness;
    WalkRules rules = all_entries();
    rules.missing = WalkRules::Missing::fill;  // counts were compared at the start of the level
    walk_pair(part, result, likeness, rules);
    if (!likeness.alike) return false;
    for (const auto& [target, source] : likeness.leaves) assign(*target, *source, /*fast=*/true);
    return true;
  }

  const std::int64_t dim_;
  const bool elements_;
  const std::int64_t size_;
  std::mutex mutex_;
  bool open_;  // whether results can still be written in place
  std::optional<TensorDict> room_;
  std::atomic<std::size_t> written_{0};
  std::vector<TensorDict> kept_;
};

}  // namespace

std::optional<TensorDict> map_pieces(const TensorDict& td, const PiecewiseOptions& options,
                                     const std::optional<TensorDict>& out, const PieceFn& function,
                                     const ProgressFn& progress) {
  const bool elements = options.cut == Cut::elements;
  const auto dims = static_cast<std::int64_t>(td.batch_size().size());
  const std::int64_t dim = options.dim < 0 ? options.dim + dims : options.dim;
  std::optional<Target> target;
  if (out) target.emplace(*out, dim, elements);
  Joined joined(dim, elements, static_cast<std::int64_t>(td.dim_size(options.dim)));
  const auto work = [&](const Piece& piece, const TensorDict& part) {
    std::optional<TensorDict> result = function(piece, part);
    return result && !out ? joined.place(piece, *result) : std::move(result);
  };
  PieceStream stream(td, options, work, static_cast<std::size_t>(-1));
  std::size_t done = 0;
  if (progress) progress(done, stream.count());
  while (std::optional<PieceStream::Result> result = stream.next()) {
    if (target) {
      target->write(*result);
    } else if (result->td) {
      joined.add(std::move(*result->td));
    }
    if (progress) progress(++done, stream.count());
  }
  return out ? out : joined.join(stream.count());
}

}  // namespace td
