// Bags of ROS 2 as a data set: each bag is an episode.
#include "core/datasets/bag_episode.h"
#include "core/datasets/bag_files.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"

#include <ATen/ATen.h>

#include <cmath>

namespace td::datasets {

namespace {

// Bags that stay open.
constexpr std::size_t most_open = 8;

class Ros final : public Source {
 public:
  Ros(std::string path, std::vector<std::vector<std::string>> files, const DatasetOptions& options)
      : path_(std::move(path)),
        files_(std::move(files)),
        options_(options),
        lengths_(files_.size(), -1) {
    kind = DatasetKind::ros;
    episodes = static_cast<std::int64_t>(files_.size());
    auto first = std::make_shared<BagEpisode>(files_[0], options_);
    if (options_.rate <= 0 && options_.clock.empty()) options_.clock = first->busiest();
    version = first->library();
    keep(0, std::move(first));
  }

  std::string where() const override { return quote(path_); }

  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < episodes; ++i) all.push_back(length(i));
    return all;
  }

  std::int64_t length(std::int64_t episode) const override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (lengths_[static_cast<std::size_t>(episode)] >= 0)
        return lengths_[static_cast<std::size_t>(episode)];
    }
    return opened(episode)->rows();
  }

  TensorDict read(const std::vector<Steps>& steps) const override {
    std::vector<BagEntry> entries;
    std::vector<at::Tensor> numbers;
    std::int64_t rows = 0;
    for (const Steps& one : steps) {
      opened(one.episode)->read(one.from, one.count, entries);
      numbers.push_back(at::full({one.count}, one.episode, at::kLong));
      rows += one.count;
    }
    TensorDict result(Sizes{rows});
    for (BagEntry& entry : entries) {
      const std::vector<std::string_view> path(entry.key.begin(), entry.key.end());
      if (!entry.tensors.empty()) {
        result.set(path, entry.tensors.size() == 1 ? entry.tensors[0] : at::cat(entry.tensors));
      } else if (rows != 0) {
        set_values(result, path, Plain::of_list(std::move(entry.values)));
      } else {
        result.set_non_tensor(path, Plain::of_text(""));
      }
    }
    result.set({"episode"}, numbers.empty() ? at::empty({0}, at::kLong) : at::cat(numbers));
    return result;
  }

  TensorDict metadata() const override {
    TensorDict result;
    result.set_non_tensor({"library"}, Plain::of_text(version));
    if (options_.rate > 0) {
      result.set_non_tensor({"rate"}, Plain::of_real(options_.rate));
    } else {
      result.set_non_tensor({"clock"}, Plain::of_text(options_.clock));
    }
    if (episodes == 1) opened(0)->describe(result);
    return result;
  }

  TensorDict metadata(std::int64_t episode) const override {
    TensorDict result;
    opened(episode)->describe(result);
    return result;
  }

 private:
  void keep(std::int64_t number, std::shared_ptr<BagEpisode> episode) const {
    episode->count_rows(options_.clock.empty() ? episode->busiest() : options_.clock);
    lengths_[static_cast<std::size_t>(number)] = episode->rows();
    if (open_.size() == most_open) open_.erase(open_.begin());
    open_.emplace_back(number, std::move(episode));
  }

  std::shared_ptr<BagEpisode> opened(std::int64_t number) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& one : open_) {
      if (one.first == number) return one.second;
    }
    keep(number, std::make_shared<BagEpisode>(files_[static_cast<std::size_t>(number)], options_));
    return open_.back().second;
  }

  std::string path_;
  std::vector<std::vector<std::string>> files_;
  DatasetOptions options_;
  mutable std::mutex mutex_;
  mutable std::vector<std::int64_t> lengths_;  // -1: not known yet
  mutable std::vector<std::pair<std::int64_t, std::shared_ptr<BagEpisode>>> open_;
};

}  // namespace

bool is_ros(const std::string& path) { return !bag_files(path).empty(); }

std::unique_ptr<Source> open_ros(const std::string& path, const DatasetOptions& options) {
  if (!std::isfinite(options.rate) || options.rate < 0)
    fail(Code::invalid_argument, "rate is ", options.rate, "; it is a number of rows each second");
  if (options.rate > 0 && !options.clock.empty())
    fail(Code::invalid_argument, "rows come at a rate, or with the messages of a clock, not both");
  std::vector<std::vector<std::string>> files = bag_files(path);
  if (files.empty())
    fail(Code::format, quote(path), " holds no bag of ROS 2: neither MCAP nor .db3");
  return std::make_unique<Ros>(path, std::move(files), options);
}

}  // namespace td::datasets
