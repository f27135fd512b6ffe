// A data set of robomimic with 100,000 episodes: opened, and how long each is. Beside the same calls of HDF5's library written
// by hand: the name of each group, its kind and one attribute.
#include "fixture.h"

#ifdef TD_BENCH_HDF5
#include <hdf5.h>
#include <filesystem>
#include <string>
#include <vector>
#endif

namespace bench {

#ifdef TD_BENCH_HDF5

namespace {

constexpr std::size_t episodes = 100000;
constexpr const char* attribute = "num_samples";
constexpr hsize_t steps = 3;

struct Set {
  Set() : path(scratch("episodes") + ".hdf5") {
    constexpr std::size_t at_once = std::size_t{64} << 20;
    const hid_t in_memory = H5Pcreate(H5P_FILE_ACCESS);
    require(H5Pset_fapl_core(in_memory, at_once, true) >= 0);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, in_memory);
    const hid_t data = H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &steps, nullptr), one = H5Screate(H5S_SCALAR);
    for (std::size_t i = 0; i < episodes; ++i) {
      const std::string name = "demo_" + std::to_string(i);
      const hid_t group = H5Gcreate2(data, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t count =
          H5Acreate2(group, attribute, H5T_STD_I64LE, one, H5P_DEFAULT, H5P_DEFAULT);
      const auto length = static_cast<std::int64_t>(steps);
      require(H5Awrite(count, H5T_NATIVE_INT64, &length) >= 0);
      for (const char* const leaf : {"actions", "rewards", "dones"}) {
        const hid_t made =
            H5Dcreate2(group, leaf, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        require(made >= 0);
        H5Dclose(made);
      }
      H5Aclose(count);
      H5Gclose(group);
    }
    for (const hid_t object : {space, one}) H5Sclose(object);
    H5Gclose(data);
    H5Pclose(in_memory);
    require(H5Fclose(file) >= 0);
  }
  ~Set() { std::filesystem::remove(path); }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;

  std::string path;
};

const Set& set() {
  static const Set made;
  return made;
}

void open(benchmark::State& state) {
  const Set& from = set();
  std::vector<std::int64_t> lengths(episodes);
  for (auto _ : state) {
    td_dataset* dataset = nullptr;
    std::size_t count = 0;
    ok(td_dataset_open(from.path.c_str(), nullptr, &dataset));
    ok(td_dataset_lengths(dataset, lengths.data(), lengths.size(), &count));
    require(count == episodes && lengths.back() == static_cast<std::int64_t>(steps));
    td_dataset_free(dataset);
  }
}

herr_t add_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

void open_by_hand(benchmark::State& state) {
  const Set& from = set();
  std::vector<std::int64_t> lengths(episodes);
  for (auto _ : state) {
    const hid_t file = H5Fopen(from.path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t data = H5Gopen2(file, "data", H5P_DEFAULT);
    std::vector<std::string> names;
    require(H5Literate(data, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names) >= 0);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const hid_t group = H5Oopen(data, names[i].c_str(), H5P_DEFAULT);
      require(H5Iget_type(group) == H5I_GROUP);
      const hid_t count = H5Aopen(group, attribute, H5P_DEFAULT);
      require(H5Aread(count, H5T_NATIVE_INT64, &lengths[i]) >= 0);
      H5Aclose(count);
      H5Oclose(group);
    }
    H5Gclose(data);
    H5Fclose(file);
  }
}

}  // namespace

void register_disk_episodes() {
  figure("disk: 100,000 episodes of HDF5, opened and their lengths", 1, 1.1, open, open_by_hand);
}

#else

void register_disk_episodes() {}

#endif

}  // namespace bench
