// HDF5 files of any structure. The library that parses them does not stand damaged ones (see SECURITY.md), so the
// bytes do not become the file: they say what it makes a good file of, with types, sizes and links of all kinds.
#include "fuzz.h"

#include <hdf5.h>
#include <algorithm>
#include <vector>

namespace {

struct Bytes {
  const std::uint8_t *at, *end;
  unsigned next() { return at == end ? 0 : *at++; }
};

hid_t type_from(Bytes &from, int depth) {
  const unsigned kind = from.next();
  hid_t type = -1;
  switch (depth > 3 ? kind % 3 : kind % 11) {
    case 0:
      type = H5Tcopy(H5T_NATIVE_INT32);
      H5Tset_size(type, 1 + from.next() % 12);
      break;
    case 1: type = H5Tcopy((kind & 16) != 0 ? H5T_IEEE_F64BE : H5T_IEEE_F32LE); break;
    case 2:
      type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, (kind & 16) != 0 ? H5T_VARIABLE : 1 + from.next());
      break;
    case 3: type = H5Tcopy(H5T_STD_U16BE); break;
    case 4: {
      type = H5Tenum_create(H5T_NATIVE_INT8);
      const signed char no = 0, yes = static_cast<signed char>(from.next());
      H5Tenum_insert(type, "FALSE", &no);
      H5Tenum_insert(type, "TRUE", &yes);
      break;
    }
    case 5:
      type = H5Tcreate(H5T_OPAQUE, 1 + from.next() % 16);
      H5Tset_tag(type, (kind & 16) != 0 ? "NUMPY:<i8" : "NUMPY:|b1");
      break;
    case 6: {
      const hid_t base = type_from(from, depth + 1);
      const hsize_t sizes[] = {1 + from.next() % 4, 1 + from.next() % 4};
      type = H5Tarray_create2(base, 1 + from.next() % 2, sizes);
      H5Tclose(base);
      break;
    }
    case 7: {
      const hid_t parts[] = {type_from(from, depth + 1), type_from(from, depth + 1)};
      const std::size_t first = H5Tget_size(parts[0]), second = H5Tget_size(parts[1]);
      type = H5Tcreate(H5T_COMPOUND, first + second);
      H5Tinsert(type, (kind & 16) != 0 ? "r" : "one", 0, parts[0]);
      H5Tinsert(type, (kind & 16) != 0 ? "i" : "two", first, parts[1]);
      H5Tclose(parts[0]);
      H5Tclose(parts[1]);
      break;
    }
    case 8: {
      const hid_t base = type_from(from, 9);
      type = H5Tvlen_create(base);
      H5Tclose(base);
      break;
    }
    case 9: type = H5Tcopy(H5T_STD_B16LE); break;
    default: type = H5Tcopy(H5T_STD_REF_OBJ); break;
  }
  return type;
}

hid_t space_from(Bytes &from) {
  const unsigned kind = from.next();
  if (kind % 8 == 7) return H5Screate((kind & 16) != 0 ? H5S_NULL : H5S_SCALAR);
  hsize_t sizes[4];
  for (hsize_t &size : sizes) size = from.next() % 9;
  if ((kind & 64) != 0) sizes[0] = hsize_t{1} << (from.next() % 63);
  return H5Screate_simple(static_cast<int>(kind % 5), sizes, nullptr);
}

std::string name_from(Bytes &from) {
  static const char *const names[] = {"a", "b", "demo_2", "demo_10", "\xff", "\xc3\xa9"};
  return names[from.next() % 6];
}

void dataset_from(Bytes &from, hid_t group, bool attribute) {
  const std::string name = name_from(from);
  const hid_t type = type_from(from, 0), space = space_from(from);
  const hid_t made = H5Pcreate(H5P_DATASET_CREATE);
  const unsigned form = from.next();
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  const bool small = points > 0 && points < 4096;
  const int dims = H5Sget_simple_extent_ndims(space);
  if ((form & 1) != 0 && dims > 0) {
    const hsize_t chunk[] = {2, 2, 2, 2};
    H5Pset_chunk(made, dims, chunk);
    if ((form & 2) != 0) H5Pset_deflate(made, 1);
    // The filter of h5py, whose chunks are written as they are.
    const unsigned lzf[] = {4, 261, static_cast<unsigned>(H5Tget_size(type) << dims)};
    if ((form & 18) == 16) H5Pset_filter(made, 32000, H5Z_FLAG_OPTIONAL, 3, lzf);
  }
  if ((form & 12) == 12) H5Pset_external(made, "/etc/passwd", 0, 64);
  const hid_t object =
      attribute
          ? (small ? H5Acreate2(group, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT) : -1)
          : H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, made, H5P_DEFAULT);
  const H5T_class_t kind = H5Tget_class(type);
  const bool plain = H5Tdetect_class(type, H5T_VLEN) <= 0 &&
                     H5Tdetect_class(type, H5T_STRING) <= 0 && kind != H5T_REFERENCE;
  if (object >= 0 && small && (plain || kind == H5T_STRING) && (form & 12) != 12) {
    std::vector<char> values(static_cast<std::size_t>(points) * H5Tget_size(type));
    for (char &value : values) value = static_cast<char>(from.next());
    std::vector<const char *> texts(static_cast<std::size_t>(points), "text");
    const void *data =
        H5Tis_variable_str(type) > 0 ? static_cast<const void *>(texts.data()) : values.data();
    attribute ? H5Awrite(object, type, data)
              : H5Dwrite(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  }
  if (object >= 0 && !attribute && small && (form & 19) == 17 && dims > 0) {
    const hsize_t first[4] = {};
    std::string packed;
    for (unsigned left = 1 + from.next() % 64; left > 0; left--)
      packed += static_cast<char>(from.next());
    H5Dwrite_chunk(object, H5P_DEFAULT, 0, first, packed.size(), packed.data());
  }
  if (object >= 0) attribute ? H5Aclose(object) : H5Dclose(object);
  H5Pclose(made);
  H5Sclose(space);
  H5Tclose(type);
}

