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
TD_NUMBER(TD_ERR_BUSY, -32);
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
TD_NUMBER(TD_ENTRY_NON_TENSOR, 3);
TD_NUMBER(TD_ENTRY_NESTED_TENSOR, 4);

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

TD_SIZE(td_keys_options, 40);
TD_OFFSET(td_keys_options, struct_size, 0);
TD_OFFSET(td_keys_options, include_nested, 4);
TD_OFFSET(td_keys_options, leaves_only, 8);
TD_OFFSET(td_keys_options, sort, 12);
TD_OFFSET(td_keys_options, include_non_tensor, 16);
TD_OFFSET(td_keys_options, contents_first, 20);
TD_OFFSET(td_keys_options, is_leaf, 24);
TD_OFFSET(td_keys_options, user, 32);

TD_SIZE(td_index_item, 64);
TD_OFFSET(td_index_item, kind, 0);
TD_OFFSET(td_index_item, flags, 4);
TD_OFFSET(td_index_item, start, 8);
TD_OFFSET(td_index_item, stop, 16);
TD_OFFSET(td_index_item, step, 24);
TD_OFFSET(td_index_item, tensor, 32);
TD_OFFSET(td_index_item, reserved, 40);

TD_SIZE(td_to_options, 16);
TD_OFFSET(td_to_options, struct_size, 0);
TD_OFFSET(td_to_options, non_blocking, 4);
TD_OFFSET(td_to_options, pin_memory, 8);
TD_OFFSET(td_to_options, each_like, 12);

TD_SIZE(td_archive, 4);
TD_SIGNED(td_archive);
TD_NUMBER(TD_ARCHIVE_BY_NAME, 0);
TD_NUMBER(TD_ARCHIVE_YES, 1);
TD_NUMBER(TD_ARCHIVE_NO, 2);

TD_SIZE(td_compression, 4);
TD_SIGNED(td_compression);
TD_NUMBER(TD_COMPRESSION_STORED, 0);
TD_NUMBER(TD_COMPRESSION_DEFLATE, 1);

TD_SIZE(td_memmap_pack_options, 16);
TD_OFFSET(td_memmap_pack_options, struct_size, 0);
TD_OFFSET(td_memmap_pack_options, compression, 4);
TD_OFFSET(td_memmap_pack_options, fail_if_exists, 8);
TD_OFFSET(td_memmap_pack_options, durable, 12);

TD_SIZE(td_memmap_options, 40);
TD_OFFSET(td_memmap_options, struct_size, 0);
TD_OFFSET(td_memmap_options, num_threads, 4);
TD_OFFSET(td_memmap_options, copy_existing, 8);
TD_OFFSET(td_memmap_options, fail_if_exists, 12);
TD_OFFSET(td_memmap_options, verbatim_names, 16);
TD_OFFSET(td_memmap_options, archive, 20);
TD_OFFSET(td_memmap_options, compression, 24);
TD_OFFSET(td_memmap_options, dense_sub_tensordicts, 28);
TD_OFFSET(td_memmap_options, durable, 32);
TD_OFFSET(td_memmap_options, checksums, 36);

TD_SIZE(td_damage_kind, 4);
TD_SIGNED(td_damage_kind);
TD_NUMBER(TD_DAMAGE_MISSING, 1);
TD_NUMBER(TD_DAMAGE_SHORT, 2);
TD_NUMBER(TD_DAMAGE_CHANGED, 3);
TD_NUMBER(TD_DAMAGE_NOT_COVERED, 4);
TD_NUMBER(TD_DAMAGE_FORMAT, 5);
TD_NUMBER(TD_DAMAGE_REFUSED, 6);
TD_NUMBER(TD_DAMAGE_UNREADABLE, 7);

TD_SIZE(td_damage, 40);
TD_OFFSET(td_damage, struct_size, 0);
TD_OFFSET(td_damage, kind, 4);
TD_OFFSET(td_damage, path, 8);
TD_OFFSET(td_damage, message, 16);
TD_OFFSET(td_damage, expected, 24);
TD_OFFSET(td_damage, found, 32);

TD_SIZE(td_verify_options, 40);
TD_OFFSET(td_verify_options, struct_size, 0);
TD_OFFSET(td_verify_options, num_threads, 4);
TD_OFFSET(td_verify_options, damage, 8);
TD_OFFSET(td_verify_options, user, 16);
TD_OFFSET(td_verify_options, progress, 24);
TD_OFFSET(td_verify_options, progress_user, 32);

TD_SIZE(td_load_options, 48);
TD_OFFSET(td_load_options, struct_size, 0);
TD_OFFSET(td_load_options, device_type, 4);
TD_OFFSET(td_load_options, device_index, 8);
TD_OFFSET(td_load_options, private_mapping, 12);
TD_OFFSET(td_load_options, verbatim_names, 16);
TD_OFFSET(td_load_options, max_depth, 20);
TD_OFFSET(td_load_options, max_entries, 24);
TD_OFFSET(td_load_options, write_through, 28);
TD_OFFSET(td_load_options, subpath, 32);
TD_OFFSET(td_load_options, subpath_len, 40);

TD_SIZE(td_apply_options, 80);
TD_OFFSET(td_apply_options, struct_size, 0);
TD_OFFSET(td_apply_options, filter_empty, 4);
TD_OFFSET(td_apply_options, propagate_lock, 8);
TD_OFFSET(td_apply_options, call_on_nested, 12);
TD_OFFSET(td_apply_options, fill_missing, 16);
TD_OFFSET(td_apply_options, has_batch_size, 20);
TD_OFFSET(td_apply_options, device_type, 24);
TD_OFFSET(td_apply_options, device_index, 28);
TD_OFFSET(td_apply_options, batch_size, 32);
TD_OFFSET(td_apply_options, batch_dims, 40);
TD_OFFSET(td_apply_options, names, 48);
TD_OFFSET(td_apply_options, names_len, 56);
TD_OFFSET(td_apply_options, default_value, 64);
TD_OFFSET(td_apply_options, out, 72);

TD_SIZE(td_apply_entry, 48);
TD_OFFSET(td_apply_entry, struct_size, 0);
TD_OFFSET(td_apply_entry, kind, 4);
TD_OFFSET(td_apply_entry, path, 8);
TD_OFFSET(td_apply_entry, path_len, 16);
TD_OFFSET(td_apply_entry, tensors, 24);
TD_OFFSET(td_apply_entry, dicts, 32);
TD_OFFSET(td_apply_entry, sources_len, 40);

