// Prioritized replay, beside the same by hand: a binary sum tree in one array, powers, weights, and copies of rows.
#include "fixture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

namespace bench {

namespace {

constexpr std::int64_t rows = 1000000, batch = 256;
constexpr double alpha = 0.6, beta = 0.4, eps = 1e-8;

// A row: observation [16], action [4], reward [1].
struct Experience {
  Experience() {
    const std::int64_t sizes[] = {16, 4, 1};
    for (const std::int64_t size : sizes) leaves.push_back(at::rand({rows, size}));
    const char* names[] = {"observation", "action", "reward"};
    ok(td_create(&rows, 1, TD_DEVICE_NONE, -1, &td));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      td_tensor* leaf = wrap(leaves[i]);
      ok(td_set(td, names + i, 1, leaf));
      td_tensor_free(leaf);
    }
    std::mt19937_64 random(7);
    for (std::int64_t i = 0; i < 64 * batch; ++i)
      errors.push_back(std::uniform_real_distribution<double>(0, 2)(random));
  }
  ~Experience() { td_free(td); }
  // The priorities of the next batch.
  const double* next() {
    at = (at + batch) % static_cast<std::int64_t>(errors.size());
    return errors.data() + at;
  }
  td_tensordict* td = nullptr;
  std::vector<at::Tensor> leaves;
  std::vector<double> errors;
  std::int64_t at = 0;
};

class SumTree {
 public:
  SumTree() {
    while (first_ < rows) first_ *= 2;
    nodes_.resize(static_cast<std::size_t>(2 * first_));
  }
  double sum() const { return nodes_[1]; }
  double operator[](std::int64_t row) const {
    return nodes_[static_cast<std::size_t>(first_ + row)];
  }
  void set(std::int64_t row, double value) {
    auto at = static_cast<std::size_t>(first_ + row);
    nodes_[at] = value;
    for (at /= 2; at != 0; at /= 2) nodes_[at] = nodes_[2 * at] + nodes_[2 * at + 1];
  }
  std::int64_t find(double mass) const {
    std::size_t at = 1;
    while (at < static_cast<std::size_t>(first_)) {
      at *= 2;
      if (mass >= nodes_[at]) mass -= nodes_[at++];
    }
    return std::min<std::int64_t>(static_cast<std::int64_t>(at) - first_, rows - 1);
  }

