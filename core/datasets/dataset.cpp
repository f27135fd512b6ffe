#include "core/datasets/dataset.h"

#include "core/datasets/source.h"
#include "core/tree/lazy_node.h"

#include <algorithm>
#include <numeric>

namespace td {

using datasets::Steps;

const char* name_of(DatasetKind kind) noexcept {
  switch (kind) {
    case DatasetKind::minari: return "Minari";
    case DatasetKind::robomimic: return "robomimic";
    case DatasetKind::d4rl: return "D4RL";
    case DatasetKind::lerobot: return "LeRobot";
    case DatasetKind::torchrl: return "TorchRL";
    case DatasetKind::ros: return "ROS";
    default: return "detect";
  }
}

Dataset::Dataset(std::unique_ptr<datasets::Source> source) : source_(std::move(source)) {}
Dataset::~Dataset() = default;

DatasetKind Dataset::kind() const noexcept { return source_->kind; }
const std::string& Dataset::version() const noexcept { return source_->version; }
std::int64_t Dataset::episodes() const noexcept { return source_->episodes; }
std::int64_t Dataset::steps() const { return starts().back(); }

const std::vector<std::int64_t>& Dataset::starts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (starts_.empty()) {
    const std::vector<std::int64_t> lengths = source_->lengths();
    std::vector<std::int64_t> starts{0};
    starts.reserve(lengths.size() + 1);
    for (const std::int64_t length : lengths) {
      std::int64_t end = 0;
      if (__builtin_add_overflow(starts.back(), length, &end))
        fail(Code::format, source_->where(), ": more steps than a number can count");
      starts.push_back(end);
    }
    starts_ = std::move(starts);
  }
  return starts_;
}

std::vector<std::int64_t> Dataset::lengths() const {
  const std::vector<std::int64_t>& starts = this->starts();
  std::vector<std::int64_t> lengths(starts.size());
  std::adjacent_difference(starts.begin(), starts.end(), lengths.begin());
  lengths.erase(lengths.begin());
  return lengths;
}

void Dataset::require_episode(std::int64_t i) const {
  if (i < 0 || i >= episodes())
    fail(Code::index, "episode ", i, " of a data set of ", episodes(), " episodes");
}

TensorDict Dataset::structure() const {
  return source_->read(episodes() == 0 ? std::vector<Steps>() : std::vector<Steps>{{0, 0, 0}});
}

TensorDict Dataset::metadata() const { return source_->metadata(); }

TensorDict Dataset::metadata(std::int64_t episode) const {
  require_episode(episode);
  return source_->metadata(episode);
}

TensorDict Dataset::episode(std::int64_t i) const {
  require_episode(i);
  return source_->read({{i, 0, source_->length(i)}});
}

TensorDict Dataset::episodes(std::int64_t first, std::int64_t count) const {
  if (count <= 0 || first < 0 || first > episodes() - count) {
    fail(Code::index, count, " episodes from ", first, " on, of a data set of ", episodes(),
         " episodes; a lazy stack has at least one element");
  }
  std::vector<NodePtr> elements;
  for (std::int64_t i = first; i < first + count; ++i) elements.push_back(episode(i).node());
  return TensorDict(NodePtr(lazy_stack(std::move(elements), 0)));
}

TensorDict Dataset::rows(std::int64_t first, std::int64_t count) const {
  const std::vector<std::int64_t>& starts = this->starts();
  if (count < 0 || first < 0 || first > starts.back() - count)
    fail(Code::index, count, " rows from ", first, " on, of ", starts.back(), " rows");
  if (count == 0) return structure();
  std::vector<Steps> steps;
  auto next = std::upper_bound(starts.begin(), starts.end(), first);
  while (count > 0) {
    const std::int64_t here = std::min(count, *next - first), begin = *(next - 1);
    if (here > 0) steps.push_back({next - starts.begin() - 1, first - begin, here});
    first += here;
    count -= here;
    ++next;
  }
  return source_->read(steps);
}

}  // namespace td
