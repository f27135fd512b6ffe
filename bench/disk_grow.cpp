// Rows of ten fields and 400 bytes into a folder that grows, beside the writer over one that is large
// enough. Both go to the page cache; the rows of both can be read by other processes afterwards.
#include "fixture.h"

#include <array>
#include <filesystem>
#include <memory>

namespace bench {

namespace {

constexpr int fields = 10;
constexpr std::int64_t floats = 10;  // of a field: 40 bytes
constexpr std::int64_t rows = 20000;

struct Rows {
  Rows() {
    dir = scratch("grow");
    const std::int64_t one[] = {1};
    ok(td_create(one, 1, TD_DEVICE_NONE, -1, &sample));
    for (int i = 0; i < fields; ++i) {
      names.push_back("field_" + std::to_string(i));
      tensors.push_back(at::zeros({1, floats}));
      td_tensor* zeros = wrap(tensors.back());
      const char* path[] = {names.back().c_str()};
      ok(td_set(sample, path, 1, zeros));
      td_tensor_free(zeros);
    }
    row.fill(1);
  }
  ~Rows() {
    td_free(sample);
    std::filesystem::remove_all(dir);
  }

  void bind(td_writer* writer) const {
    for (const std::string& name : names) {
      const char* path[] = {name.c_str()};
      std::int32_t field;
      ok(td_writer_bind(writer, path, 1, &field));
    }
  }
  void write(td_writer* writer, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      row[0] = static_cast<float>(i);
      for (int k = 0; k < fields; ++k) ok(td_writer_put(writer, k, row.data(), sizeof row));
      ok(td_writer_next(writer));
    }
  }
  td_writer* open_append() const {
    td_writer* writer = nullptr;
    std::filesystem::remove_all(dir);
    ok(td_writer_open_append(dir.c_str(), sample, nullptr, &writer));
    bind(writer);
    return writer;
  }
  td_writer* open_fixed() const {
    td_tensordict *all = nullptr, *mapped = nullptr;
    td_writer* writer = nullptr;
    std::filesystem::remove_all(dir);
    ok(td_expand(sample, &rows, 1, &all));
    ok(td_memmap_like(all, dir.c_str(), nullptr, &mapped));
    ok(td_writer_open(mapped, nullptr, &writer));
    bind(writer);
    td_free(mapped);
    td_free(all);
    return writer;
  }

  std::string dir;
  td_tensordict* sample = nullptr;
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;  // of the sample, which borrows their memory
  std::array<float, floats> row;
};

}  // namespace

void register_disk_grow() {
  auto data = std::make_shared<Rows>();
  // `published`: rows after which others may see them.
  const auto growing = [data](std::int64_t published) {
    return [data, published](benchmark::State& state) {
      for (auto _ : state) {
        state.PauseTiming();
        td_writer* writer = data->open_append();
        state.ResumeTiming();
        for (std::int64_t done = 0; done < rows; done += published) {
          data->write(writer, published);
          ok(td_writer_flush(writer));
        }
        state.PauseTiming();
        td_writer_free(writer);
        state.ResumeTiming();
      }
    };
  };
  const auto fixed = [data](benchmark::State& state) {
    for (auto _ : state) {
      state.PauseTiming();
      td_writer* writer = data->open_fixed();
      state.ResumeTiming();
      data->write(writer, rows);
      state.PauseTiming();
      td_writer_free(writer);
      state.ResumeTiming();
    }
  };
  figure("disk: append 20,000 rows, published once", fields, 3, growing(rows), fixed);
  figure("disk: append 20,000 rows, published each 1,000", fields, 0, growing(1000), fixed);
}

}  // namespace bench
