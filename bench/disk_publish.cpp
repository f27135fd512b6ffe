// Steps of eight nested fields and 320 bytes into a folder that grows and is published each 100 of them, by a
// thread: what they take on average, beside the writer over a folder that is large enough, and the longest of
// them, beside a millisecond. Once in memory and once on a disk (TD_BENCH_DISK).
#include "fixture.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int fields = 8;
constexpr std::int64_t row_floats = 10;
constexpr std::int64_t steps = 100000;

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

struct Times {
  double step = 0;   // on average
  double worst = 0;  // of all
};

class Recording {
 public:
  explicit Recording(const std::filesystem::path& where) : dir_(scratch("publish", where)) {
    const std::int64_t one[] = {1};
    ok(td_create(one, 1, TD_DEVICE_NONE, -1, &sample_));
    for (int i = 0; i < fields; ++i) {
      tensors_.push_back(at::zeros({1, row_floats}));
      td_tensor* zeros = wrap(tensors_.back());
      ok(td_set(sample_, path(i).data(), 3, zeros));
      td_tensor_free(zeros);
    }
    row_.fill(1);
  }
  ~Recording() {
    td_free(sample_);
    std::filesystem::remove_all(dir_);
  }

  Times growing() {
    td_append_options options = TD_APPEND_OPTIONS_INIT;
    td_writer* writer = nullptr;
    options.publish_rows = 100;
    options.background = 1;
    std::filesystem::remove_all(dir_);
    ok(td_writer_open_append(dir_.c_str(), sample_, &options, &writer));
    return write(writer);
  }
  Times fixed() {
    td_tensordict *all = nullptr, *mapped = nullptr;
    td_writer* writer = nullptr;
    std::filesystem::remove_all(dir_);
    ok(td_expand(sample_, &steps, 1, &all));
    ok(td_memmap_like(all, dir_.c_str(), nullptr, &mapped));
    ok(td_writer_open(mapped, nullptr, &writer));
    td_free(mapped);
    td_free(all);
    return write(writer);
  }

 private:
  // "agent", "state" or "action", "f0" …: five dictionaries in all.
  std::array<const char*, 3> path(int i) const {
    static const char* const names[] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};
    return {i < 4 ? "agent" : "world", i % 2 == 0 ? "state" : "action", names[i]};
  }

  Times write(td_writer* writer) {
    for (int i = 0; i < fields; ++i) {
      std::int32_t field = -1;
      ok(td_writer_bind(writer, path(i).data(), 3, &field));
    }
    Times times;
    const Clock::time_point begin = Clock::now();
    Clock::time_point last = begin;
    for (std::int64_t i = 0; i < steps; ++i) {
      row_[0] = static_cast<float>(i);
      for (int k = 0; k < fields; ++k) ok(td_writer_put(writer, k, row_.data(), sizeof row_));
      ok(td_writer_next(writer));
      const Clock::time_point now = Clock::now();
      times.worst = std::max(times.worst, seconds(now - last));
      last = now;
    }
    times.step = seconds(last - begin) / static_cast<double>(steps);
    td_writer_free(writer);
    return times;
  }

  std::string dir_;
  td_tensordict* sample_ = nullptr;
  std::vector<at::Tensor> tensors_;
  std::array<float, row_floats> row_;
};

using Measure = std::function<double()>;

void manual_figure(const std::string& name, double goal, const Measure& ours,
                   const Measure& theirs) {
  const auto body = [](const Measure& measure) {
    return [measure](benchmark::State& state) {
      for (auto _ : state) state.SetIterationTime(measure());
    };
  };
  const std::string label = name + "/" + std::to_string(fields) + "/" + std::to_string(goal);
  for (const auto& [side, measure] : {std::make_pair("/ours", ours), {"/theirs", theirs}}) {
    // One call, and one before it: what is measured is too short for the times that bench/run gives.
    benchmark::RegisterBenchmark((label + side).c_str(), body(measure))
        ->UseManualTime()
        ->MinTime(1e-9)
        ->MinWarmUpTime(1e-9);
  }
}

}  // namespace

void register_disk_publish() {
  namespace fs = std::filesystem;
  const char* disk = std::getenv("TD_BENCH_DISK");
  const std::pair<fs::path, const char*> places[] = {
      {fs::temp_directory_path(), ""},
      {disk == nullptr ? fs::temp_directory_path() : fs::path(disk), ", on a disk"}};
  for (const auto& [where, name] : places) {
    const auto data = std::make_shared<Recording>(where);
    manual_figure(
        std::string("disk: a step, published each 100") + name, 2,
        [data] { return data->growing().step; }, [data] { return data->fixed().step; });
    manual_figure(
        std::string("disk: the longest step, published each 100") + name, 1,
        [data] { return data->growing().worst; }, [] { return 1e-3; });
  }
}

}  // namespace bench