TD_SIZE(td_map_cut, 4);
TD_SIGNED(td_map_cut);
TD_NUMBER(TD_MAP_CUT_PER_WORKER, 0);
TD_NUMBER(TD_MAP_CUT_SIZE, 1);
TD_NUMBER(TD_MAP_CUT_COUNT, 2);
TD_NUMBER(TD_MAP_CUT_ELEMENTS, 3);

TD_SIZE(td_map_piece, 48);
TD_OFFSET(td_map_piece, struct_size, 0);
TD_OFFSET(td_map_piece, worker, 4);
TD_OFFSET(td_map_piece, number, 8);
TD_OFFSET(td_map_piece, count, 16);
TD_OFFSET(td_map_piece, first, 24);
TD_OFFSET(td_map_piece, length, 32);
TD_OFFSET(td_map_piece, seed, 40);

TD_SIZE(td_map_options, 80);
TD_OFFSET(td_map_options, struct_size, 0);
TD_OFFSET(td_map_options, cut, 4);
TD_OFFSET(td_map_options, dim, 8);
TD_OFFSET(td_map_options, amount, 16);
TD_OFFSET(td_map_options, num_workers, 24);
TD_OFFSET(td_map_options, worker_threads, 28);
TD_OFFSET(td_map_options, seed, 32);
TD_OFFSET(td_map_options, shuffle, 40);
TD_OFFSET(td_map_options, reserved, 44);
TD_OFFSET(td_map_options, ahead, 48);
TD_OFFSET(td_map_options, out, 56);
TD_OFFSET(td_map_options, progress, 64);
TD_OFFSET(td_map_options, progress_user, 72);

TD_SIZE(td_writer_options, 24);
TD_OFFSET(td_writer_options, struct_size, 0);
TD_OFFSET(td_writer_options, reserved, 4);
TD_OFFSET(td_writer_options, first_row, 8);
TD_OFFSET(td_writer_options, capacity, 16);

TD_SIZE(td_shard, 4);
TD_SIGNED(td_shard);
TD_NUMBER(TD_SHARD_NONE, 0);
TD_NUMBER(TD_SHARD_NEW, 1);
TD_NUMBER(TD_SHARD_ANY, 2);

TD_SIZE(td_append_options, 48);
TD_OFFSET(td_append_options, struct_size, 0);
TD_OFFSET(td_append_options, durable, 4);
TD_OFFSET(td_append_options, checksums, 8);
TD_OFFSET(td_append_options, shard, 12);
TD_OFFSET(td_append_options, publish_rows, 16);
TD_OFFSET(td_append_options, publish_bytes, 24);
TD_OFFSET(td_append_options, buffer_bytes, 32);
TD_OFFSET(td_append_options, background, 40);
TD_OFFSET(td_append_options, meta_ms, 44);

TD_SIZE(td_field_kind, 4);
TD_SIGNED(td_field_kind);
TD_NUMBER(TD_FIELD_TENSOR, 0);
TD_NUMBER(TD_FIELD_DICT, 1);
TD_NUMBER(TD_FIELD_NON_TENSOR, 2);
TD_NUMBER(TD_FIELD_TENSORCLASS, 3);

TD_SIZE(td_field_flags, 4);
TD_UNSIGNED(td_field_flags);
TD_NUMBER(TD_FIELD_OPTIONAL, 1);
TD_NUMBER(TD_FIELD_HAS_FEATURE, 2);
TD_NUMBER(TD_FIELD_HAS_DEFAULT, 4);

TD_SIZE(td_tensorclass_flags, 4);
TD_UNSIGNED(td_tensorclass_flags);
TD_NUMBER(TD_TENSORCLASS_AUTOCAST, 1);
TD_NUMBER(TD_TENSORCLASS_FROZEN, 2);

TD_SIZE(td_field, 96);
TD_OFFSET(td_field, name, 0);
TD_OFFSET(td_field, kind, 8);
TD_OFFSET(td_field, dtype, 12);
TD_OFFSET(td_field, flags, 16);
TD_OFFSET(td_field, feature_dims, 20);
TD_OFFSET(td_field, feature, 24);
TD_OFFSET(td_field, default_tensor, 32);
TD_OFFSET(td_field, default_json, 40);
TD_OFFSET(td_field, tensorclass, 48);
TD_OFFSET(td_field, reserved, 56);

TD_SIZE(td_tensorclass_options, 16);
TD_OFFSET(td_tensorclass_options, struct_size, 0);
TD_OFFSET(td_tensorclass_options, flags, 4);
TD_OFFSET(td_tensorclass_options, base, 8);

TD_SIZE(td_argument_kind, 4);
TD_SIGNED(td_argument_kind);
TD_NUMBER(TD_ARGUMENT_LEAF, 1);
TD_NUMBER(TD_ARGUMENT_DICT, 2);
TD_NUMBER(TD_ARGUMENT_TENSOR, 3);
TD_NUMBER(TD_ARGUMENT_INT, 4);
TD_NUMBER(TD_ARGUMENT_DOUBLE, 5);
TD_NUMBER(TD_ARGUMENT_BOOL, 6);
TD_NUMBER(TD_ARGUMENT_NONE, 7);
TD_NUMBER(TD_ARGUMENT_TEXT, 8);
TD_NUMBER(TD_ARGUMENT_DTYPE, 9);
TD_NUMBER(TD_ARGUMENT_DEVICE, 10);
TD_NUMBER(TD_ARGUMENT_INTS, 11);
TD_NUMBER(TD_ARGUMENT_DOUBLES, 12);
TD_NUMBER(TD_ARGUMENT_BOOLS, 13);

TD_SIZE(td_call_argument, 96);
TD_OFFSET(td_call_argument, kind, 0);
TD_OFFSET(td_call_argument, device_index, 4);
TD_OFFSET(td_call_argument, name, 8);
TD_OFFSET(td_call_argument, integer, 16);
TD_OFFSET(td_call_argument, real, 24);
TD_OFFSET(td_call_argument, text, 32);
TD_OFFSET(td_call_argument, tensor, 40);
TD_OFFSET(td_call_argument, dict, 48);
TD_OFFSET(td_call_argument, integers, 56);
TD_OFFSET(td_call_argument, reals, 64);
TD_OFFSET(td_call_argument, count, 72);
TD_OFFSET(td_call_argument, reserved, 80);

TD_SIZE(td_call_options, 24);
TD_OFFSET(td_call_options, struct_size, 0);
TD_OFFSET(td_call_options, has_batch_size, 4);
TD_OFFSET(td_call_options, batch_size, 8);
TD_OFFSET(td_call_options, batch_dims, 16);

