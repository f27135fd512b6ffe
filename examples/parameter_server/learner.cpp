// The learner: takes records of what actors did, learns from them, and sends newer weights.
//
//   learner URL SECONDS ACTORS JOINS
//
// Each actor has a group of its own with the learner, so an actor that ends takes nobody along; another one may come in
// its place. The learner ends after SECONDS, but not before JOINS actors have come in all, and all of those that are still here
// have gone on since. It checks what comes: each record once and in order, weights that never get older, and
// actions that are those of the weights.
#include "board.h"
#include "protocol.h"

#include <tensordict/td_torch.hpp>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

using td_torch::check;
using td_torch::Dict;

namespace {

struct Free {
  void operator()(td_group *group) const { td_group_free(group); }
  void operator()(td_future *future) const { td_future_free(future); }
  void operator()(td_tensor *tensor) const { td_tensor_free(tensor); }
};
using Group = std::unique_ptr<td_group, Free>;
using Future = std::unique_ptr<td_future, Free>;

at::Tensor get(const Dict &td, const char *name) {
  td_tensor *handle = nullptr;
  check(td_get(td.handle(), &name, 1, &handle));
  const std::unique_ptr<td_tensor, Free> owner(handle);
  return td_torch::from_handle(handle);
}

void set(const Dict &td, const char *name, const at::Tensor &value) {
  const std::unique_ptr<td_tensor, Free> handle(td_torch::to_handle(value));
  check(td_set(td.handle(), &name, 1, handle.get()));
}

std::int64_t bytes_of(const Dict &td) {
  std::size_t bytes = 0;
  check(td_nbytes(td.handle(), &bytes));
  return static_cast<std::int64_t>(bytes);
}

void require(bool holds, const Actor &actor, const char *what) {
  if (!holds) throw std::runtime_error(actor.name + ": " + what);
}

// All weights that there were; the last ones are the best.
class Weights {
 public:
  Dict newest(std::int64_t &version) {
    const std::lock_guard<std::mutex> hold(mutex_);
    version = static_cast<std::int64_t>(versions_.size()) - 1;
    const Dict td({});
    set(td, "values", versions_.back());
    set(td, "version", at::scalar_tensor(version, at::kLong));
    return td;
  }

  at::Tensor version(std::int64_t number) {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (number < 0 || number >= static_cast<std::int64_t>(versions_.size())) return {};
    return versions_[static_cast<std::size_t>(number)];
  }

  // Noise that earned more than the average was good.
  void learn(const Dict &record) {
    const at::Tensor reward = get(record, "reward");
    const at::Tensor gain = (reward - reward.mean()) * get(record, "noise");
    const at::Tensor step = get(record, "observation").t().mv(gain) / STEPS;
    const std::lock_guard<std::mutex> hold(mutex_);
    versions_.push_back(versions_.back() + 0.05 * step);
  }

 private:
  std::mutex mutex_;
  std::vector<at::Tensor> versions_ = {at::zeros({OBSERVED})};
};

class Learner {
 public:
  Learner(std::string url, double seconds, int joins)
      : url_(std::move(url)), seconds_(seconds), joins_(joins) {}

  // [place]
  // The place of one actor: when it ends, another one may come.
  void serve(int place) {
    for (int life = 1; !board_.over(seconds_, joins_); ++life) {
      const std::string name = "actor " + std::to_string(place) + "." + std::to_string(life);
      td_group_options options = TD_GROUP_OPTIONS_INIT;
      options.url = url_.c_str();
      options.name = name.c_str();
      options.rank = LEARNER;
      options.world_size = 2;
      td_group *opened = nullptr;
      check(td_group_open(&options, &opened));  // waits until it has come
      const Group group(opened);
      Actor &actor = board_.add(name);
      if (!exchange(group.get(), actor)) board_.gone(actor);
    }
  }
  // [/place]

  void print() {
    board_.print();
    std::int64_t version = 0;
    const at::Tensor values = get(weights_.newest(version), "values");
    std::printf("weights: %.1f %.1f %.1f %.1f\n", values[0].item<double>(),
                values[1].item<double>(), values[2].item<double>(), values[3].item<double>());
  }

 private:
  // False when the actor has ended.
  // [exchange]
  bool exchange(td_group *group, Actor &actor) {
    Future sending;
    std::int64_t sent = -1;
    while (!board_.over(seconds_, joins_)) {
      if (!send_newest(group, actor, sending, sent)) return false;
      td_tensordict *handle = nullptr;
      const td_status status = td_group_recv_message(group, ACTOR, nullptr, nullptr, &handle);
      if (status == TD_ERR_IO) return false;
      check(status);
      const Dict record(handle);
      check_record(record, actor);
      weights_.learn(record);
      board_.count(actor, STEPS, get(record, "version").item<std::int64_t>(), bytes_of(record));
    }
    return true;
  }

  // One message at a time: an actor that is slow gets fewer, and always the newest.
  bool send_newest(td_group *group, Actor &actor, Future &sending, std::int64_t &sent) {
    std::int32_t done = 1;
    if (sending) check(td_future_wait(sending.get(), 0, &done));
    std::int64_t version = 0;
    const Dict weights = weights_.newest(version);
    if (done == 0 || version == sent) return true;
    td_future *started = nullptr;
    const td_status status =
        td_group_isend_message(group, weights.handle(), ACTOR, nullptr, &started);
    if (status == TD_ERR_IO) return false;
    check(status);
    sending.reset(started);
    sent = version;
    board_.count_sent(actor, bytes_of(weights));
    return true;
  }
  // [/exchange]

  void check_record(const Dict &record, const Actor &actor) {
    require(get(record, "number").item<std::int64_t>() == actor.records, actor,
            "a record is missing, or came twice");
    const std::int64_t version = get(record, "version").item<std::int64_t>();
    require(version >= actor.version, actor, "weights became older");
    const at::Tensor weights = weights_.version(version);
    require(weights.defined(), actor, "weights that were never sent");
    const at::Tensor action = get(record, "observation").mv(weights) + get(record, "noise");
    require(at::allclose(get(record, "action"), action, 1e-4, 1e-4), actor,
            "actions are not those of the weights");
  }

  std::string url_;
  double seconds_;
  int joins_;
  Board board_;
  Weights weights_;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  Learner learner(argv[1], std::atof(argv[2]), std::atoi(argv[4]));
  std::vector<std::thread> places;
  for (int place = 0; place < std::atoi(argv[3]); ++place) {
    places.emplace_back([&learner, place] {
      try {
        learner.serve(place);
      } catch (const std::exception &error) {
        std::cerr << "learner: " << error.what() << std::endl;
        std::_Exit(EXIT_FAILURE);
      }
    });
  }
  for (std::thread &place : places) place.join();
  learner.print();
  return td_debug_live_handles() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