 private:
  std::int64_t first_ = 1;
  std::vector<double> nodes_;
};

void ours(Experience& data, benchmark::State& state) {
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.capacity = rows;
  options.sampler = TD_REPLAY_SAMPLER_PRIORITIZED;
  options.flags = TD_REPLAY_BATCH_WEIGHTS;
  td_replay* replay = nullptr;
  ok(td_replay_create(&options, &replay));
  ok(td_replay_extend(replay, data.td));
  const char* name = "index";
  for (auto _ : state) {
    td_tensordict* drawn = nullptr;
    td_tensor *index = nullptr, *priority = nullptr;
    ok(td_replay_sample(replay, batch, &drawn));
    ok(td_get(drawn, &name, 1, &index));
    ok(td_tensor_from_data(data.next(), batch * 8, &batch, 1, TD_DTYPE_FLOAT64, &priority));
    ok(td_replay_update_priority(replay, index, priority));
    td_tensor_free(index);
    td_tensor_free(priority);
    td_free(drawn);
  }
  td_replay_free(replay);
}

void by_hand(Experience& data, benchmark::State& state) {
  SumTree tree;
  for (std::int64_t i = 0; i < rows; ++i) tree.set(i, std::pow(1 + eps, alpha));
  std::mt19937_64 random(7);
  std::vector<std::int64_t> index(batch);
  std::vector<float> weights(batch);
  std::vector<std::vector<char>> targets;
  for (const at::Tensor& leaf : data.leaves) targets.emplace_back(leaf.nbytes() / rows * batch);
  for (auto _ : state) {
    double least = 1e300;
    for (std::int64_t& row : index) {
      row = tree.find(std::uniform_real_distribution<double>(0, tree.sum())(random));
      least = std::min(least, tree[row]);
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<float>(std::pow(tree[index[i]] / least, -beta));
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const std::size_t bytes = data.leaves[k].nbytes() / rows;
      const char* source = static_cast<const char*>(data.leaves[k].data_ptr());
      for (std::size_t i = 0; i < index.size(); ++i)
        std::memcpy(targets[k].data() + i * bytes,
                    source + static_cast<std::size_t>(index[i]) * bytes, bytes);
    }
    const double* errors = data.next();
    for (std::size_t i = 0; i < index.size(); ++i)
      tree.set(index[i], std::pow(errors[i] + eps, alpha));
    benchmark::ClobberMemory();
  }
}

// Steps of 16 numbers, in episodes of 100.
struct Steps {
  explicit Steps(std::int64_t count) {
    leaves.push_back(at::rand({count, 16}));
    leaves.push_back(at::arange(count, at::kLong).div(100, "floor"));
    const char* names[] = {"observation", "episode"};
    ok(td_create(&count, 1, TD_DEVICE_NONE, -1, &td));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      td_tensor* leaf = wrap(leaves[i]);
      ok(td_set(td, names + i, 1, leaf));
      td_tensor_free(leaf);
    }
    td_index_item first = {};
    first.kind = TD_INDEX_INT;
    ok(td_index(td, &first, 1, &row));
  }
  ~Steps() {
    td_free(row);
    td_free(td);
  }
  td_tensordict *td = nullptr, *row = nullptr;
  std::vector<at::Tensor> leaves;
};

// Draws from a full buffer; `grows`: a row is added before each draw.
void draws(std::int64_t count, std::int64_t drawn_rows, td_replay_sampler sampler, bool grows,
           benchmark::State& state) {
  const Steps steps(count);
  const char* name = "episode";
  const td_key episode = {&name, 1};
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.capacity = count;
  options.sampler = sampler;
  if (sampler != TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT) {
    options.slice_len = 16;
    options.episode = &episode;
  } else {
    options.capacity *= 2;  // a full one has the same rows all the time
  }
  td_replay* replay = nullptr;
  ok(td_replay_create(&options, &replay));
  ok(td_replay_extend(replay, steps.td));
  for (auto _ : state) {
    td_tensordict* drawn = nullptr;
    if (grows) ok(td_replay_add(replay, steps.row));
    ok(td_replay_sample(replay, drawn_rows, &drawn));
    td_free(drawn);
  }
  td_replay_free(replay);
}

void while_rows_arrive(const char* name, std::int64_t count, std::int64_t drawn_rows,
                       td_replay_sampler sampler) {
  figure(
      name, 2, 1.2,
      [=](benchmark::State& state) { draws(count, drawn_rows, sampler, true, state); },
      [=](benchmark::State& state) { draws(count, drawn_rows, sampler, false, state); });
}

}  // namespace

void register_replay() {
  while_rows_arrive("replay: 32 slices of 16 of 1,000,000, after a row more / without", rows, 512,
                    TD_REPLAY_SAMPLER_SLICES);
  while_rows_arrive("replay: 32 slices by priority, after a row more / without", rows, 512,
                    TD_REPLAY_SAMPLER_PRIORITIZED_SLICES);
  while_rows_arrive("replay: 256 of 500,000 without replacement, after a row more / without",
                    rows / 2, 256, TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT);
  // Made by whoever is measured first.
  const auto data = std::make_shared<std::unique_ptr<Experience>>();
  const auto made = [data]() -> Experience& {
    if (!*data) *data = std::make_unique<Experience>();
    return **data;
  };
  figure(
      "replay: draw 256 of 1,000,000 by priority, update them", 3, 1.1,
      [made](benchmark::State& state) { ours(made(), state); },
      [made](benchmark::State& state) { by_hand(made(), state); });
}

}  // namespace bench