TD_SIZE(td_measure_kind, 4);
TD_SIGNED(td_measure_kind);
TD_NUMBER(TD_MEASURE_ELEMENTS, 0);
TD_NUMBER(TD_MEASURE_ELEMENTS_ONCE, 1);
TD_NUMBER(TD_MEASURE_BYTES, 2);
TD_NUMBER(TD_MEASURE_BYTES_ONCE, 3);
TD_NUMBER(TD_MEASURE_DTYPE, 4);
TD_NUMBER(TD_MEASURE_IS_FLOATING_POINT, 5);
TD_NUMBER(TD_MEASURE_REQUIRES_GRAD, 6);
TD_NUMBER(TD_MEASURE_IS_PINNED, 7);

TD_SIZE(td_detach_kind, 4);
TD_SIGNED(td_detach_kind);
TD_NUMBER(TD_DETACH_HISTORY, 0);
TD_NUMBER(TD_DETACH_DATA, 1);

TD_SIZE(td_backward_options, 16);
TD_OFFSET(td_backward_options, struct_size, 0);
TD_OFFSET(td_backward_options, retain_graph, 4);
TD_OFFSET(td_backward_options, create_graph, 8);
TD_OFFSET(td_backward_options, reserved, 12);

TD_SIZE(td_state_dict_options, 16);
TD_OFFSET(td_state_dict_options, struct_size, 0);
TD_OFFSET(td_state_dict_options, nested, 4);
TD_OFFSET(td_state_dict_options, keep_vars, 8);
TD_OFFSET(td_state_dict_options, reserved, 12);

TD_SIZE(td_state_form, 4);
TD_SIGNED(td_state_form);
TD_NUMBER(TD_STATE_DETECT, 0);
TD_NUMBER(TD_STATE_FLAT, 1);
TD_NUMBER(TD_STATE_NESTED, 2);

TD_SIZE(td_load_state_dict_options, 16);
TD_OFFSET(td_load_state_dict_options, struct_size, 0);
TD_OFFSET(td_load_state_dict_options, partial, 4);
TD_OFFSET(td_load_state_dict_options, assign, 8);
TD_OFFSET(td_load_state_dict_options, form, 12);

TD_SIZE(td_schema_content, 4);
TD_SIGNED(td_schema_content);
TD_NUMBER(TD_SCHEMA_ZEROS, 0);
TD_NUMBER(TD_SCHEMA_UNINITIALIZED, 1);
TD_NUMBER(TD_SCHEMA_META, 2);

TD_SIZE(td_schema_options, 16);
TD_OFFSET(td_schema_options, struct_size, 0);
TD_OFFSET(td_schema_options, content, 4);
TD_OFFSET(td_schema_options, device_type, 8);
TD_OFFSET(td_schema_options, device_index, 12);

TD_SIZE(td_member, 48);
TD_OFFSET(td_member, path, 0);
TD_OFFSET(td_member, path_len, 8);
TD_OFFSET(td_member, sizes, 16);
TD_OFFSET(td_member, dims, 24);
TD_OFFSET(td_member, offset, 32);
TD_OFFSET(td_member, dtype, 40);
TD_OFFSET(td_member, reserved, 44);

TD_SIZE(td_file_format, 4);
TD_SIGNED(td_file_format);
TD_NUMBER(TD_FILE_AUTO, 0);
TD_NUMBER(TD_FILE_SAFETENSORS, 1);
TD_NUMBER(TD_FILE_NPY, 2);
TD_NUMBER(TD_FILE_NPZ, 3);
TD_NUMBER(TD_FILE_PT, 4);
TD_NUMBER(TD_FILE_RAW, 5);
TD_NUMBER(TD_FILE_HDF5, 6);
TD_NUMBER(TD_FILE_PARQUET, 7);
TD_NUMBER(TD_FILE_ARROW, 8);

TD_SIZE(td_file_options, 80);
TD_OFFSET(td_file_options, struct_size, 0);
TD_OFFSET(td_file_options, format, 4);
TD_OFFSET(td_file_options, separator, 8);
TD_OFFSET(td_file_options, batch_dims, 16);
TD_OFFSET(td_file_options, write_through, 20);
TD_OFFSET(td_file_options, deflate, 24);
TD_OFFSET(td_file_options, durable, 28);
TD_OFFSET(td_file_options, max_depth, 32);
TD_OFFSET(td_file_options, max_entries, 36);
TD_OFFSET(td_file_options, metadata, 40);
TD_OFFSET(td_file_options, members, 48);
TD_OFFSET(td_file_options, members_len, 56);
TD_OFFSET(td_file_options, item_bytes, 64);
TD_OFFSET(td_file_options, header_bytes, 72);

TD_SIZE(td_consolidate_options, 24);
TD_OFFSET(td_consolidate_options, struct_size, 0);
TD_OFFSET(td_consolidate_options, device_type, 4);
TD_OFFSET(td_consolidate_options, device_index, 8);
TD_OFFSET(td_consolidate_options, pin_memory, 12);
TD_OFFSET(td_consolidate_options, num_threads, 16);
TD_OFFSET(td_consolidate_options, durable, 20);

TD_SIZE(td_message_options, 24);
TD_OFFSET(td_message_options, struct_size, 0);
TD_OFFSET(td_message_options, max_depth, 4);
TD_OFFSET(td_message_options, max_entries, 8);
TD_OFFSET(td_message_options, timeout_ms, 12);
TD_OFFSET(td_message_options, max_bytes, 16);

TD_SIZE(td_dict_kind, 4);
TD_SIGNED(td_dict_kind);
TD_NUMBER(TD_DICT_DENSE, 1);
TD_NUMBER(TD_DICT_LAZY_STACK, 2);
TD_NUMBER(TD_DICT_SUB_TENSORDICT, 3);
TD_NUMBER(TD_DICT_NON_TENSOR, 4);
TD_NUMBER(TD_DICT_NESTED_TENSOR, 5);
TD_SIZE(td_padding_options, 24);
TD_OFFSET(td_padding_options, struct_size, 0);
TD_OFFSET(td_padding_options, pad, 4);
TD_OFFSET(td_padding_options, left, 8);
TD_OFFSET(td_padding_options, reserved, 12);
TD_OFFSET(td_padding_options, value, 16);

TD_SIZE(td_key, 16);
TD_OFFSET(td_key, path, 0);
TD_OFFSET(td_key, path_len, 8);

TD_SIZE(td_update_mode, 4);
TD_SIGNED(td_update_mode);
TD_NUMBER(TD_UPDATE_STORE, 0);
TD_NUMBER(TD_UPDATE_INPLACE, 1);
TD_NUMBER(TD_UPDATE_STRICT, 2);

