// Which episodes are for training, and which are of a task.
#include "core/datasets/lerobot.h"
#include "core/datasets/source.h"
#include "core/datasets/view.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace td {

namespace {

// A draw that is the same on all machines: splitmix64.
std::uint64_t drawn(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

std::string task_of(const Dataset& set, std::int64_t episode) {
  const Plain tasks = datasets::metadata_member(set.metadata(episode), "tasks");
  if (!tasks.is(Plain::list) || tasks.items().empty())
    fail(Code::format, set.source()->where(), ": episode ", episode, " has no task");
  if (tasks.items().size() > 1) {
    fail(Code::format, set.source()->where(), ": episode ", episode, " has the tasks ",
         json_text(tasks), "; it cannot be split by them");
  }
  return std::string(tasks.items()[0].characters());
}

}  // namespace

std::vector<DatasetPart> split_by_share(const Dataset& set, double train, std::uint64_t seed) {
  const std::int64_t all = set.episodes();
  if (!(train > 0 && train < 1))
    fail(Code::invalid_argument, "a share is between 0 and 1, and not ", train);
  if (all < 2) {
    fail(Code::invalid_argument, set.source()->where(), " has ", all,
         " episodes; a split needs 2 or more");
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(all));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[drawn(seed) % left]);
  const std::int64_t wanted = std::llround(train * static_cast<double>(all));
  const auto border = order.begin() + std::clamp<std::int64_t>(wanted, 1, all - 1);
  std::sort(order.begin(), border);
  std::sort(border, order.end());
  return {{"train", {order.begin(), border}}, {"valid", {border, order.end()}}};
}

std::vector<DatasetPart> split_by_task(const Dataset& set) {
  std::vector<DatasetPart> parts;
  for (std::int64_t i = 0; i < set.episodes(); ++i) {
    const std::string task = task_of(set, i);
    auto found = std::find_if(parts.begin(), parts.end(),
                              [&](const DatasetPart& part) { return part.name == task; });
    if (found == parts.end()) found = parts.insert(found, {task, {}});
    found->episodes.push_back(i);
  }
  return parts;
}

}  // namespace td
