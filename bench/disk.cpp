// Saving folders, beside the plain writes of as many bytes, into the page cache. What is written goes
// away between the measurements.
#include "fixture.h"

#include <torch/serialize.h>

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

namespace bench {

namespace {

namespace fs = std::filesystem;

// A dictionary with leaves of so many bytes, on one level, and a folder to write to.
class Source {
 public:
  Source(int leaves, std::int64_t bytes) : dir_(scratch("save_" + std::to_string(leaves))) {
    constexpr std::int64_t rows = 64;
    ok(td_create(&rows, 1, TD_DEVICE_NONE, -1, &td));
    for (int i = 0; i < leaves; ++i) {
      const std::string name = "leaf_" + std::to_string(i);
      const char* path[] = {name.c_str()};
      tensors.push_back(at::full({rows, bytes / 4 / rows}, static_cast<float>(i)));
      td_tensor* tensor = wrap(tensors.back());
      ok(td_set(td, path, 1, tensor));
      td_tensor_free(tensor);
    }
    fs::create_directory(dir_);
  }
  ~Source() {
    td_free(td);
    fs::remove_all(dir_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  void clear() const {
    for (const auto& entry : fs::directory_iterator(dir_)) fs::remove_all(entry.path());
  }

  td_tensordict* td = nullptr;
  std::vector<at::Tensor> tensors;

 private:
  fs::path dir_;
};

// Made when it is first asked for: not every run measures these figures.
class Lazily {
 public:
  Lazily(int leaves, std::int64_t bytes) : leaves_(leaves), bytes_(bytes) {}
  const Source& operator*() {
    if (!source_) source_ = std::make_unique<Source>(leaves_, bytes_);
    return *source_;
  }
  int leaves() const { return leaves_; }

 private:
  int leaves_;
  std::int64_t bytes_;
  std::unique_ptr<Source> source_;
};
using SourcePtr = std::shared_ptr<Lazily>;

// What stands there goes before each measurement, and does not count.
template <class F>
Body fresh(const SourcePtr& lazily, F work) {
  return [lazily, work](benchmark::State& state) {
    const Source& source = **lazily;
    for (auto _ : state) {
      state.PauseTiming();
      source.clear();
      state.ResumeTiming();
      work(source);
    }
    source.clear();
  };
}

// What stands there stays, as a save that another one replaces.
template <class F>
Body again(const SourcePtr& lazily, F work) {
  return [lazily, work](benchmark::State& state) {
    const Source& source = **lazily;
    source.clear();
    work(source);
    for (auto _ : state) work(source);
    source.clear();
  };
}

void save(const Source& source, int threads, int checksums) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.num_threads = threads;
  options.checksums = checksums;
  td_tensordict* saved = nullptr;
  ok(td_memmap(source.td, source.path("data").c_str(), &options, &saved));
  td_free(saved);
}

void write_at(int file, const at::Tensor& tensor, std::size_t offset) {
  const char* data = static_cast<const char*>(tensor.data_ptr());
  for (std::size_t done = 0; done < tensor.nbytes();) {
    const ssize_t n =
        ::pwrite(file, data + done, tensor.nbytes() - done, static_cast<off_t>(offset + done));
    require(n > 0);
    done += static_cast<std::size_t>(n);
  }
}

// All bytes into one file, half of them on a second thread.
void write_one_file(const Source& source) {
  const int file =
      ::open(source.path("all").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  require(file >= 0);
  const std::size_t bytes = source.tensors.front().nbytes();
  const std::size_t n = source.tensors.size();
  const auto write = [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) write_at(file, source.tensors[i], i * bytes);
  };
  std::thread other(write, n / 2, n);
  write(0, n / 2);
  other.join();
  ::close(file);
}

void write_files(const Source& source) {
  for (std::size_t i = 0; i < source.tensors.size(); ++i) {
    const std::string path = source.path("leaf_" + std::to_string(i));
    const std::string aside = path + ".tmp";
    const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    require(file >= 0);
    write_at(file, source.tensors[i], 0);
    ::close(file);
    require(std::rename(aside.c_str(), path.c_str()) == 0);
  }
}

}  // namespace

void register_disk() {
  const auto small = std::make_shared<Lazily>(10, 2048);
  figure("disk: save 10 leaves of 2 KiB", 10, 1.5,
         fresh(small, [](const Source& source) { save(source, 1, 0); }), fresh(small, write_files));
  figure("disk: save 10 leaves of 2 KiB over a folder", 10, 0,
         again(small, [](const Source& source) { save(source, 1, 0); }), again(small, write_files));
  const auto large =
      std::make_shared<Lazily>(400, std::int64_t{512} * 1000 * 1000 / 400 / 256 * 256);
  const auto two = [](const Source& source) { save(source, 2, 0); };
  figure("disk: save 512 MB, 2 threads", 400, 1.15, fresh(large, two),
         fresh(large, write_one_file));
  figure("disk: save 512 MB, 2 threads, beside torch::save", 400, 0.7, fresh(large, two),
         fresh(large,
               [](const Source& source) { torch::save(source.tensors, source.path("all.pt")); }));
  figure("disk: save 512 MB with checksums, 2 threads", 400, 0,
         fresh(large, [](const Source& source) { save(source, 2, 1); }), fresh(large, two));
}

}  // namespace bench