TD_SIZE(td_update_options, 48);
TD_OFFSET(td_update_options, struct_size, 0);
TD_OFFSET(td_update_options, mode, 4);
TD_OFFSET(td_update_options, clone, 8);
TD_OFFSET(td_update_options, whole_dicts, 12);
TD_OFFSET(td_update_options, update_batch_size, 16);
TD_OFFSET(td_update_options, ignore_lock, 20);
TD_OFFSET(td_update_options, has_keys, 24);
TD_OFFSET(td_update_options, keys, 32);
TD_OFFSET(td_update_options, keys_len, 40);

TD_SIZE(td_select_options, 8);
TD_OFFSET(td_select_options, struct_size, 0);
TD_OFFSET(td_select_options, ignore_missing, 4);

TD_SIZE(td_key_set, 24);
TD_OFFSET(td_key_set, keys, 0);
TD_OFFSET(td_key_set, names, 8);
TD_OFFSET(td_key_set, keys_len, 16);

TD_SIZE(td_split_keys_options, 16);
TD_OFFSET(td_split_keys_options, struct_size, 0);
TD_OFFSET(td_split_keys_options, ignore_missing, 4);
TD_OFFSET(td_split_keys_options, keep_structure, 8);
TD_OFFSET(td_split_keys_options, keep_emptied, 12);

TD_SIZE(td_flatten_keys_options, 24);
TD_OFFSET(td_flatten_keys_options, struct_size, 0);
TD_OFFSET(td_flatten_keys_options, reserved, 4);
TD_OFFSET(td_flatten_keys_options, is_leaf, 8);
TD_OFFSET(td_flatten_keys_options, user, 16);

TD_SIZE(td_unary_op, 4);
TD_SIGNED(td_unary_op);
TD_NUMBER(TD_UNARY_ABS, 1);
TD_NUMBER(TD_UNARY_ACOS, 2);
TD_NUMBER(TD_UNARY_ASIN, 3);
TD_NUMBER(TD_UNARY_ATAN, 4);
TD_NUMBER(TD_UNARY_CEIL, 5);
TD_NUMBER(TD_UNARY_COS, 6);
TD_NUMBER(TD_UNARY_COSH, 7);
TD_NUMBER(TD_UNARY_ERF, 8);
TD_NUMBER(TD_UNARY_ERFC, 9);
TD_NUMBER(TD_UNARY_EXP, 10);
TD_NUMBER(TD_UNARY_EXPM1, 11);
TD_NUMBER(TD_UNARY_FLOOR, 12);
TD_NUMBER(TD_UNARY_FRAC, 13);
TD_NUMBER(TD_UNARY_LGAMMA, 14);
TD_NUMBER(TD_UNARY_LOG, 15);
TD_NUMBER(TD_UNARY_LOG10, 16);
TD_NUMBER(TD_UNARY_LOG1P, 17);
TD_NUMBER(TD_UNARY_LOG2, 18);
TD_NUMBER(TD_UNARY_NEG, 19);
TD_NUMBER(TD_UNARY_RECIPROCAL, 20);
TD_NUMBER(TD_UNARY_ROUND, 21);
TD_NUMBER(TD_UNARY_SIGMOID, 22);
TD_NUMBER(TD_UNARY_SIGN, 23);
TD_NUMBER(TD_UNARY_SIN, 24);
TD_NUMBER(TD_UNARY_SINH, 25);
TD_NUMBER(TD_UNARY_SQRT, 26);
TD_NUMBER(TD_UNARY_TAN, 27);
TD_NUMBER(TD_UNARY_TANH, 28);
TD_NUMBER(TD_UNARY_TRUNC, 29);
TD_NUMBER(TD_UNARY_BITWISE_NOT, 30);
TD_NUMBER(TD_UNARY_LOGICAL_NOT, 31);
TD_NUMBER(TD_UNARY_ISFINITE, 40);
TD_NUMBER(TD_UNARY_ISNAN, 41);
TD_NUMBER(TD_UNARY_ISNEGINF, 42);
TD_NUMBER(TD_UNARY_ISPOSINF, 43);
TD_NUMBER(TD_UNARY_ISREAL, 44);

TD_SIZE(td_binary_op, 4);
TD_SIGNED(td_binary_op);
TD_NUMBER(TD_BINARY_ADD, 1);
TD_NUMBER(TD_BINARY_SUB, 2);
TD_NUMBER(TD_BINARY_RSUB, 3);
TD_NUMBER(TD_BINARY_MUL, 4);
TD_NUMBER(TD_BINARY_DIV, 5);
TD_NUMBER(TD_BINARY_RDIV, 6);
TD_NUMBER(TD_BINARY_POW, 7);
TD_NUMBER(TD_BINARY_MOD, 8);
TD_NUMBER(TD_BINARY_MAXIMUM, 9);
TD_NUMBER(TD_BINARY_MINIMUM, 10);
TD_NUMBER(TD_BINARY_CLAMP_MAX, 11);
TD_NUMBER(TD_BINARY_CLAMP_MIN, 12);
TD_NUMBER(TD_BINARY_BITWISE_AND, 13);
TD_NUMBER(TD_BINARY_BITWISE_OR, 14);
TD_NUMBER(TD_BINARY_BITWISE_XOR, 15);
TD_NUMBER(TD_BINARY_LOGICAL_AND, 16);
TD_NUMBER(TD_BINARY_EQ, 40);
TD_NUMBER(TD_BINARY_NE, 41);
TD_NUMBER(TD_BINARY_LT, 42);
TD_NUMBER(TD_BINARY_LE, 43);
TD_NUMBER(TD_BINARY_GT, 44);
TD_NUMBER(TD_BINARY_GE, 45);

TD_SIZE(td_ternary_op, 4);
TD_SIGNED(td_ternary_op);
TD_NUMBER(TD_TERNARY_LERP, 1);
TD_NUMBER(TD_TERNARY_ADDCMUL, 2);
TD_NUMBER(TD_TERNARY_ADDCDIV, 3);
TD_NUMBER(TD_TERNARY_CLAMP, 4);

TD_SIZE(td_reduce_op, 4);
TD_SIGNED(td_reduce_op);
TD_NUMBER(TD_REDUCE_SUM, 1);
TD_NUMBER(TD_REDUCE_MEAN, 2);
TD_NUMBER(TD_REDUCE_PROD, 3);
TD_NUMBER(TD_REDUCE_STD, 4);
TD_NUMBER(TD_REDUCE_VAR, 5);
TD_NUMBER(TD_REDUCE_NANSUM, 6);
TD_NUMBER(TD_REDUCE_NANMEAN, 7);
TD_NUMBER(TD_REDUCE_MIN, 8);
TD_NUMBER(TD_REDUCE_MAX, 9);
TD_NUMBER(TD_REDUCE_AMIN, 10);
TD_NUMBER(TD_REDUCE_AMAX, 11);
TD_NUMBER(TD_REDUCE_ALL, 12);
TD_NUMBER(TD_REDUCE_ANY, 13);
TD_NUMBER(TD_REDUCE_QUANTILE, 14);
TD_NUMBER(TD_REDUCE_NORM, 15);
TD_NUMBER(TD_REDUCE_LOGSUMEXP, 16);
TD_NUMBER(TD_REDUCE_SOFTMAX, 17);
TD_NUMBER(TD_REDUCE_CUMMIN, 18);
TD_NUMBER(TD_REDUCE_CUMMAX, 19);

