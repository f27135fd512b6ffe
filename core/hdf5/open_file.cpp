#include "core/hdf5/open_file.h"

#include "core/io/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace td::hdf5 {

std::uint64_t default_limit(std::uint64_t file_bytes) noexcept {
  constexpr std::uint64_t densest = 1100, unwritten = std::uint64_t{64} << 20;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2;
  return file_bytes > most / densest - unwritten ? most : file_bytes * densest + unwritten;
}

Id open_path(const std::string& name, const struct stat& looked, const std::string& where) {
  const Id access = need(H5Pcreate(H5P_FILE_ACCESS), Code::out_of_memory, where, "no properties");
  // Ignore drivers chosen by environment variables.
  need_done(H5Pset_fapl_sec2(access), Code::out_of_memory, where, "no properties");
#if H5_VERSION_GE(1, 10, 7)
  need_done(H5Pset_file_locking(access, 1, 1), Code::out_of_memory, where, "no properties");
#endif
  const auto open = [&] { return H5Fopen(name.c_str(), H5F_ACC_RDONLY, access); };
  Id file(open());
  if (!file.is_open()) {
    // The library does not tell a disk that fails from a file that is not of HDF5.
    const files::Descriptor probe(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!probe.is_open()) files::fail_io("cannot open", name, errno);
    file = need(open(), Code::format, where, "cannot open it as an HDF5 file");
  }
  void* handle = nullptr;
  struct stat opened {};
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 || handle == nullptr ||
      ::fstat(*static_cast<int*>(handle), &opened) != 0 || opened.st_dev != looked.st_dev ||
      opened.st_ino != looked.st_ino) {
    fail(Code::busy, where, ": the file was replaced while it was opened");
  }
  return file;
}

Id open_image(const FileBytes& image, const std::string& where) {
  const Id access = need(H5Pcreate(H5P_FILE_ACCESS), Code::out_of_memory, where, "no properties");
  const bool set = H5Pset_fapl_core(access, 1 << 16, 0) >= 0 &&
                   H5Pset_file_image(access, image.data(), image.size()) >= 0;
  if (!set) fail_library(Code::format, where, "cannot open it");
  return need(H5Fopen("image", H5F_ACC_RDONLY, access), Code::format, where,
              "cannot open it as an HDF5 file");
}

Id open_dataset(hid_t file, const std::string& place, const std::string& where) {
  const Id access = inside_file(H5P_DATASET_ACCESS, where);
  const auto open = [&] {
    return need(H5Dopen2(file, place.c_str(), access), Code::format, where,
                "cannot open a dataset");
  };
  Id first = open();
  const Id made(H5Dget_create_plist(first));
  if (!made.is_open() || H5Pget_layout(made) != H5D_CHUNKED) return first;
  hsize_t chunk[H5S_MAX_RANK] = {};
  const int dims = H5Pget_chunk(made, H5S_MAX_RANK, chunk);
  const Id type(H5Dget_type(first));
  Sizes sizes;
  for (int i = 0; i < dims; ++i) {
    sizes.push_back(static_cast<std::int64_t>(std::min<hsize_t>(chunk[i], INT64_MAX)));
  }
  const auto bytes = checked_bytes(sizes, H5Tget_size(type));
  constexpr std::int64_t library_cache = 1 << 20, most = std::int64_t{256} << 20;
  if (!bytes || *bytes <= library_cache || *bytes > most) return first;
  first.reset();
  H5Pset_chunk_cache(access, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, static_cast<std::size_t>(*bytes),
                     H5D_CHUNK_CACHE_W0_DEFAULT);
  return open();
}

Id select_rows(hid_t space, std::int64_t start, std::int64_t step, std::int64_t count,
               const std::string& where) {
  hsize_t from[H5S_MAX_RANK] = {}, by[H5S_MAX_RANK] = {}, size[H5S_MAX_RANK] = {};
  const int dims = H5Sget_simple_extent_dims(space, size, nullptr);
  std::fill_n(by, H5S_MAX_RANK, hsize_t{1});
  from[0] = static_cast<hsize_t>(start);
  by[0] = static_cast<hsize_t>(step);
  size[0] = static_cast<hsize_t>(count);
  need_done(H5Sselect_hyperslab(space, H5S_SELECT_SET, from, by, size, nullptr), Code::format,
            where, "cannot pick rows");
  return need(H5Screate_simple(dims, size, nullptr), Code::format, where, "cannot pick rows");
}

}  // namespace td::hdf5
