// libtorch's process group over gloo. Of gloo itself only names are known: modules/gloo_names/gloo/names.h.
#include "core/distributed/backend.h"
#include "core/distributed/reach.h"

#include "core/base/pipe_signal.h"
#include "core/tensor/torch_compat.h"
#include "distributed_build.h"

#ifdef TD_DISTRIBUTED

#define USE_C10D_GLOO 1
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <ATen/ATen.h>

#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

namespace td::distributed {

namespace {

using c10d::ProcessGroupGloo;
using StorePtr = c10::intrusive_ptr<c10d::Store>;
using WorkPtr = decltype(std::declval<ProcessGroupGloo&>().barrier());

// The first line of an error of libtorch or gloo, without stack and source location.
std::string said(const std::exception& error) {
  const std::string_view text = error.what();
  const std::size_t begin =
      text.rfind("] ", text.find('\n')) == std::string_view::npos || text.front() != '['
          ? 0
          : text.find("] ") + 2;
  return std::string(text.substr(begin, text.find('\n') - begin));
}

// Runs `call` and reports network failures as Code::io.
template <class Call>
auto over_network(const char* what, const Call& call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(Code::io, what, ": ", said(error),
         "; a rank may have ended: close this group and open another");
  }
}

class GlooPosted final : public Posted {
 public:
  GlooPosted(WorkPtr work, at::Tensor kept) : work_(std::move(work)) { tensor = std::move(kept); }
  bool wait() override {
    return over_network("a transfer failed", [&] { return work_->wait(); });
  }
  void abort() override { work_->abort(); }
  int source() const override { return work_->sourceRank(); }

 private:
  WorkPtr work_;
};

// The same for what writes: where a rank has ended, gloo gets SIGPIPE.
template <class Call>
auto written(const char* what, const Call& call) {
  const NoPipeSignal no_signal;
  return over_network(what, call);
}

// A timeout inside gloo closes the connections for good, so gloo gets none; callers time their
// waits themselves.
constexpr std::chrono::milliseconds no_limit = std::chrono::hours(24 * 365);

class Connections final : public ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;
  void lift_limit() {
    for (const auto& context : contexts_) context->setTimeout(no_limit);
  }
  // A receive that times out closes all connections, which is the only way to end all waits.
  void close() noexcept {
    if (size_ < 2) return;
    try {
      recvAnysource(never_, unused_tag)->wait(std::chrono::milliseconds(1));
    } catch (const std::exception&) {
      // Closed connections throw; that is expected.
    }
  }

 private:
  // Tags of messages are smaller.
  static constexpr int unused_tag = std::numeric_limits<int>::max();
  std::vector<at::Tensor> never_ = {at::empty({1}, at::kByte)};
};

c10d::ReduceOp reduce_op(Op op) {
  switch (op) {
    case Op::product: return c10d::ReduceOp::PRODUCT;
    case Op::min: return c10d::ReduceOp::MIN;
    case Op::max: return c10d::ReduceOp::MAX;
    default: return c10d::ReduceOp::SUM;  // an average is a sum that the caller divides
  }
}

template <class Options>
Options unlimited() {
  Options options;
  options.timeout = no_limit;
  return options;
}

class Gloo final : public Backend {
 public:
  using Clock = std::chrono::steady_clock;

  Gloo(const StorePtr& store, std::string device, const std::string& name, int rank, int size,
       std::int64_t timeout_ms)
      // The prefixes that Python's init_process_group() and new_group() use since 2.0: a subgroup
      // meets below its parent's prefix.
      : store_(c10::make_intrusive<c10d::PrefixStore>(name + "/", store)),
        device_(std::move(device)),
        rank_(rank),
        size_(size) {
    const auto limit = std::chrono::milliseconds(timeout_ms);
    const StorePtr keys = c10::make_intrusive<c10d::PrefixStore>("cpu/", store_);
    const auto options = ProcessGroupGloo::Options::create(limit);
    options->devices.push_back(device_.empty()
                                   ? ProcessGroupGloo::createDefaultDevice()
                                   : ProcessGroupGloo::createDeviceForInterface(device_));
    options->threads = 2;
    const auto begin = Clock::now();
    try {
      // Each rank of this library says so before it connects, so all have when all are connected.
      keys->set(mark_of(rank), std::vector<std::uint8_t>{1});
      group_ = c10::make_intrusive<Connections>(keys, rank, size, options);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      fail_missing(keys, timeout_ms, begin, error);
    }
    options->timeout = no_limit;
    group_->lift_limit();
    all_are_ours_ = all_have(keys);
  }