TD_SIZE(td_operand_kind, 4);
TD_SIGNED(td_operand_kind);
TD_NUMBER(TD_OPERAND_DICT, 1);
TD_NUMBER(TD_OPERAND_TENSOR, 2);
TD_NUMBER(TD_OPERAND_INT, 3);
TD_NUMBER(TD_OPERAND_DOUBLE, 4);
TD_NUMBER(TD_OPERAND_BOOL, 5);

TD_SIZE(td_missing, 4);
TD_SIGNED(td_missing);
TD_NUMBER(TD_MISSING_ERROR, 0);
TD_NUMBER(TD_MISSING_DEFAULT, 1);
TD_NUMBER(TD_MISSING_INTERSECT, 2);

TD_SIZE(td_reduce_over, 4);
TD_SIGNED(td_reduce_over);
TD_NUMBER(TD_REDUCE_OVER_ALL, 0);
TD_NUMBER(TD_REDUCE_OVER_DIMS, 1);
TD_NUMBER(TD_REDUCE_OVER_FEATURES, 2);

TD_SIZE(td_interpolation, 4);
TD_SIGNED(td_interpolation);
TD_NUMBER(TD_INTERPOLATION_LINEAR, 0);
TD_NUMBER(TD_INTERPOLATION_LOWER, 1);
TD_NUMBER(TD_INTERPOLATION_HIGHER, 2);
TD_NUMBER(TD_INTERPOLATION_MIDPOINT, 3);
TD_NUMBER(TD_INTERPOLATION_NEAREST, 4);

TD_SIZE(td_operand, 64);
TD_OFFSET(td_operand, kind, 0);
TD_OFFSET(td_operand, zero, 4);
TD_OFFSET(td_operand, integer, 8);
TD_OFFSET(td_operand, real, 16);
TD_OFFSET(td_operand, tensor, 24);
TD_OFFSET(td_operand, dict, 32);
TD_OFFSET(td_operand, reserved, 40);

TD_SIZE(td_binary_options, 24);
TD_OFFSET(td_binary_options, struct_size, 0);
TD_OFFSET(td_binary_options, missing, 4);
TD_OFFSET(td_binary_options, alpha, 8);
TD_OFFSET(td_binary_options, fallback, 16);

TD_SIZE(td_reduce_options, 56);
TD_OFFSET(td_reduce_options, struct_size, 0);
TD_OFFSET(td_reduce_options, over, 4);
TD_OFFSET(td_reduce_options, dims, 8);
TD_OFFSET(td_reduce_options, dims_len, 16);
TD_OFFSET(td_reduce_options, keepdim, 24);
TD_OFFSET(td_reduce_options, dtype, 28);
TD_OFFSET(td_reduce_options, correction, 32);
TD_OFFSET(td_reduce_options, q, 40);
TD_OFFSET(td_reduce_options, interpolation, 48);

TD_SIZE(td_split_kind, 4);
TD_SIGNED(td_split_kind);
TD_NUMBER(TD_SPLIT_LENGTH, 0);
TD_NUMBER(TD_SPLIT_LENGTHS, 1);
TD_NUMBER(TD_SPLIT_CHUNKS, 2);
TD_NUMBER(TD_SPLIT_PARTS, 3);
TD_NUMBER(TD_SPLIT_POSITIONS, 4);

TD_SIZE(td_join_kind, 4);
TD_SIGNED(td_join_kind);
TD_NUMBER(TD_JOIN_STACK, 0);
TD_NUMBER(TD_JOIN_CAT, 1);

TD_SIZE(td_pad_sequence_options, 40);
TD_OFFSET(td_pad_sequence_options, struct_size, 0);
TD_OFFSET(td_pad_sequence_options, reserved, 4);
TD_OFFSET(td_pad_sequence_options, dim, 8);
TD_OFFSET(td_pad_sequence_options, value, 16);
TD_OFFSET(td_pad_sequence_options, masks, 24);
TD_OFFSET(td_pad_sequence_options, masks_len, 32);

TD_SIZE(td_like_kind, 4);
TD_SIGNED(td_like_kind);
TD_NUMBER(TD_LIKE_EMPTY, 0);
TD_NUMBER(TD_LIKE_ZEROS, 1);
TD_NUMBER(TD_LIKE_ONES, 2);
TD_NUMBER(TD_LIKE_FULL, 3);
TD_NUMBER(TD_LIKE_RAND, 4);
TD_NUMBER(TD_LIKE_RANDN, 5);

TD_SIZE(td_like_options, 24);
TD_OFFSET(td_like_options, struct_size, 0);
TD_OFFSET(td_like_options, dtype, 4);
TD_OFFSET(td_like_options, device_type, 8);
TD_OFFSET(td_like_options, device_index, 12);
TD_OFFSET(td_like_options, value, 16);

TD_SIZE(td_allclose_options, 32);
TD_OFFSET(td_allclose_options, struct_size, 0);
TD_OFFSET(td_allclose_options, has_tolerance, 4);
TD_OFFSET(td_allclose_options, nan_differs, 8);
TD_OFFSET(td_allclose_options, common_keys, 12);
TD_OFFSET(td_allclose_options, relative, 16);
TD_OFFSET(td_allclose_options, absolute, 24);

TD_SIZE(td_table_format, 4);
TD_SIGNED(td_table_format);
TD_NUMBER(TD_TABLE_CSV, 0);
TD_NUMBER(TD_TABLE_JSON, 1);

TD_SIZE(td_table_flags, 4);
TD_UNSIGNED(td_table_flags);
TD_NUMBER(TD_TABLE_FLATTEN, 1);

TD_SIZE(td_table_options, 32);
TD_OFFSET(td_table_options, struct_size, 0);
TD_OFFSET(td_table_options, format, 4);
TD_OFFSET(td_table_options, separator, 8);
TD_OFFSET(td_table_options, max_depth, 16);
TD_OFFSET(td_table_options, max_entries, 20);
TD_OFFSET(td_table_options, flags, 24);

TD_SIZE(td_clone_flags, 4);
TD_UNSIGNED(td_clone_flags);
TD_NUMBER(TD_CLONE_SHALLOW, 1);

