// Process groups of three processes over the loopback, beside the calls of libtorch's own process group between the same
// processes.
#include "fixture.h"

#define USE_C10D_GLOO 1
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

namespace bench {

namespace {

constexpr int ranks_count = 3;

enum class Work : int {
  leaves,
  leaves_by_hand,
  message,
  broadcast,
  broadcast_by_hand,
  broadcast_copied,
  reduce,
  reduce_by_hand,
  reduce_few,
  reduce_few_by_hand
};

// One process, with a group of ours and one by hand. All of them do the same rounds.
class Rank {
 public:
  Rank(int rank, const std::string& folder) : rank_(rank) {
    const std::string url = "file://" + folder + "/ours";
    td_group_options options = TD_GROUP_OPTIONS_INIT;
    options.url = url.c_str();
    options.rank = rank;
    options.world_size = ranks_count;
    ok(td_group_open(&options, &ours_));
    const auto by_hand = c10d::ProcessGroupGloo::Options::create(std::chrono::minutes(5));
    by_hand->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
    theirs_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::FileStore>(folder + "/theirs", ranks_count), rank, ranks_count,
        by_hand);
    for (const Leaves* leaves : {&ten_, &small_}) {
      for (const at::Tensor& tensor : leaves->tensors) tensor.zero_();  // so are their sums
    }
  }
  ~Rank() { td_group_free(ours_); }

  // All have read where the others are.
  void meet() {
    ok(td_group_barrier(ours_, nullptr));
    theirs_->barrier()->wait();
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void round(Work work) {
    switch (work) {
      case Work::leaves:
        return there_and_back([&] { ok(td_group_send(ours_, few_.td, other(), nullptr)); },
                              [&] { ok(td_group_recv(ours_, few_.td, other(), nullptr)); });
      case Work::leaves_by_hand: return there_and_back([&] { pass(true); }, [&] { pass(false); });
      case Work::message:
        return there_and_back([&] { ok(td_group_send_message(ours_, few_.td, other(), nullptr)); },
                              [&] { receive_message(); });
      case Work::broadcast: return broadcast();
      case Work::broadcast_by_hand: return broadcast_by_hand();
      case Work::broadcast_copied: return broadcast_copied();
      case Work::reduce: return reduce();
      case Work::reduce_by_hand: return reduce_by_hand();
      case Work::reduce_few:
        return ok(td_group_all_reduce(ours_, ten_.td, TD_GROUP_OP_SUM, nullptr));
      case Work::reduce_few_by_hand: return reduce_few_by_hand();
    }
  }

 private:
  int other() const { return 1 - rank_; }

  template <class Send, class Receive>
  void there_and_back(const Send& send, const Receive& receive) {
    if (rank_ == 0) send();
    if (rank_ <= 1) receive();
    if (rank_ == 1) send();
  }

  void pass(bool send) {
    std::vector<decltype(theirs_->barrier())> works;
    for (std::size_t i = 0; i < few_.tensors.size(); ++i) {
      std::vector<at::Tensor> one = {few_.tensors[i]};
      const int tag = static_cast<int>(i);
      works.push_back(send ? theirs_->send(one, other(), tag) : theirs_->recv(one, other(), tag));
    }
    for (const auto& work : works) work->wait();
  }

  void receive_message() {
    td_tensordict* td = nullptr;
    ok(td_group_recv_message(ours_, other(), nullptr, nullptr, &td));
    td_free(td);
  }

  // Until all ranks have it.
  void broadcast() {
    td_tensordict* td = nullptr;
    td_group_call_options options = TD_GROUP_CALL_OPTIONS_INIT;
    options.num_threads = 2;
    ok(td_group_broadcast(ours_, rank_ == 0 ? large().td : nullptr, 0, &options, &td));
    td_free(td);
    theirs_->barrier()->wait();
  }

  void broadcast_by_hand() {
    if (!row_.defined()) row_ = at::zeros({large_leaves * large_rows * 64});
    std::vector<at::Tensor> one = {row_};
    theirs_->broadcast(one)->wait();
    theirs_->barrier()->wait();
  }

  // What a dictionary cannot do without: its tensors into one, and out of it again into new memory.
  void broadcast_copied() {
    if (!row_.defined()) row_ = at::zeros({large_leaves * large_rows * 64});
    const std::size_t bytes = large_rows * 64 * sizeof(float);
    const auto each = [&](const auto& copy) {
      const auto half = [&](int first) {
        for (int i = first; i < large_leaves; i += 2) copy(i);
      };
      std::thread other(half, 1);
      half(0);
      other.join();
    };
    char* const row = static_cast<char*>(row_.data_ptr());
    if (rank_ == 0)
      each([&](int i) { std::memcpy(row + i * bytes, large().tensors[i].data_ptr(), bytes); });
    std::vector<at::Tensor> one = {row_};
    theirs_->broadcast(one)->wait();
    if (rank_ != 0) {
      std::vector<at::Tensor> made;
      for (int i = 0; i < large_leaves; ++i) made.push_back(at::empty({large_rows, 64}));
      each([&](int i) { std::memcpy(made[i].data_ptr(), row + i * bytes, bytes); });
    }
    theirs_->barrier()->wait();
  }

  void reduce() {
    td_group_call_options options = TD_GROUP_CALL_OPTIONS_INIT;
    options.flags = TD_GROUP_FUSED;
    ok(td_group_all_reduce(ours_, small_.td, TD_GROUP_OP_SUM, &options));
  }

  void reduce_by_hand() {
    for (const at::Tensor& tensor : small_.tensors) {
      std::vector<at::Tensor> one = {tensor};
      theirs_->allreduce(one)->wait();
    }
  }

  // As one, which compares nothing.
  void reduce_few_by_hand() {
    std::vector<at::Tensor> flat;
    for (const at::Tensor& tensor : ten_.tensors) flat.push_back(tensor.view(-1));
    std::vector<at::Tensor> one = {at::cat(flat)};
    theirs_->allreduce(one)->wait();
    std::int64_t at = 0;
    for (const at::Tensor& tensor : flat) {
      tensor.copy_(one[0].narrow(0, at, tensor.numel()));
      at += tensor.numel();
    }
  }

  // 64 MB, for those who measure it.
  static constexpr int large_leaves = 100;
  static constexpr std::int64_t large_rows = 2500;
  const Leaves& large() {
    if (!large_)
      large_ = std::make_unique<Leaves>(large_leaves, std::vector<std::int64_t>{large_rows, 64});
    return *large_;
  }

  int rank_;
  td_group* ours_ = nullptr;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> theirs_;
  Leaves few_{10}, ten_{10}, small_{100};
  std::unique_ptr<Leaves> large_;
  at::Tensor row_;
};

struct Order {
  Work work;
  std::int64_t rounds;
};

// Rank 0 here, and the others in processes that end with this one.
class Ranks {
 public:
  Ranks() {
    const std::filesystem::path folder = scratch("group");
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (int rank = 1; rank < ranks_count; ++rank) start(rank, folder);
    here_ = std::make_unique<Rank>(0, folder);
    here_->meet();
    std::filesystem::remove_all(folder);
  }
  ~Ranks() {
    for (const Other& other : others_) {
      ::kill(other.process, SIGKILL);  // it may wait for a call that has failed here
      ::waitpid(other.process, nullptr, 0);
    }
  }