  bool all_are_ours() const noexcept override { return all_are_ours_; }

  PostedPtr send(const at::Tensor& tensor, int rank, int tag) override {
    std::vector<at::Tensor> tensors = {tensor};
    return written("a send failed", [&] {
      return std::make_unique<GlooPosted>(group_->send(tensors, rank, tag), tensor);
    });
  }

  PostedPtr recv(const at::Tensor& tensor, int rank, int tag) override {
    std::vector<at::Tensor> tensors = {tensor};
    return written("a receive failed", [&] {
      return std::make_unique<GlooPosted>(
          rank < 0 ? group_->recvAnysource(tensors, tag) : group_->recv(tensors, rank, tag),
          tensor);
    });
  }

  void barrier() override {
    done("the barrier failed", [&] { return group_->barrier(unlimited<c10d::BarrierOptions>()); });
  }

  void broadcast(const at::Tensor& tensor, int root) override {
    auto options = unlimited<c10d::BroadcastOptions>();
    options.rootRank = root;
    std::vector<at::Tensor> tensors = {tensor};
    done("a broadcast failed", [&] { return group_->broadcast(tensors, options); });
  }

  void reduce(const at::Tensor& tensor, int root, Op op) override {
    auto options = unlimited<c10d::ReduceOptions>();
    options.rootRank = root;
    options.reduceOp = reduce_op(op);
    std::vector<at::Tensor> tensors = {tensor};
    done("a reduction failed", [&] { return group_->reduce(tensors, options); });
  }

  void all_reduce(const at::Tensor& tensor, Op op) override {
    auto options = unlimited<c10d::AllreduceOptions>();
    options.reduceOp = reduce_op(op);
    std::vector<at::Tensor> tensors = {tensor};
    done("a reduction failed", [&] { return group_->allreduce(tensors, options); });
  }

  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    std::vector<at::Tensor> tensors = {tensor};
    std::vector<std::vector<at::Tensor>> parts = {room_for_all(tensor)};
    const auto options = unlimited<c10d::AllgatherOptions>();
    done("a gather failed", [&] { return group_->allgather(parts, tensors, options); });
    return parts[0];
  }

  std::vector<at::Tensor> gather(const at::Tensor& tensor, int root) override {
    std::vector<at::Tensor> tensors = {tensor};
    std::vector<std::vector<at::Tensor>> parts;
    if (root == rank_) parts.push_back(room_for_all(tensor));
    auto options = unlimited<c10d::GatherOptions>();
    options.rootRank = root;
    done("a gather failed", [&] { return group_->gather(parts, tensors, options); });
    return parts.empty() ? std::vector<at::Tensor>() : parts[0];
  }

  void scatter(const at::Tensor& into, std::vector<at::Tensor> parts, int root) override {
    std::vector<at::Tensor> outputs = {into};
    std::vector<std::vector<at::Tensor>> inputs;
    if (root == rank_) inputs.push_back(std::move(parts));
    auto options = unlimited<c10d::ScatterOptions>();
    options.rootRank = root;
    done("a scatter failed", [&] { return group_->scatter(outputs, inputs, options); });
  }

  void disconnect() noexcept override {
    const NoPipeSignal no_signal;
    group_->close();
  }

  std::shared_ptr<Backend> split(const std::string& name, int rank, int size,
                                 std::int64_t timeout_ms) override {
    const NoPipeSignal no_signal;  // nor in the threads that gloo starts
    return std::make_shared<Gloo>(store_, device_, name, rank, size, timeout_ms);
  }

 private:
  template <class Begin>
  void done(const char* what, const Begin& begin) {
    written(what, [&] { return begin()->wait(no_limit); });
  }

  std::vector<at::Tensor> room_for_all(const at::Tensor& tensor) const {
    std::vector<at::Tensor> parts(static_cast<std::size_t>(size_));
    for (at::Tensor& part : parts) part = at::empty_like(tensor);
    return parts;
  }

  static std::string mark_of(int rank) { return "tensordict/" + std::to_string(rank); }

  bool all_have(const StorePtr& keys) const {
    std::vector<std::string> marks;
    for (int i = 0; i < size_; ++i) marks.push_back(mark_of(i));
    return over_network("the group did not form", [&] { return keys->check(marks); });
  }

  // Each rank leaves its address in the store; ranks without one have not arrived. A stranger at the port ends it earlier.
  [[noreturn]] void fail_missing(const StorePtr& keys, std::int64_t timeout_ms,
                                 Clock::time_point begin, const std::exception& error) const {
    std::string missing;
    try {
      for (int i = 0; i < size_; ++i) {
        const std::string number = std::to_string(i);
        if (keys->check({"0/" + number}) || keys->check({"0/rank_" + number})) continue;
        missing += (missing.empty() ? "" : ", ") + number;
      }
    } catch (const std::exception&) {
      missing.clear();  // the store is gone too
    }
    const bool in_time = Clock::now() - begin < std::chrono::milliseconds(timeout_ms);
    fail(Code::io, "rank ", rank_, " of ", size_, ": the group did not form",
         in_time ? "" : text_of(" within ", timeout_ms, " ms"),
         missing.empty() ? "" : "; missing ranks: ", missing, " (", said(error),
         "). All ranks must use the same url, size, "
         "name and version of libtorch; this is ",
         TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR);
  }

  StorePtr store_;  // subgroups meet below it
  std::string device_;
  int rank_;
  int size_;
  bool all_are_ours_ = false;
  c10::intrusive_ptr<Connections> group_;
};