TD_SIZE(td_view_dtype_flags, 4);
TD_UNSIGNED(td_view_dtype_flags);
TD_NUMBER(TD_VIEW_DTYPE_HAS_SIZES, 1);

TD_SIZE(td_data_pointers_flags, 4);
TD_UNSIGNED(td_data_pointers_flags);
TD_NUMBER(TD_DATA_POINTERS_STORAGE, 1);

TD_SIZE(td_update_at_flags, 4);
TD_UNSIGNED(td_update_at_flags);
TD_NUMBER(TD_UPDATE_AT_EXACT, 1);

TD_SIZE(td_rename_key_flags, 4);
TD_UNSIGNED(td_rename_key_flags);
TD_NUMBER(TD_RENAME_KEY_SAFE, 1);

TD_SIZE(td_empty_like_flags, 4);
TD_UNSIGNED(td_empty_like_flags);
TD_NUMBER(TD_EMPTY_LIKE_RECURSE, 1);

TD_SIZE(td_auto_batch_size_flags, 4);
TD_UNSIGNED(td_auto_batch_size_flags);
TD_NUMBER(TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT, 1);

TD_SIZE(td_join_into_flags, 4);
TD_UNSIGNED(td_join_into_flags);
TD_NUMBER(TD_JOIN_INTO_STRICT, 1);

TD_SIZE(td_join_entries_flags, 4);
TD_UNSIGNED(td_join_entries_flags);
TD_NUMBER(TD_JOIN_ENTRIES_KEEP, 1);

TD_SIZE(td_join_tensors_flags, 4);
TD_UNSIGNED(td_join_tensors_flags);
TD_NUMBER(TD_JOIN_TENSORS_SORTED, 1);

TD_SIZE(td_repeat_flags, 4);
TD_UNSIGNED(td_repeat_flags);
TD_NUMBER(TD_REPEAT_TILE, 1);

TD_SIZE(td_zero_grad_flags, 4);
TD_UNSIGNED(td_zero_grad_flags);
TD_NUMBER(TD_ZERO_GRAD_KEEP, 1);

TD_SIZE(td_module_load_flags, 4);
TD_UNSIGNED(td_module_load_flags);
TD_NUMBER(TD_MODULE_LOAD_FREEZE, 1);
TD_NUMBER(TD_MODULE_LOAD_OPTIMIZE, 2);

TD_SIZE(td_module_load_options, 64);
TD_OFFSET(td_module_load_options, struct_size, 0);
TD_OFFSET(td_module_load_options, flags, 4);
TD_OFFSET(td_module_load_options, device_type, 8);
TD_OFFSET(td_module_load_options, device_index, 12);
TD_OFFSET(td_module_load_options, dtype, 16);
TD_OFFSET(td_module_load_options, reserved, 20);
TD_OFFSET(td_module_load_options, in_keys, 24);
TD_OFFSET(td_module_load_options, in_keys_len, 32);
TD_OFFSET(td_module_load_options, out_keys, 40);
TD_OFFSET(td_module_load_options, out_keys_len, 48);
TD_OFFSET(td_module_load_options, sha256, 56);

TD_SIZE(td_module_function_flags, 4);
TD_UNSIGNED(td_module_function_flags);
TD_NUMBER(TD_MODULE_FUNCTION_STRICT, 1);

TD_SIZE(td_module_function_options, 40);
TD_OFFSET(td_module_function_options, struct_size, 0);
TD_OFFSET(td_module_function_options, flags, 4);
TD_OFFSET(td_module_function_options, in_keys, 8);
TD_OFFSET(td_module_function_options, in_keys_len, 16);
TD_OFFSET(td_module_function_options, out_keys, 24);
TD_OFFSET(td_module_function_options, out_keys_len, 32);

TD_SIZE(td_module_sequence_flags, 4);
TD_UNSIGNED(td_module_sequence_flags);
TD_NUMBER(TD_MODULE_SEQUENCE_PARTIAL_TOLERANT, 1);

TD_SIZE(td_module_sequence_options, 8);
TD_OFFSET(td_module_sequence_options, struct_size, 0);
TD_OFFSET(td_module_sequence_options, flags, 4);

TD_SIZE(td_interaction_type, 4);
TD_SIGNED(td_interaction_type);
TD_NUMBER(TD_INTERACTION_DEFAULT, 0);
TD_NUMBER(TD_INTERACTION_MODE, 1);
TD_NUMBER(TD_INTERACTION_MEDIAN, 2);
TD_NUMBER(TD_INTERACTION_MEAN, 3);
TD_NUMBER(TD_INTERACTION_RANDOM, 4);
TD_NUMBER(TD_INTERACTION_DETERMINISTIC, 5);

TD_SIZE(td_module_call_flags, 4);
TD_UNSIGNED(td_module_call_flags);
TD_NUMBER(TD_MODULE_CALL_MAP_INPUT, 1);
TD_NUMBER(TD_MODULE_CALL_SKIP_EXISTING, 2);

TD_SIZE(td_module_output_kind, 4);
TD_SIGNED(td_module_output_kind);
TD_NUMBER(TD_MODULE_OUTPUT_LIKE_INPUT, 0);
TD_NUMBER(TD_MODULE_OUTPUT_PLAIN, 1);

TD_SIZE(td_module_call_options, 32);
TD_OFFSET(td_module_call_options, struct_size, 0);
TD_OFFSET(td_module_call_options, flags, 4);
TD_OFFSET(td_module_call_options, output, 8);
TD_OFFSET(td_module_call_options, interaction, 12);
TD_OFFSET(td_module_call_options, params, 16);
TD_OFFSET(td_module_call_options, out, 24);

TD_SIZE(td_distribution_kind, 4);
TD_SIGNED(td_distribution_kind);
TD_NUMBER(TD_DISTRIBUTION_NORMAL, 0);
TD_NUMBER(TD_DISTRIBUTION_INDEPENDENT_NORMAL, 1);
TD_NUMBER(TD_DISTRIBUTION_TANH_NORMAL, 2);
TD_NUMBER(TD_DISTRIBUTION_TRUNCATED_NORMAL, 3);
TD_NUMBER(TD_DISTRIBUTION_CATEGORICAL, 4);
TD_NUMBER(TD_DISTRIBUTION_ONE_HOT_CATEGORICAL, 5);
TD_NUMBER(TD_DISTRIBUTION_BERNOULLI, 6);
TD_NUMBER(TD_DISTRIBUTION_DELTA, 7);

TD_SIZE(td_distribution_flags, 4);
TD_UNSIGNED(td_distribution_flags);
TD_NUMBER(TD_DISTRIBUTION_TANH_LOC, 1);

