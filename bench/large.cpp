// A minibatch out of a data set that is larger than any cache: 100,000 rows of 12 KiB, mapped.
#include "fixture.h"

#include <cstdio>
#include <cstring>
#include <memory>

namespace bench {

namespace {

constexpr std::int64_t rows = 100000;
constexpr std::int64_t row_floats = 3072;  // 12 KiB
constexpr std::int64_t batch = 256;

td_tensordict* make_data_set(const std::string& dir) {
  td_tensordict *sample = nullptr, *expanded = nullptr, *data = nullptr;
  td_tensor* zeros = nullptr;
  const std::int64_t sizes[] = {row_floats};
  ok(td_create(nullptr, 0, TD_DEVICE_NONE, -1, &sample));
  ok(td_tensor_zeros(sizes, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &zeros));
  const char* path[] = {"image"};
  ok(td_set(sample, path, 1, zeros));
  ok(td_expand(sample, &rows, 1, &expanded));
  ok(td_memmap_like(expanded, dir.c_str(), nullptr, &data));
  td_writer* writer = nullptr;
  std::int32_t field;
  ok(td_writer_open(data, nullptr, &writer));
  ok(td_writer_bind(writer, path, 1, &field));
  std::vector<float> row(row_floats);
  for (std::int64_t i = 0; i < rows; ++i) {
    row[0] = static_cast<float>(i);
    ok(td_writer_put(writer, field, row.data(), row.size() * sizeof(float)));
    ok(td_writer_next(writer));
  }
  td_writer_free(writer);
  td_tensor_free(zeros);
  td_free(sample);
  td_free(expanded);
  return data;
}

}  // namespace

void register_large(const std::string& dir) {
  std::fprintf(stderr, "writing %.1f GB to %s\n", static_cast<double>(rows * row_floats * 4) / 1e9,
               dir.c_str());
  td_tensordict* data = make_data_set(dir);
  td_tensor* leaf = nullptr;
  const char* path[] = {"image"};
  ok(td_get(data, path, 1, &leaf));
  void* memory = nullptr;
  ok(td_tensor_data(leaf, &memory));
  auto indices = std::make_shared<std::vector<at::Tensor>>();
  auto handles = std::make_shared<std::vector<td_tensor*>>();
  for (int i = 0; i < 64; ++i) {
    indices->push_back(at::randint(0, rows, {batch}, at::kLong));
    handles->push_back(wrap(indices->back()));
  }
  figure(
      "minibatch of 256 x 12 KiB, mapped", 1, 1.25,
      [data, handles](benchmark::State& state) {
        std::size_t k = 0;
        for (auto _ : state) {
          td_index_item at{};
          at.kind = TD_INDEX_TENSOR;
          at.tensor = (*handles)[k++ % handles->size()];
          td_tensordict* result = nullptr;
          ok(td_index(data, &at, 1, &result));
          td_free(result);
        }
      },
      [memory, indices](benchmark::State& state) {
        std::size_t k = 0;
        std::vector<float> target(batch * row_floats);
        const auto* source = static_cast<const float*>(memory);
        for (auto _ : state) {
          const std::int64_t* at = (*indices)[k++ % indices->size()].data_ptr<std::int64_t>();
          for (std::int64_t i = 0; i < batch; ++i) {
            std::memcpy(target.data() + i * row_floats, source + at[i] * row_floats,
                        row_floats * 4);
          }
          benchmark::ClobberMemory();
        }
      });
  register_loader_large(data, rows, row_floats, dir);
}

}  // namespace bench
