// One file with everything: an archive of 512 MB that is written and opened, beside the bytes alone. The
// file is in the page cache; what was there before is gone before the clock runs.
#include "fixture.h"

#include <fcntl.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace bench {

namespace {

constexpr int leaf_count = 400;
constexpr std::int64_t rows = 64;
constexpr std::int64_t row_floats = (std::int64_t{512} << 20) / leaf_count / rows / 4;

// A dictionary whose leaves lie side by side in one piece of memory.
struct Data {
  Data()
      : file(scratch("archive") + ".tdz"),
        all(at::arange(leaf_count * rows * row_floats, at::kFloat)) {
    ok(td_create(&rows, 1, TD_DEVICE_NONE, -1, &td));
    for (int i = 0; i < leaf_count; ++i) {
      const std::string name = "leaf_" + std::to_string(i);
      const char* path[] = {name.c_str()};
      td_tensor* tensor =
          wrap(all.narrow(0, i * rows * row_floats, rows * row_floats).view({rows, row_floats}));
      ok(td_set(td, path, 1, tensor));
      td_tensor_free(tensor);
    }
  }
  ~Data() {
    td_free(td);
    std::filesystem::remove(file);
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  void save() const {
    td_tensordict* saved = nullptr;
    ok(td_memmap(td, file.c_str(), nullptr, &saved));
    td_free(saved);
  }

  std::string file;
  at::Tensor all;
  td_tensordict* td = nullptr;
};

// Made when it is first asked for: not every run measures these figures.
const Data& data() {
  static const Data made;
  return made;
}

template <class F>
Body on_no_file(F f) {
  return [f](benchmark::State& state) {
    const Data& from = data();
    for (auto _ : state) {
      state.PauseTiming();
      std::filesystem::remove(from.file);
      state.ResumeTiming();
      f(from);
    }
  };
}

void write_once(const Data& from) {
  const int number = ::open(from.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const std::size_t bytes = from.all.nbytes();
  require(number >= 0 &&
          ::write(number, from.all.data_ptr(), bytes) == static_cast<ssize_t>(bytes));
  ::close(number);
}

void open_it(benchmark::State& state) {
  const Data& from = data();
  from.save();
  for (auto _ : state) {
    td_tensordict* td = nullptr;
    ok(td_memmap_load(from.file.c_str(), nullptr, &td));
    td_free(td);
  }
}

void read_it(benchmark::State& state) {
  const Data& from = data();
  from.save();
  const std::size_t bytes = std::filesystem::file_size(from.file);
  const std::unique_ptr<char[]> memory(new char[bytes]);
  for (auto _ : state) {
    const int number = ::open(from.file.c_str(), O_RDONLY | O_CLOEXEC);
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t n = ::read(number, memory.get() + done, bytes - done);
      require(n > 0);
      done += static_cast<std::size_t>(n);
    }
    ::close(number);
    benchmark::ClobberMemory();
  }
}

}  // namespace

void register_disk_archive() {
  figure("disk: archive of 512 MB, write", leaf_count, 1.3,
         on_no_file([](const Data& from) { from.save(); }), on_no_file(write_once));
  figure("disk: archive of 512 MB, open", leaf_count, 0.05, open_it, read_it);
}

}  // namespace bench