TD_SIZE(td_distribution, 128);
TD_OFFSET(td_distribution, kind, 0);
TD_OFFSET(td_distribution, flags, 4);
TD_OFFSET(td_distribution, in_keys, 8);
TD_OFFSET(td_distribution, in_keys_len, 16);
TD_OFFSET(td_distribution, names, 24);
TD_OFFSET(td_distribution, names_len, 32);
TD_OFFSET(td_distribution, out_key, 40);
TD_OFFSET(td_distribution, log_prob_key, 48);
TD_OFFSET(td_distribution, low, 56);
TD_OFFSET(td_distribution, high, 64);
TD_OFFSET(td_distribution, upscale, 72);
TD_OFFSET(td_distribution, reserved, 80);

TD_SIZE(td_module_probabilistic_flags, 4);
TD_UNSIGNED(td_module_probabilistic_flags);
TD_NUMBER(TD_MODULE_PROBABILISTIC_LOG_PROB, 1);
TD_NUMBER(TD_MODULE_PROBABILISTIC_SEED, 2);

TD_SIZE(td_module_probabilistic_options, 40);
TD_OFFSET(td_module_probabilistic_options, struct_size, 0);
TD_OFFSET(td_module_probabilistic_options, flags, 4);
TD_OFFSET(td_module_probabilistic_options, interaction, 8);
TD_OFFSET(td_module_probabilistic_options, reserved, 12);
TD_OFFSET(td_module_probabilistic_options, num_samples, 16);
TD_OFFSET(td_module_probabilistic_options, seed, 24);
TD_OFFSET(td_module_probabilistic_options, seed_key, 32);

TD_SIZE(td_module_normal_params_options, 40);
TD_OFFSET(td_module_normal_params_options, struct_size, 0);
TD_OFFSET(td_module_normal_params_options, reserved, 4);
TD_OFFSET(td_module_normal_params_options, scale_mapping, 8);
TD_OFFSET(td_module_normal_params_options, scale_lb, 16);
TD_OFFSET(td_module_normal_params_options, loc_key, 24);
TD_OFFSET(td_module_normal_params_options, scale_key, 32);

TD_SIZE(td_optimizer_kind, 4);
TD_SIGNED(td_optimizer_kind);
TD_NUMBER(TD_OPTIMIZER_SGD, 0);
TD_NUMBER(TD_OPTIMIZER_ADAM, 1);
TD_NUMBER(TD_OPTIMIZER_ADAMW, 2);

TD_SIZE(td_optimizer_flags, 4);
TD_UNSIGNED(td_optimizer_flags);
TD_NUMBER(TD_OPTIMIZER_NESTEROV, 1);
TD_NUMBER(TD_OPTIMIZER_AMSGRAD, 2);

TD_SIZE(td_optimizer_options, 64);
TD_OFFSET(td_optimizer_options, struct_size, 0);
TD_OFFSET(td_optimizer_options, flags, 4);
TD_OFFSET(td_optimizer_options, lr, 8);
TD_OFFSET(td_optimizer_options, weight_decay, 16);
TD_OFFSET(td_optimizer_options, momentum, 24);
TD_OFFSET(td_optimizer_options, dampening, 32);
TD_OFFSET(td_optimizer_options, beta1, 40);
TD_OFFSET(td_optimizer_options, beta2, 48);
TD_OFFSET(td_optimizer_options, eps, 56);

TD_SIZE(td_loader_flags, 4);
TD_UNSIGNED(td_loader_flags);
TD_NUMBER(TD_LOADER_SHUFFLE, 1);
TD_NUMBER(TD_LOADER_REPLACEMENT, 2);
TD_NUMBER(TD_LOADER_DROP_LAST, 4);
TD_NUMBER(TD_LOADER_FLAT, 8);
TD_NUMBER(TD_LOADER_REFRESH, 16);
TD_NUMBER(TD_LOADER_CONCATENATE, 32);
TD_NUMBER(TD_LOADER_SHORT, 64);
TD_NUMBER(TD_LOADER_PIN_MEMORY, 128);

TD_SIZE(td_loader_options, 160);
TD_OFFSET(td_loader_options, struct_size, 0);
TD_OFFSET(td_loader_options, flags, 4);
TD_OFFSET(td_loader_options, rows, 8);
TD_OFFSET(td_loader_options, seed, 16);
TD_OFFSET(td_loader_options, epochs, 24);
TD_OFFSET(td_loader_options, draws, 32);
TD_OFFSET(td_loader_options, num_workers, 40);
TD_OFFSET(td_loader_options, ahead, 44);
TD_OFFSET(td_loader_options, rank, 48);
TD_OFFSET(td_loader_options, world_size, 56);
TD_OFFSET(td_loader_options, keys, 64);
TD_OFFSET(td_loader_options, keys_len, 72);
TD_OFFSET(td_loader_options, weights, 80);
TD_OFFSET(td_loader_options, device_type, 88);
TD_OFFSET(td_loader_options, device_index, 92);
TD_OFFSET(td_loader_options, slice_len, 96);
TD_OFFSET(td_loader_options, slice_step, 104);
TD_OFFSET(td_loader_options, episode, 112);
TD_OFFSET(td_loader_options, ends, 120);
TD_OFFSET(td_loader_options, ends_len, 128);
TD_OFFSET(td_loader_options, module, 136);
TD_OFFSET(td_loader_options, transform, 144);
TD_OFFSET(td_loader_options, transform_user, 152);

TD_SIZE(td_replay_sampler, 4);
TD_NUMBER(TD_REPLAY_SAMPLER_AS_STORED, 0);
TD_NUMBER(TD_REPLAY_SAMPLER_RANDOM, 1);
TD_NUMBER(TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT, 2);
TD_NUMBER(TD_REPLAY_SAMPLER_SLICES, 3);
TD_NUMBER(TD_REPLAY_SAMPLER_PRIORITIZED, 4);

TD_SIZE(td_replay_flags, 4);
TD_UNSIGNED(td_replay_flags);
TD_NUMBER(TD_REPLAY_DROP_LAST, 1);
TD_NUMBER(TD_REPLAY_IN_ORDER, 2);
TD_NUMBER(TD_REPLAY_SHORT, 4);
TD_NUMBER(TD_REPLAY_BATCH_WEIGHTS, 8);
TD_NUMBER(TD_REPLAY_SPAN_BEGIN, 16);
TD_NUMBER(TD_REPLAY_SPAN_END, 32);

TD_SIZE(td_replay_save_flags, 4);
TD_UNSIGNED(td_replay_save_flags);
TD_NUMBER(TD_REPLAY_SAVE_DURABLE, 1);

