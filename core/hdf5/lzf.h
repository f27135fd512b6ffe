// core/hdf5/lzf.h: the filter "lzf" of h5py, which HDF5 does not bring.
#pragma once

#include "core/hdf5/library.h"

#include <string>

namespace td::hdf5 {

inline constexpr H5Z_filter_t lzf_filter = 32000;  // as registered with the HDF Group

// Gives the library a filter that unpacks; what is written with it is stored as it is.
void register_lzf();

// Whether filter `at` of a dataset unpacks each chunk to the size that the library will read. Empty, or what is wrong.
std::string why_not_lzf(hid_t dataset, hid_t properties, unsigned at);

}  // namespace td::hdf5
