// core/datasets/view.h: episodes of data sets, chosen and one behind the other, as a data set of its own.
#pragma once

#include "core/datasets/dataset.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace td {

struct DatasetView {
  // What is kept, in this order; the numbers go on through all sets.
  std::vector<std::int64_t> episodes;
  std::vector<std::vector<std::string>> without;  // entries that are left out
  bool same_name = false;  // it will stand in the place of the set: its name in the metadata stays
};

// Episodes are numbered anew, and totals, masks and tasks of the metadata are those of what is kept. Code::index for an episode
// that is not there, Code::key_not_found for an entry; Code::format if the sets have other entries than the first. The sets
// may go before the view does.
std::unique_ptr<Dataset> view_of(const std::vector<const Dataset*>& sets, const DatasetView& view);

// A part of a split, by the numbers of its episodes.
struct DatasetPart {
  std::string name;  // "train", "valid", or a task
  std::vector<std::int64_t> episodes;
};

// That share of the episodes, drawn by the seed, is "train", the others are "valid"; each has one at least. Each keeps its
// order.
std::vector<DatasetPart> split_by_share(const Dataset& set, double train, std::uint64_t seed);
// A part for each task of LeRobot, in the order of the first episodes. Code::format for an episode of several.
std::vector<DatasetPart> split_by_task(const Dataset& set);

}  // namespace td