  void run(Work work, benchmark::State& state) {
    const Order order{work, static_cast<std::int64_t>(state.max_iterations)};
    for (const Other& other : others_) {
      if (::write(other.line, &order, sizeof order) != sizeof order) std::abort();
    }
    for (auto _ : state) here_->round(work);
  }

 private:
  struct Other {
    pid_t process;
    int line;
  };

  void start(int rank, const std::string& folder) {
    int line[2];
    if (::pipe2(line, O_CLOEXEC) != 0) std::abort();
    const std::string number = std::to_string(rank);
    const pid_t process = ::fork();
    if (process == 0) {
      ::dup2(line[0], 0);
      ::execl("/proc/self/exe", "td_bench", "--rank", number.c_str(), folder.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(line[0]);
    others_.push_back({process, line[1]});
  }

  std::vector<Other> others_;
  std::unique_ptr<Rank> here_;
};

}  // namespace

bool serve_as_rank(int argc, char** argv) {
  if (argc != 4 || std::string(argv[1]) != "--rank") return false;
  Rank rank(std::atoi(argv[2]), argv[3]);
  rank.meet();
  for (Order order{}; ::read(0, &order, sizeof order) == sizeof order;) {
    for (std::int64_t i = 0; i < order.rounds; ++i) rank.round(order.work);
  }
  return true;
}

void register_group() {
  const auto ranks = std::make_shared<std::unique_ptr<Ranks>>();
  const auto side = [ranks](Work work) {
    return [ranks, work](benchmark::State& state) {
      if (!*ranks) *ranks = std::make_unique<Ranks>();
      (*ranks)->run(work, state);
    };
  };
  figure("group: 10 leaves of 2 KB there and back", 10, 1.2, side(Work::leaves),
         side(Work::leaves_by_hand));
  figure("group: 10 leaves of 2 KB there and back, as messages", 10, 0.4, side(Work::message),
         side(Work::leaves_by_hand));
  figure("group: broadcast 64 MB in 100 leaves, 2 threads", 1, 1.1, side(Work::broadcast),
         side(Work::broadcast_by_hand));
  figure("group: broadcast 64 MB, beside its copies", 1, 1.1, side(Work::broadcast),
         side(Work::broadcast_copied));
  figure("group: all_reduce 10 leaves of 2 KB, compared", 1, 1.02, side(Work::reduce_few),
         side(Work::reduce_few_by_hand));
  figure("group: all_reduce 100 leaves of 2 KB, fused", 1, 0.3, side(Work::reduce),
         side(Work::reduce_by_hand));
}

}  // namespace bench