void make(Bytes &from, const std::string &path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  std::vector<hid_t> groups = {H5Gopen2(file, "/", H5P_DEFAULT)};
  struct Soft {
    hid_t group;
    std::string name, target;
  };
  std::vector<Soft> links;
  for (int steps = 0; steps < 12 && from.at != from.end; steps++) {
    const hid_t group = groups[from.next() % groups.size()];
    switch (from.next() % 7) {
      case 0: {
        const hid_t made =
            H5Gcreate2(group, name_from(from).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (made >= 0) groups.push_back(made);
        break;
      }
      case 1: links.push_back({group, name_from(from), name_from(from)}); break;
      case 2: links.push_back({group, name_from(from), ""}); break;
      case 3: /* perhaps a circle */
        H5Lcreate_hard(groups[from.next() % groups.size()], ".", group, name_from(from).c_str(),
                       H5P_DEFAULT, H5P_DEFAULT);
        break;
      case 4: dataset_from(from, group, true); break;
      default: dataset_from(from, group, false); break;
    }
  }
  // Last: what is made before would follow them.
  for (const Soft &link : links) {
    if (H5Lexists(link.group, link.name.c_str(), H5P_DEFAULT) > 0) continue;
    if (link.target.empty()) {
      H5Lcreate_external("/etc/passwd", "/x", link.group, link.name.c_str(), H5P_DEFAULT,
                         H5P_DEFAULT);
    } else {
      H5Lcreate_soft(link.target.c_str(), link.group, link.name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
  }
  for (const hid_t group : groups) H5Gclose(group);
  H5Fclose(file);
}

// A stack of different values has one for each place of its batch, and sizes cost nothing where there is a 0.
bool is_small(const td_tensordict *td) {
  std::int64_t sizes[16], most = 1 << 16;
  std::size_t dims = 0;
  if (td_batch_size(td, sizes, 16, &dims) != TD_OK) return false;
  for (std::size_t i = 0; i < dims; i++) most /= std::max<std::int64_t>(sizes[i], 1);
  return most > 0;
}

// The elements of a stack one by one: they need not have anything in common.
void read(const td_tensordict *td) {
  td_dict_kind kind = 0;
  FUZZ_DO(td_kind(td, &kind));
  if (kind != TD_DICT_LAZY_STACK) return fuzz::read_all(td);
  for (std::int64_t i = 0;; i++) {
    const td_index_item item = TD_I_INT(i);
    fuzz::Dict element;
    if (!fuzz::done(td_index(td, &item, 1, element.out()))) return;
    fuzz::read_all(element.get());
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::Scratch scratch;
  Bytes from = {data + 1, data + size};
  const std::string file = scratch.path("f.h5"), again = scratch.path("g.h5");
  make(from, file);
  td_hdf5_options options = TD_HDF5_OPTIONS_INIT;
  options.flags = data[0] & 7;
  options.batch_dims = data[0] >> 3 & 1;
  options.max_bytes = 1 << 20;
  options.max_entries = 1000;
  fuzz::Dict td, part, loaded;
  td_hdf5 *open = nullptr;
  if (!fuzz::done(td_hdf5_open(file.c_str(), &options, &open))) {
    FUZZ_CHECK(open == nullptr);
    return 0;
  }
  const td_index_item row = TD_I_SLICE(1, 3);
  if (fuzz::done(td_hdf5_read(open, &row, 1, part.out()))) read(part.get());
  const bool whole = fuzz::done(td_hdf5_read(open, nullptr, 0, td.out()));
  td_hdf5_free(open);
  if (!whole) return 0;
  read(td.get());
  if (is_small(td.get()) && fuzz::done(td_hdf5_save(td.get(), again.c_str(), nullptr))) {
    FUZZ_DO(td_hdf5_load(again.c_str(), nullptr, loaded.out()));
  }
  return 0;
}
