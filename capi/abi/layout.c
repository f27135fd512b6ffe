/* What a compiled client has built in: every number, size and offset. Compiles, or the ABI has broken.
 *
 * Kept by hand. A line may be added with a declaration; none may change after a release. Sizes are
 * those of platforms with 64-bit pointers. */
#include "tensordict/td.h"

/* A static assertion that C99 has too. */
#define TD_LAYOUT(name, condition) typedef char td_layout_##name[(condition) ? 1 : -1]
#define TD_SIZE(type, bytes) TD_LAYOUT(type##_size, sizeof(type) == (bytes))
#define TD_OFFSET(type, member, bytes) TD_LAYOUT(type##_##member, offsetof(type, member) == (bytes))
#define TD_NUMBER(name, value) TD_LAYOUT(name, (name) == (value))

/* The number of a type is signed or unsigned for ever. */
#define TD_SIGNED(type) TD_LAYOUT(type##_sign, (type)-1 < 0)
#define TD_UNSIGNED(type) TD_LAYOUT(type##_sign, (type)-1 > 0)

TD_SIZE(td_status, 4);
TD_SIGNED(td_status);
TD_NUMBER(TD_OK, 0);
TD_NUMBER(TD_ERR_NULL_ARGUMENT, -1);
TD_NUMBER(TD_ERR_BAD_HANDLE, -2);
TD_NUMBER(TD_ERR_INVALID_ARGUMENT, -3);
TD_NUMBER(TD_ERR_BUFFER_TOO_SMALL, -4);
TD_NUMBER(TD_ERR_KEY_NOT_FOUND, -10);
TD_NUMBER(TD_ERR_KEY_INVALID, -11);
TD_NUMBER(TD_ERR_KEY_EXISTS, -12);
TD_NUMBER(TD_ERR_WRONG_ENTRY, -13);
TD_NUMBER(TD_ERR_LOCKED, -14);
TD_NUMBER(TD_ERR_CYCLE, -15);
TD_NUMBER(TD_ERR_SHAPE, -20);
TD_NUMBER(TD_ERR_INDEX, -21);
TD_NUMBER(TD_ERR_DTYPE, -22);
TD_NUMBER(TD_ERR_DEVICE, -23);
TD_NUMBER(TD_ERR_IO, -30);
TD_NUMBER(TD_ERR_FORMAT, -31);
TD_NUMBER(TD_ERR_OUT_OF_MEMORY, -40);
TD_NUMBER(TD_ERR_DEVICE_OUT_OF_MEMORY, -41);
TD_NUMBER(TD_ERR_CAPACITY, -42);
TD_NUMBER(TD_ERR_UNSUPPORTED, -50);
TD_NUMBER(TD_ERR_VERSION, -51);
TD_NUMBER(TD_ERR_CALLBACK, -60);
TD_NUMBER(TD_ERR_TORCH, -70);
TD_NUMBER(TD_ERR_INTERNAL, -99);

TD_SIZE(td_log_level, 4);
TD_SIGNED(td_log_level);
TD_NUMBER(TD_LOG_DEBUG, 1);
TD_NUMBER(TD_LOG_INFO, 2);
TD_NUMBER(TD_LOG_WARNING, 3);

TD_SIZE(td_dtype, 4);
TD_SIGNED(td_dtype);
TD_NUMBER(TD_DTYPE_OTHER, 0);
TD_NUMBER(TD_DTYPE_UINT8, 1);
TD_NUMBER(TD_DTYPE_INT8, 2);
TD_NUMBER(TD_DTYPE_INT16, 3);
TD_NUMBER(TD_DTYPE_INT32, 4);
TD_NUMBER(TD_DTYPE_INT64, 5);
TD_NUMBER(TD_DTYPE_FLOAT16, 6);
TD_NUMBER(TD_DTYPE_FLOAT32, 7);
TD_NUMBER(TD_DTYPE_FLOAT64, 8);
TD_NUMBER(TD_DTYPE_COMPLEX32, 9);
TD_NUMBER(TD_DTYPE_COMPLEX64, 10);
TD_NUMBER(TD_DTYPE_COMPLEX128, 11);
TD_NUMBER(TD_DTYPE_BOOL, 12);
TD_NUMBER(TD_DTYPE_BFLOAT16, 13);
TD_NUMBER(TD_DTYPE_UINT16, 14);
TD_NUMBER(TD_DTYPE_UINT32, 15);
TD_NUMBER(TD_DTYPE_UINT64, 16);

TD_SIZE(td_device_type, 4);
TD_SIGNED(td_device_type);
TD_NUMBER(TD_DEVICE_NONE, 0);
TD_NUMBER(TD_DEVICE_CPU, 1);
TD_NUMBER(TD_DEVICE_CUDA, 2);
TD_NUMBER(TD_DEVICE_MPS, 8);
TD_NUMBER(TD_DEVICE_XPU, 14);
TD_NUMBER(TD_DEVICE_META, 1000);

TD_SIZE(td_entry_kind, 4);
TD_SIGNED(td_entry_kind);
TD_NUMBER(TD_ENTRY_NONE, 0);
TD_NUMBER(TD_ENTRY_TENSOR, 1);
TD_NUMBER(TD_ENTRY_DICT, 2);
TD_NUMBER(TD_ENTRY_DATA, 3);

