// core/hdf5/functions.h: the functions of the HDF5 library, loaded when the first file is opened: the
// library pulls in some thirty others (for networks and cryptography), and most processes never need it.
// Without TD_HDF5_LIBRARY, the name of the library's file, it is linked as usual.
#pragma once

#ifdef TD_HDF5_LIBRARY

// The library's constants use these macros. The library is already open then, and its version check would end
// the process on any difference in release.
#undef H5OPEN
#define H5OPEN
#undef H5CHECK
#define H5CHECK

// clang-format off
#define TD_HDF5_FUNCTIONS(F) \
  F(H5open) F(H5allocate_memory) F(H5free_memory) F(H5Acreate2) F(H5Adelete) F(H5Aexists) F(H5Aget_name) F(H5Aget_space) F(H5Aget_type) \
  F(H5Aopen) F(H5Aopen_by_idx) F(H5Aopen_by_name) F(H5Aread) F(H5Awrite) F(H5Dclose) F(H5Dcreate2) F(H5Dget_create_plist) F(H5Dget_offset) F(H5Dget_space) \
  F(H5Dget_type) F(H5Dopen2) F(H5Dread) F(H5Dset_extent) F(H5Dwrite) F(H5Eclear2) F(H5Eget_auto2) F(H5Eset_auto2) F(H5Ewalk2) F(H5FDregister) \
  F(H5Fclose) F(H5Fcreate) F(H5Fflush) F(H5Fget_file_image) F(H5Fget_vfd_handle) F(H5Fopen) F(H5Gcreate2) \
  F(H5Gopen2) F(H5Idec_ref) F(H5Iget_type) F(H5Ldelete) F(H5Lexists) F(H5Literate) F(H5Oget_info) F(H5Oget_info_by_name) F(H5Oopen) F(H5Pcreate) \
  F(H5Pget_chunk) F(H5Pget_mdc_config) F(H5Pset_mdc_config) F(H5Pget_external_count) F(H5Pget_filter2) F(H5Pget_layout) F(H5Pget_nfilters) \
  F(H5Pset_char_encoding) F(H5Pset_chunk) F(H5Pset_chunk_cache) F(H5Pset_create_intermediate_group) \
  F(H5Pset_deflate) F(H5Pset_driver) F(H5Pset_elink_cb) F(H5Pset_fapl_core) F(H5Pset_fapl_sec2) F(H5Pset_file_image) \
  F(H5Pset_obj_track_times) F(H5Pset_vlen_mem_manager) F(H5Screate) F(H5Screate_simple) \
  F(H5Sget_simple_extent_dims) F(H5Sget_simple_extent_ndims) F(H5Sget_simple_extent_npoints) \
  F(H5Sget_simple_extent_type) F(H5Sselect_hyperslab) F(H5Tarray_create2) F(H5Tcopy) F(H5Tcreate) \
  F(H5Tenum_create) F(H5Tenum_insert) F(H5Tenum_valueof) F(H5Tget_array_dims2) F(H5Tget_array_ndims) \
  F(H5Tget_class) F(H5Tget_fields) F(H5Tget_member_index) F(H5Tget_member_name) F(H5Tget_member_type) \
  F(H5Tget_native_type) F(H5Tget_nmembers) F(H5Tget_sign) F(H5Tget_size) F(H5Tget_strpad) F(H5Tget_super) \
  F(H5Tget_tag) F(H5Tinsert) F(H5Tis_variable_str) F(H5Tset_cset) F(H5Tset_ebias) F(H5Tset_fields) \
  F(H5Tset_size) F(H5Tset_tag) F(H5Tvlen_create) F(H5Zfilter_avail) F(H5Zregister)
#define TD_HDF5_CONSTANTS(F) \
  F(H5T_C_S1_g) F(H5T_NATIVE_INT8_g) F(H5T_NATIVE_INT16_g) F(H5T_NATIVE_INT32_g) F(H5T_NATIVE_INT64_g) \
  F(H5T_NATIVE_UINT8_g) F(H5T_NATIVE_UINT16_g) F(H5T_NATIVE_UINT32_g) F(H5T_NATIVE_UINT64_g) \
  F(H5T_NATIVE_FLOAT_g) F(H5T_NATIVE_DOUBLE_g) F(H5P_CLS_LINK_ACCESS_ID_g) F(H5P_CLS_LINK_CREATE_ID_g) \
  F(H5P_CLS_FILE_ACCESS_ID_g) F(H5P_CLS_DATASET_ACCESS_ID_g) F(H5P_CLS_DATASET_CREATE_ID_g) \
  F(H5P_CLS_DATASET_XFER_ID_g) F(H5P_CLS_GROUP_ACCESS_ID_g) F(H5E_RESOURCE_g)
// clang-format on

#if H5_VERSION_GE(1, 10, 7)
#define TD_HDF5_NEWER(F) F(H5Pset_file_locking) F(H5Dget_num_chunks) F(H5Dget_chunk_info)
#else
#define TD_HDF5_NEWER(F)
#endif

namespace td::hdf5 {

// Declares the functions in this namespace. A name may be a macro for a version of a function.
#define TD_HDF5_DECLARE(name) extern decltype(&::name) name;
TD_HDF5_FUNCTIONS(TD_HDF5_DECLARE)
TD_HDF5_NEWER(TD_HDF5_DECLARE)
#undef TD_HDF5_DECLARE

// A constant that the library sets when it starts.
struct Constant {
  const hid_t* at = nullptr;
  operator hid_t() const noexcept { return *at; }  // NOLINT: implicit by design
};
#define TD_HDF5_DECLARE(name) extern Constant name;
TD_HDF5_CONSTANTS(TD_HDF5_DECLARE)
#undef TD_HDF5_DECLARE

}  // namespace td::hdf5

#endif  // TD_HDF5_LIBRARY
