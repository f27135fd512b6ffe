// A file of HDF5 with one contiguous dataset of 512 MB, beside the same calls of its library written by hand. The file
// is in the page cache.
#include "fixture.h"

#ifdef TD_BENCH_HDF5
#include <hdf5.h>
#include <filesystem>
#include <utility>
#endif

namespace bench {

#ifdef TD_BENCH_HDF5

namespace {

constexpr hsize_t rows = 32768, row_floats = 4096, picked = 256;

struct File {
  File() : path(scratch("values") + ".h5") {
    const at::Tensor values = at::arange(static_cast<std::int64_t>(rows * row_floats), at::kFloat);
    const hsize_t sizes[] = {rows, row_floats};
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(2, sizes, nullptr);
    const hid_t dataset =
        H5Dcreate2(file, "obs", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    require(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data_ptr()) >=
            0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
  }
  ~File() { std::filesystem::remove(path); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path;
};

// Made when it is first asked for: not every run measures these figures.
const File& data() {
  static const File made;
  return made;
}

void load(benchmark::State& state) {
  const File& from = data();
  for (auto _ : state) {
    td_tensordict* td = nullptr;
    ok(td_hdf5_load(from.path.c_str(), nullptr, &td));
    td_free(td);
  }
}

at::Tensor read_by_hand(hid_t dataset, hsize_t first, hsize_t count) {
  at::Tensor values = at::empty(
      {static_cast<std::int64_t>(count), static_cast<std::int64_t>(row_floats)}, at::kFloat);
  const hid_t space = H5Dget_space(dataset);
  const hsize_t start[] = {first, 0}, size[] = {count, row_floats};
  const hid_t memory = H5Screate_simple(2, size, nullptr);
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, size, nullptr) >= 0);
  require(H5Dread(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, values.data_ptr()) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  return values;
}

void load_by_hand(benchmark::State& state) {
  const File& from = data();
  for (auto _ : state) {
    const hid_t file = H5Fopen(from.path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "obs", H5P_DEFAULT);
    benchmark::DoNotOptimize(read_by_hand(dataset, 0, rows));
    H5Dclose(dataset);
    H5Fclose(file);
  }
}

void read_rows(benchmark::State& state) {
  td_hdf5* file = nullptr;
  ok(td_hdf5_open(data().path.c_str(), nullptr, &file));
  std::int64_t first = 0;
  for (auto _ : state) {
    const td_index_item item = TD_I_SLICE(first, first + static_cast<std::int64_t>(picked));
    td_tensordict* td = nullptr;
    ok(td_hdf5_read(file, &item, 1, &td));
    td_free(td);
    first = (first + 997) % static_cast<std::int64_t>(rows - picked);
  }
  td_hdf5_free(file);
}

void read_rows_by_hand(benchmark::State& state) {
  const hid_t file = H5Fopen(data().path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, "obs", H5P_DEFAULT);
  hsize_t first = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(read_by_hand(dataset, first, picked));
    first = (first + 997) % (rows - picked);
  }
  H5Dclose(dataset);
  H5Fclose(file);
}

}  // namespace

void register_disk_hdf5() {
  figure("disk: HDF5 of 512 MB, read", 1, 1.1, load, load_by_hand);
  figure("disk: HDF5 of 512 MB, 256 of 32768 rows", 1, 1.1, read_rows, read_rows_by_hand);
}

#else

void register_disk_hdf5() {}

#endif

}  // namespace bench
