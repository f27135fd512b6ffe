#include "core/hdf5/lzf.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace td::hdf5 {

namespace {

constexpr std::size_t client_values = 3;     // of h5py: two versions, and the bytes of a chunk
constexpr std::size_t most_of_a_byte = 264;  // what a reference of three bytes can unpack to
constexpr std::size_t text_reference = 16;   // of a text of any length, in a file

// Unpacks LibLZF's format. False unless it becomes exactly `bytes`.
bool unpack(const unsigned char* from, std::size_t packed, unsigned char* to,
            std::size_t bytes) noexcept {
  const unsigned char* const end = from + packed;
  std::size_t at = 0;
  while (from != end) {
    const unsigned first = *from++;
    if (first < 32) {  // first + 1 bytes, unpacked
      const std::size_t count = first + 1;
      if (static_cast<std::size_t>(end - from) < count || bytes - at < count) return false;
      std::memcpy(to + at, from, count);
      from += count;
      at += count;
      continue;
    }
    std::size_t count = first >> 5;
    if (count == 7) {
      if (from == end) return false;
      count += *from++;
    }
    if (from == end) return false;
    const std::size_t back = ((first & 31) << 8 | *from++) + 1;
    count += 2;
    if (back > at || bytes - at < count) return false;
    for (std::size_t i = 0; i < count; ++i, ++at) to[at] = to[at - back];  // may overlap
  }
  return at == bytes;
}

// Called from C code: must not throw. 0 is a failure, or, when packing, "not smaller".
std::size_t filter(unsigned flags, std::size_t count, const unsigned values[], std::size_t packed,
                   std::size_t* room, void** data) {
  if ((flags & H5Z_FLAG_REVERSE) == 0 || count < client_values) return 0;
  const std::size_t bytes = values[2];
  if (bytes == 0 || bytes / most_of_a_byte > packed) return 0;
  void* const unpacked = H5allocate_memory(bytes, false);
  if (unpacked == nullptr) return 0;
  if (!unpack(static_cast<const unsigned char*>(*data), packed,
              static_cast<unsigned char*>(unpacked), bytes)) {
    H5free_memory(unpacked);
    return 0;
  }
  H5free_memory(*data);
  *data = unpacked;
  *room = bytes;
  return bytes;
}

}  // namespace

void register_lzf() {
  constexpr H5Z_class2_t lzf = {H5Z_CLASS_T_VERS, lzf_filter, 1,     1, "lzf",
                                nullptr,          nullptr,    filter};
  if (H5Zregister(&lzf) < 0) fail(Code::unsupported, "the HDF5 library takes no filter");
}

std::string why_not_lzf(hid_t dataset, hid_t properties, unsigned at) {
  unsigned flags = 0, values[client_values] = {};
  std::size_t count = client_values;
  H5Pget_filter2(properties, at, &flags, &count, values, 0, nullptr, nullptr);
  for (unsigned i = 0; i < at; ++i) {
    std::size_t none = 0;
    // It moves bytes. Others before it change the size of a chunk.
    if (H5Pget_filter2(properties, i, &flags, &none, nullptr, 0, nullptr, nullptr) !=
        H5Z_FILTER_SHUFFLE)
      return "compressed by lzf and another filter";
  }
  const Id type(H5Dget_type(dataset));
  hsize_t sizes[H5S_MAX_RANK] = {};
  const int dims = H5Pget_chunk(properties, H5S_MAX_RANK, sizes);
  Sizes chunk;
  for (int i = 0; i < dims; ++i)
    chunk.push_back(static_cast<std::int64_t>(std::min<hsize_t>(sizes[i], INT64_MAX)));
  const std::size_t item = H5Tis_variable_str(type) > 0 ? text_reference : H5Tget_size(type);
  const std::optional<std::int64_t> bytes = checked_bytes(chunk, item);
  if (count >= client_values && bytes && *bytes == static_cast<std::int64_t>(values[2])) return {};
  return "compressed by lzf in chunks of another size than its own";
}

}  // namespace td::hdf5