TD_SIZE(td_replay_options, 104);
TD_OFFSET(td_replay_options, struct_size, 0);
TD_OFFSET(td_replay_options, flags, 4);
TD_OFFSET(td_replay_options, capacity, 8);
TD_OFFSET(td_replay_options, rows, 16);
TD_OFFSET(td_replay_options, seed, 24);
TD_OFFSET(td_replay_options, alpha, 32);
TD_OFFSET(td_replay_options, beta, 40);
TD_OFFSET(td_replay_options, eps, 48);
TD_OFFSET(td_replay_options, slice_len, 56);
TD_OFFSET(td_replay_options, episode, 64);
TD_OFFSET(td_replay_options, ends, 72);
TD_OFFSET(td_replay_options, ends_len, 80);
TD_OFFSET(td_replay_options, folder, 88);
TD_OFFSET(td_replay_options, sampler, 96);
TD_OFFSET(td_replay_options, reserved, 100);

TD_SIZE(td_hdf5_flags, 4);
TD_UNSIGNED(td_hdf5_flags);
TD_NUMBER(TD_HDF5_ATTRIBUTES, 1);
TD_NUMBER(TD_HDF5_SKIP, 2);
TD_NUMBER(TD_HDF5_STACK, 4);

TD_SIZE(td_hdf5_save_flags, 4);
TD_UNSIGNED(td_hdf5_save_flags);
TD_NUMBER(TD_HDF5_SAVE_STACK, 1);
TD_NUMBER(TD_HDF5_SAVE_DURABLE, 2);

TD_SIZE(td_hdf5_options, 56);
TD_OFFSET(td_hdf5_options, struct_size, 0);
TD_OFFSET(td_hdf5_options, flags, 4);
TD_OFFSET(td_hdf5_options, group, 8);
TD_OFFSET(td_hdf5_options, keys, 16);
TD_OFFSET(td_hdf5_options, keys_len, 24);
TD_OFFSET(td_hdf5_options, batch_dims, 32);
TD_OFFSET(td_hdf5_options, max_bytes, 40);
TD_OFFSET(td_hdf5_options, max_depth, 48);
TD_OFFSET(td_hdf5_options, max_entries, 52);

TD_SIZE(td_hdf5_save_options, 32);
TD_OFFSET(td_hdf5_save_options, struct_size, 0);
TD_OFFSET(td_hdf5_save_options, flags, 4);
TD_OFFSET(td_hdf5_save_options, group, 8);
TD_OFFSET(td_hdf5_save_options, deflate, 16);
TD_OFFSET(td_hdf5_save_options, chunk_rows, 24);

TD_SIZE(td_arrow_nulls_kind, 4);
TD_NUMBER(TD_ARROW_NULLS_REFUSE, 0);
TD_NUMBER(TD_ARROW_NULLS_NAN, 1);
TD_NUMBER(TD_ARROW_NULLS_MASK, 2);
TD_SIZE(td_from_arrow_flags, 4);
TD_NUMBER(TD_FROM_ARROW_COPY, 1);
TD_SIZE(td_to_arrow_flags, 4);
TD_NUMBER(TD_TO_ARROW_COMPLEX_PAIRS, 1);

TD_SIZE(td_from_arrow_options, 32);
TD_OFFSET(td_from_arrow_options, struct_size, 0);
TD_OFFSET(td_from_arrow_options, flags, 4);
TD_OFFSET(td_from_arrow_options, nulls, 8);
TD_OFFSET(td_from_arrow_options, max_depth, 12);
TD_OFFSET(td_from_arrow_options, max_entries, 16);
TD_OFFSET(td_from_arrow_options, reserved, 20);
TD_OFFSET(td_from_arrow_options, separator, 24);

TD_SIZE(td_to_arrow_options, 16);
TD_OFFSET(td_to_arrow_options, struct_size, 0);
TD_OFFSET(td_to_arrow_options, flags, 4);
TD_OFFSET(td_to_arrow_options, separator, 8);

TD_SIZE(td_store_options, 120);
TD_OFFSET(td_store_options, struct_size, 0);
TD_OFFSET(td_store_options, port, 4);
TD_OFFSET(td_store_options, host, 8);
TD_OFFSET(td_store_options, unix_socket, 16);
TD_OFFSET(td_store_options, username, 24);
TD_OFFSET(td_store_options, password, 32);
TD_OFFSET(td_store_options, prefix, 40);
TD_OFFSET(td_store_options, id, 48);
TD_OFFSET(td_store_options, db, 56);
TD_OFFSET(td_store_options, timeout_ms, 64);
TD_OFFSET(td_store_options, max_bytes, 72);
TD_OFFSET(td_store_options, tls_ca, 80);
TD_OFFSET(td_store_options, tls_cert, 88);
TD_OFFSET(td_store_options, tls_key, 96);
TD_OFFSET(td_store_options, tls_server_name, 104);
TD_OFFSET(td_store_options, tls, 112);
TD_OFFSET(td_store_options, reserved, 116);

TD_SIZE(td_group_op, 4);
TD_NUMBER(TD_GROUP_OP_SUM, 0);
TD_NUMBER(TD_GROUP_OP_AVERAGE, 1);
TD_NUMBER(TD_GROUP_OP_PRODUCT, 2);
TD_NUMBER(TD_GROUP_OP_MIN, 3);
TD_NUMBER(TD_GROUP_OP_MAX, 4);

TD_SIZE(td_group_flags, 4);
TD_UNSIGNED(td_group_flags);
TD_NUMBER(TD_GROUP_CONSOLIDATED, 1);
TD_NUMBER(TD_GROUP_FUSED, 2);

TD_SIZE(td_group_options, 48);
TD_OFFSET(td_group_options, struct_size, 0);
TD_OFFSET(td_group_options, timeout_ms, 4);
TD_OFFSET(td_group_options, rank, 8);
TD_OFFSET(td_group_options, world_size, 12);
TD_OFFSET(td_group_options, url, 16);
TD_OFFSET(td_group_options, name, 24);
TD_OFFSET(td_group_options, device, 32);
TD_OFFSET(td_group_options, backend, 40);

TD_SIZE(td_group_call_options, 40);
TD_OFFSET(td_group_call_options, struct_size, 0);
TD_OFFSET(td_group_call_options, flags, 4);
TD_OFFSET(td_group_call_options, timeout_ms, 8);
TD_OFFSET(td_group_call_options, init_tag, 12);
TD_OFFSET(td_group_call_options, num_threads, 16);
TD_OFFSET(td_group_call_options, max_depth, 20);
TD_OFFSET(td_group_call_options, max_entries, 24);
TD_OFFSET(td_group_call_options, reserved, 28);
TD_OFFSET(td_group_call_options, max_bytes, 32);
