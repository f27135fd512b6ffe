// Opening folders, beside the system calls that each file takes. The files are in the page cache. By
// hand the sizes and names are known: nothing is read but the values.
#include "fixture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <filesystem>
#include <memory>

namespace bench {

namespace {

// A folder with leaves of so many bytes, on one level.
struct Folder {
  Folder(int leaves, std::int64_t bytes) : dir(scratch("load_" + std::to_string(leaves))) {
    td_tensordict *td = nullptr, *saved = nullptr;
    const std::int64_t rows = 64;
    std::vector<at::Tensor> values;  // the dictionary borrows their memory
    ok(td_create(&rows, 1, TD_DEVICE_NONE, -1, &td));
    for (int i = 0; i < leaves; ++i) {
      const std::string name = "leaf_" + std::to_string(i);
      const char* path[] = {name.c_str()};
      values.push_back(at::full({rows, bytes / 4 / rows}, static_cast<float>(i)));
      td_tensor* tensor = wrap(values.back());
      ok(td_set(td, path, 1, tensor));
      td_tensor_free(tensor);
      files.push_back(dir + "/" + name + ".memmap");
    }
    td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
    options.num_threads = 2;
    ok(td_memmap(td, dir.c_str(), &options, &saved));
    td_free(saved);
    td_free(td);
  }
  ~Folder() { std::filesystem::remove_all(dir); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string dir;
  std::vector<std::string> files;
};

std::uint64_t sum_of(const void* data, std::size_t bytes) {
  const auto* words = static_cast<const std::uint64_t*>(data);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes / sizeof *words; ++i) sum += words[i];
  return sum;
}

struct Mapping {
  void* data;
  std::size_t bytes;
};

std::vector<Mapping> map_all(const Folder& folder) {
  std::vector<Mapping> all;
  for (const std::string& file : folder.files) {
    const int number = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct stat info {};
    require(number >= 0 && ::fstat(number, &info) == 0);
    const auto bytes = static_cast<std::size_t>(info.st_size);
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
    require(data != MAP_FAILED);
    ::close(number);
    all.push_back({data, bytes});
  }
  return all;
}

// Made when it is first asked for: not every run measures these figures.
class Lazily {
 public:
  Lazily(int leaves, std::int64_t bytes) : leaves_(leaves), bytes_(bytes) {}
  const Folder& operator*() {
    if (!folder_) folder_ = std::make_unique<Folder>(leaves_, bytes_);
    return *folder_;
  }
  int leaves() const { return leaves_; }

 private:
  int leaves_;
  std::int64_t bytes_;
  std::unique_ptr<Folder> folder_;
};
using FolderPtr = std::shared_ptr<Lazily>;

void load(const FolderPtr& lazily, const std::string& name, double goal) {
  const auto ours = [lazily](benchmark::State& state) {
    const Folder& folder = **lazily;
    for (auto _ : state) {
      td_tensordict* td = nullptr;
      ok(td_memmap_load(folder.dir.c_str(), nullptr, &td));
      td_free(td);
    }
  };
  const auto theirs = [lazily](benchmark::State& state) {
    const Folder& folder = **lazily;
    for (auto _ : state) {
      for (const Mapping& one : map_all(folder)) ::munmap(one.data, one.bytes);
    }
  };
  figure(name, lazily->leaves(), goal, ours, theirs);
}

at::Tensor new_memory(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  void* const data =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(data != MAP_FAILED);
  return at::from_blob(data, {64, bytes / 4 / 64},
                       [size](void* memory) { ::munmap(memory, size); });
}

// `fresh`: by hand, values go to memory that the process did not have before, as those of a program that reads once.
void load_and_read(const FolderPtr& lazily, const std::string& name, double goal, bool fresh) {
  const auto ours = [lazily](benchmark::State& state) {
    const Folder& folder = **lazily;
    for (auto _ : state) {
      td_tensordict* td = nullptr;
      ok(td_memmap_load(folder.dir.c_str(), nullptr, &td));
      for (std::size_t i = 0; i < folder.files.size(); ++i) {
        const std::string key = "leaf_" + std::to_string(i);
        const char* path[] = {key.c_str()};
        td_tensor* tensor = nullptr;
        void* data = nullptr;
        std::size_t bytes = 0;
        ok(td_get(td, path, 1, &tensor));
        ok(td_tensor_data(tensor, &data));
        ok(td_tensor_nbytes(tensor, &bytes));
        benchmark::DoNotOptimize(sum_of(data, bytes));
        td_tensor_free(tensor);
      }
      td_free(td);
    }
  };
  const auto theirs = [lazily, fresh](benchmark::State& state) {
    const Folder& folder = **lazily;
    for (auto _ : state) {
      std::vector<at::Tensor> all;
      for (const std::string& file : folder.files) {
        const int number = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat info {};
        require(number >= 0 && ::fstat(number, &info) == 0);
        at::Tensor tensor =
            fresh ? new_memory(info.st_size) : at::empty({64, info.st_size / 4 / 64});
        require(::read(number, tensor.data_ptr(), tensor.nbytes()) == info.st_size);
        ::close(number);
        benchmark::DoNotOptimize(sum_of(tensor.data_ptr(), tensor.nbytes()));
        all.push_back(std::move(tensor));
      }
    }
  };
  figure(name, lazily->leaves(), goal, ours, theirs);
}

}  // namespace

void register_disk_load() {
  load(std::make_shared<Lazily>(10, 2048), "disk: load 10 leaves of 2 KiB", 1.5);
  const auto large =
      std::make_shared<Lazily>(400, std::int64_t{512} * 1000 * 1000 / 400 / 256 * 256);
  load(large, "disk: load 512 MB, mapped", 1.3);
  load_and_read(large, "disk: load 512 MB and read all", 0, /*fresh=*/false);
  load_and_read(large, "disk: load 512 MB and read all, beside new memory", 1.0, /*fresh=*/true);
}

}  // namespace bench
