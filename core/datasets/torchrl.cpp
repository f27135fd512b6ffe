// Folders of TorchRL: replay buffers, whose rows lie in a ring, and offline sets, which are a dictionary of rows.
#include "core/datasets/save.h"
#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/io/file_io.h"
#include "core/loader/slices.h"
#include "core/memmap/memmap.h"
#include "core/replay/episodes.h"
#include "core/replay/replay.h"
#include "core/shape/join.h"
#include "core/shape/shape.h"
#include "core/tree/view_ops.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

constexpr std::size_t most_json = std::size_t{1} << 26;

// Steps of one environment, one after the other, oldest first.
struct Stretch {
  std::int64_t column, first, length;
};

// How the rows lie: in a buffer of several dimensions time is the first one, in a dictionary the last one. The others
// are columns, one for each environment.
struct Layout {
  std::int64_t columns = 1;
  bool time_first = true;
  RingCounts ring;  // in steps, all places of which hold one

  std::int64_t place(std::int64_t column, std::int64_t step) const noexcept {
    const std::int64_t at = ring.place(step);
    return time_first ? at * columns + column : column * ring.length + at;
  }
  // Whether those steps lie one after the other.
  bool dense(std::int64_t first, std::int64_t count) const noexcept {
    return (columns == 1 || !time_first) && place(0, first) + count <= ring.length;
  }
};

Layout layout_of(SizesView batch, const RingCounts* ring) {
  Layout layout;
  layout.time_first = ring != nullptr || batch.size() == 1;
  layout.ring.capacity = layout.ring.length = layout.time_first ? batch[0] : batch.back();
  for (const std::int64_t size :
       layout.time_first ? batch.slice(1) : batch.slice(0, batch.size() - 1))
    layout.columns *= size;
  if (layout.columns == 0) layout.ring.capacity = layout.ring.length = 0;
  const std::int64_t length = layout.ring.length;
  if (ring == nullptr || length == 0 || ring->length != ring->capacity) return layout;
  layout.ring.cursor = ring->cursor % length;
  layout.ring.gap = std::min(ring->gap / layout.columns, length);
  return layout;
}

// The entries that separate episodes, the most telling first; nothing: all rows are one.
std::optional<SliceOptions> separators(const TensorDict& rows) {
  SliceOptions options;
  options.length = 1;
  for (const OwnedKey& key : {OwnedKey{"episode"}, OwnedKey{"collector", "traj_ids"}}) {
    const std::vector<std::string_view> path(key.begin(), key.end());
    if (rows.stored(path) == nullptr) continue;
    options.episode = key;
    return options;
  }
  for (const char* name : {"done", "terminated", "truncated"}) {
    if (rows.stored({"next", name}) == nullptr) continue;
    options.ends.push_back({"next", name});
    if (options.ends.size() == 1 && name == std::string_view("done")) break;
  }
  if (options.ends.empty()) return std::nullopt;
  return options;
}

class Torchrl final : public Source {
 public:
  Torchrl(std::string folder, const TensorDict& rows, const RingCounts* ring)
      : folder_(std::move(folder)), layout_(layout_of(rows.batch_size(), ring)), rows_(rows) {
    kind = DatasetKind::torchrl;
    const auto dims = static_cast<std::int64_t>(rows.batch_size().size());
    if (dims > 1) rows_ = flatten(rows, 0, dims - 1);
    find_episodes();
  }