// Debian builds newer versions without libuv, which is their default.
template <class Options>
auto without_libuv(Options& options, int) -> decltype(options.useLibUV = false, void()) {
  options.useLibUV = false;
}
template <class Options>
void without_libuv(Options&, long) {}

StorePtr store_at(const Meeting& meeting) {
  const auto limit = std::chrono::milliseconds(meeting.timeout_ms);
  if (meeting.kind == Meeting::Kind::file) {
    const StorePtr store = c10::make_intrusive<c10d::FileStore>(meeting.path, meeting.size);
    store->setTimeout(limit);
    return store;
  }
  if (meeting.rank != 0) wait_for_listener(meeting);
  c10d::TCPStoreOptions options;
  options.port = meeting.port;
  options.isServer = meeting.rank == 0;
  options.numWorkers = static_cast<std::size_t>(meeting.size);
  options.multiTenant = true;  // groups of several names share a port, as in Python
  options.timeout = limit;
  without_libuv(options, 0);
  try {
    return c10::make_intrusive<c10d::TCPStore>(meeting.host, options);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(Code::io, "rank ", meeting.rank, " of ", meeting.size, ": no meeting at tcp://",
         meeting.host, ":", meeting.port, " within ", meeting.timeout_ms, " ms: ", said(error),
         "; is rank 0 there, and do all ranks have the same version of libtorch? This is ",
         TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR);
  }
}

}  // namespace

std::shared_ptr<Backend> connect(const Meeting& meeting) {
  const NoPipeSignal no_signal;  // nor in the threads of the store and of gloo
  const StorePtr store = c10::make_intrusive<c10d::PrefixStore>("default_pg", store_at(meeting));
  return over_network("the group did not form", [&] {
    return std::make_shared<Gloo>(store, meeting.device, meeting.name, meeting.rank, meeting.size,
                                  meeting.timeout_ms);
  });
}

}  // namespace td::distributed

#else

namespace td::distributed {

std::shared_ptr<Backend> connect(const Meeting&) {
  fail(
      Code::unsupported,
      "this build has no process groups: it needs a libtorch with gloo (Debian: libgloo-dev, too); "
      "build again with -Ddistributed=enabled");
}

}  // namespace td::distributed

#endif