TD_SIZE(td_index_kind, 4);
TD_SIGNED(td_index_kind);
TD_NUMBER(TD_INDEX_INT, 1);
TD_NUMBER(TD_INDEX_SLICE, 2);
TD_NUMBER(TD_INDEX_ELLIPSIS, 3);
TD_NUMBER(TD_INDEX_NONE, 4);
TD_NUMBER(TD_INDEX_TENSOR, 5);
TD_NUMBER(TD_INDEX_BOOL, 6);

TD_SIZE(td_index_flags, 4);
TD_UNSIGNED(td_index_flags);
TD_NUMBER(TD_INDEX_HAS_START, 1);
TD_NUMBER(TD_INDEX_HAS_STOP, 2);
TD_NUMBER(TD_INDEX_HAS_STEP, 4);

TD_SIZE(td_filter_empty, 4);
TD_SIGNED(td_filter_empty);
TD_NUMBER(TD_FILTER_EMPTY_DEFAULT, 0);
TD_NUMBER(TD_FILTER_EMPTY_YES, 1);
TD_NUMBER(TD_FILTER_EMPTY_NO, 2);

TD_SIZE(td_keys_options, 16);
TD_OFFSET(td_keys_options, struct_size, 0);
TD_OFFSET(td_keys_options, include_nested, 4);
TD_OFFSET(td_keys_options, leaves_only, 8);
TD_OFFSET(td_keys_options, sort, 12);

TD_SIZE(td_index_item, 64);
TD_OFFSET(td_index_item, kind, 0);
TD_OFFSET(td_index_item, flags, 4);
TD_OFFSET(td_index_item, start, 8);
TD_OFFSET(td_index_item, stop, 16);
TD_OFFSET(td_index_item, step, 24);
TD_OFFSET(td_index_item, tensor, 32);
TD_OFFSET(td_index_item, reserved, 40);

TD_SIZE(td_to_options, 8);
TD_OFFSET(td_to_options, struct_size, 0);
TD_OFFSET(td_to_options, non_blocking, 4);

TD_SIZE(td_memmap_options, 20);
TD_OFFSET(td_memmap_options, struct_size, 0);
TD_OFFSET(td_memmap_options, num_threads, 4);
TD_OFFSET(td_memmap_options, copy_existing, 8);
TD_OFFSET(td_memmap_options, fail_if_exists, 12);
TD_OFFSET(td_memmap_options, verbatim_names, 16);

TD_SIZE(td_load_options, 28);
TD_OFFSET(td_load_options, struct_size, 0);
TD_OFFSET(td_load_options, device_type, 4);
TD_OFFSET(td_load_options, device_index, 8);
TD_OFFSET(td_load_options, private_mapping, 12);
TD_OFFSET(td_load_options, verbatim_names, 16);
TD_OFFSET(td_load_options, max_depth, 20);
TD_OFFSET(td_load_options, max_entries, 24);

TD_SIZE(td_apply_options, 16);
TD_OFFSET(td_apply_options, struct_size, 0);
TD_OFFSET(td_apply_options, inplace, 4);
TD_OFFSET(td_apply_options, filter_empty, 8);
TD_OFFSET(td_apply_options, propagate_lock, 12);

TD_SIZE(td_writer_options, 24);
TD_OFFSET(td_writer_options, struct_size, 0);
TD_OFFSET(td_writer_options, reserved, 4);
TD_OFFSET(td_writer_options, first_row, 8);
TD_OFFSET(td_writer_options, capacity, 16);

TD_SIZE(td_field_kind, 4);
TD_SIGNED(td_field_kind);
TD_NUMBER(TD_FIELD_TENSOR, 0);
TD_NUMBER(TD_FIELD_DICT, 1);
TD_NUMBER(TD_FIELD_VALUE, 2);
TD_NUMBER(TD_FIELD_RECORD, 3);

TD_SIZE(td_field_flags, 4);
TD_UNSIGNED(td_field_flags);
TD_NUMBER(TD_FIELD_OPTIONAL, 1);
TD_NUMBER(TD_FIELD_HAS_FEATURE, 2);
TD_NUMBER(TD_FIELD_HAS_DEFAULT, 4);

TD_SIZE(td_record_flags, 4);
TD_UNSIGNED(td_record_flags);
TD_NUMBER(TD_RECORD_AUTOCAST, 1);
TD_NUMBER(TD_RECORD_FROZEN, 2);

TD_SIZE(td_field, 96);
TD_OFFSET(td_field, name, 0);
TD_OFFSET(td_field, kind, 8);
TD_OFFSET(td_field, dtype, 12);
TD_OFFSET(td_field, flags, 16);
TD_OFFSET(td_field, feature_dims, 20);
TD_OFFSET(td_field, feature, 24);
TD_OFFSET(td_field, default_tensor, 32);
TD_OFFSET(td_field, default_json, 40);
TD_OFFSET(td_field, record, 48);
TD_OFFSET(td_field, reserved, 56);

TD_SIZE(td_record_options, 16);
TD_OFFSET(td_record_options, struct_size, 0);
TD_OFFSET(td_record_options, flags, 4);
TD_OFFSET(td_record_options, base, 8);