  std::string where() const override { return quote(folder_); }

  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> lengths;
    for (const Stretch& episode : episodes_) lengths.push_back(episode.length);
    return lengths;
  }
  std::int64_t length(std::int64_t episode) const override { return at(episode).length; }

  TensorDict read(const std::vector<Steps>& steps) const override {
    std::vector<TensorDict> pieces;
    for (const Steps& one : steps) pieces.push_back(numbered(piece(one), one.episode));
    if (pieces.empty()) return numbered(narrow(rows_, 0, 0, 0).clone(), 0);
    return pieces.size() == 1 ? pieces[0] : cat(pieces, 0);
  }

  TensorDict metadata() const override {
    TensorDict result;
    for (const char* part : {"", "storage", "sampler", "writer", "transforms"}) {
      const std::string place = files::join(folder_, part);
      if (files::look(place).found != files::Found::folder) continue;
      for (const files::Item& item : files::list(place)) {
        // The dictionary's own form is no metadata.
        if (!files::ends_with(item.name, ".json") || item.name == "meta.json") continue;
        const std::string file = files::join(place, item.name);
        const std::string name = item.name.substr(0, item.name.size() - 5);
        const Plain content = read_json(files::read(file, most_json), quote(file));
        if (*part == 0) {
          result.set_non_tensor({name}, content);
        } else {
          result.set_non_tensor({part, name}, content);
        }
      }
    }
    return result;
  }

  TensorDict metadata(std::int64_t episode) const override {
    TensorDict result;
    if (layout_.columns > 1)
      result.set_non_tensor({"environment"}, Plain::of_integer(at(episode).column));
    return result;
  }

 private:
  const Stretch& at(std::int64_t episode) const {
    return episodes_[static_cast<std::size_t>(episode)];
  }

  void find_episodes() {
    const std::int64_t length = layout_.ring.length;
    if (length == 0) return;
    const std::optional<SliceOptions> options = separators(rows_);
    const Sizes sizes =
        layout_.time_first ? Sizes{length, layout_.columns} : Sizes{layout_.columns, length};
    const TensorDict grid = unflatten(rows_, 0, sizes);
    const IndexItem all = IndexItem::range({}, {});
    for (std::int64_t column = 0; column < layout_.columns; ++column) {
      const IndexItem one = IndexItem::at(column);
      const IndexItem picked[] = {layout_.time_first ? all : one, layout_.time_first ? one : all};
      const auto add = [&](std::int64_t first, std::int64_t steps) {
        episodes_.push_back({column, first, steps});
      };
      if (options) {
        each_episode(RowSource(grid.index(picked), /*flat=*/false), layout_.ring, *options, add);
      } else if (layout_.ring.whole() > 0) {
        add(0, layout_.ring.whole());
      }
    }
    episodes = static_cast<std::int64_t>(episodes_.size());
  }

  TensorDict piece(const Steps& steps) const {
    if (steps.count == 0) return narrow(rows_, 0, 0, 0).clone();
    const Stretch& episode = at(steps.episode);
    const std::int64_t first = episode.first + steps.from;
    if (layout_.dense(first, steps.count))
      return narrow(rows_, 0, layout_.place(episode.column, first), steps.count).clone();
    at::Tensor places = at::empty({steps.count}, at::kLong);
    for (std::int64_t k = 0; k < steps.count; ++k)
      places.data_ptr<std::int64_t>()[k] = layout_.place(episode.column, first + k);
    const IndexItem picked[] = {IndexItem::of(places)};
    return rows_.index(picked);
  }

  // A tensorclass has no entry but its fields.
  static TensorDict numbered(TensorDict rows, std::int64_t episode) {
    if (rows.stored({"episode"}) == nullptr && rows.node()->tensorclass() == nullptr)
      rows.set({"episode"}, at::full({rows.batch_size()[0]}, episode, at::kLong));
    return rows;
  }

  std::string folder_;
  Layout layout_;
  TensorDict rows_;  // [steps * columns]
  std::vector<Stretch> episodes_;
};

}  // namespace

std::unique_ptr<Source> open_torchrl(const std::string& path, const DatasetOptions&) {
  const std::string folder = files::absolute(path);
  if (replay_folder::ensemble_in(folder)) {
    fail(Code::unsupported, quote(folder), " is an ensemble of buffers: open one of them, as ",
         quote(files::join(folder, "storage/0")));
  }
  if (replay_folder::is_one(folder)) {
    const std::unique_ptr<Replay> replay = Replay::open(folder, ReplayOptions(), /*live=*/false);
    const RingCounts ring = replay->counts();
    return std::make_unique<Torchrl>(folder, replay->dict(), &ring);
  }
  LoadOptions options;
  options.private_mapping = true;
  options.device = at::Device(at::kCPU);
  const TensorDict rows = load_memmap(folder, options);
  const SizesView batch = rows.batch_size();
  if (batch.empty() || std::find(batch.begin(), batch.end(), -1) != batch.end()) {
    fail(Code::format, quote(folder), " holds a dictionary of batch size ", show_sizes(batch),
         "; a data set has steps in its last dimension");
  }
  return std::make_unique<Torchrl>(folder, rows, nullptr);
}

}  // namespace td::datasets
