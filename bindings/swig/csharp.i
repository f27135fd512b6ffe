/* csharp.i: SWIG's own C# as plain P/Invoke signatures. Included by tensordict.i.
 *
 *   swig -csharp -noproxy -dllimport tensordict -DSWIG_CSHARP_NO_EXCEPTION_HELPER \
 *        -DSWIG_CSHARP_NO_STRING_HELPER -DSWIG_CSHARP_NO_IMCLASS_STATIC_CONSTRUCTOR tensordict.i
 *
 * Every wrapper in C is then the function itself, so the imports can name the functions of the
 * library, and the wrappers need not be compiled:
 *
 *   sed -E 's/EntryPoint="CSharp_(td_[a-z0-9_]+)"/EntryPoint="\1"/' tensordictPINVOKE.cs
 *
 * Strings are UTF-8 bytes, handles are IntPtr, structs are void*. The binding in bindings/csharp
 * does not use this; it is for projects that already live with SWIG. */

%csconst(1);
%pragma(csharp) imclassclassmodifiers = "public static unsafe class"
%pragma(csharp) moduleclassmodifiers = "public static unsafe class"

/* The struct members would each become two imports. */
%ignore td_apply_entry;
%ignore td_apply_options;
%ignore td_backward_options;
%ignore td_binary_options;
%ignore td_call_argument;
%ignore td_call_options;
%ignore td_allclose_options;
%ignore td_memmap_pack_options;
%ignore td_consolidate_options;
%ignore td_damage;
%ignore td_distribution;
%ignore td_field;
%ignore td_file_options;
%ignore td_like_options;
%ignore td_flatten_keys_options;
%ignore td_append_options;
%ignore td_index_item;
%ignore td_key;
%ignore td_key_set;
%ignore td_keys_options;
%ignore td_load_options;
%ignore td_load_state_dict_options;
%ignore td_loader_options;
%ignore td_replay_options;
%ignore td_replay_hindsight_options;
%ignore td_from_arrow_options;
%ignore td_to_arrow_options;
%ignore td_dataset_options;
%ignore td_dataset_save_options;
%ignore td_hdf5_options;
%ignore td_hdf5_save_options;
%ignore td_store_options;
%ignore td_group_options;
%ignore td_group_call_options;
%ignore td_map_options;
%ignore td_map_piece;
%ignore td_member;
%ignore td_memmap_options;
%ignore td_message_options;
%ignore td_module_call_options;
%ignore td_module_function_options;
%ignore td_module_load_options;
%ignore td_optimizer_options;
%ignore td_module_normal_params_options;
%ignore td_module_probabilistic_options;
%ignore td_module_sequence_options;
%ignore td_operand;
%ignore td_pad_sequence_options;
%ignore td_padding_options;
%ignore td_tensorclass_options;
%ignore td_reduce_options;
%ignore td_schema_options;
%ignore td_select_options;
%ignore td_split_keys_options;
%ignore td_state_dict_options;
%ignore td_to_options;
%ignore td_update_options;
%ignore td_verify_options;
%ignore td_writer_options;

%define TD_BLITTABLE(c_type, cs_type)
%typemap(ctype) c_type "$1_ltype"
%typemap(imtype) c_type "cs_type"
%typemap(cstype) c_type "cs_type"
%typemap(csin) c_type "$csinput"
%typemap(csout) c_type { return $imcall; }
%typemap(in) c_type "$1 = $input;"
%typemap(out) c_type "$result = $1;"
%enddef
TD_BLITTABLE(int32_t, int)
TD_BLITTABLE(uint32_t, uint)
TD_BLITTABLE(int64_t, long)
TD_BLITTABLE(uint64_t, ulong)
TD_BLITTABLE(size_t, nuint)
TD_BLITTABLE(SWIGTYPE *, void*)
TD_BLITTABLE(char *, byte*)
TD_BLITTABLE(const char *, byte*)
TD_BLITTABLE(const char *const *, byte**)
TD_BLITTABLE(int64_t *, long*)
TD_BLITTABLE(const int64_t *, long*)
TD_BLITTABLE(td_release_fn, global::System.IntPtr)
TD_BLITTABLE(td_log_fn, global::System.IntPtr)
TD_BLITTABLE(td_apply_fn, global::System.IntPtr)
TD_BLITTABLE(td_write_fn, global::System.IntPtr)
TD_BLITTABLE(td_read_fn, global::System.IntPtr)
TD_BLITTABLE(td_progress_fn, global::System.IntPtr)
TD_BLITTABLE(td_damage_fn, global::System.IntPtr)
TD_BLITTABLE(td_map_fn, global::System.IntPtr)
TD_BLITTABLE(td_leaf_fn, global::System.IntPtr)
TD_BLITTABLE(td_apply_entry_fn, global::System.IntPtr)
%define TD_OPAQUE(c_type)
TD_BLITTABLE(c_type *, global::System.IntPtr)
TD_BLITTABLE(const c_type *, global::System.IntPtr)
TD_BLITTABLE(c_type **, global::System.IntPtr*)
TD_BLITTABLE(const c_type *const *, global::System.IntPtr*)
TD_RESULT(c_type **result, global::System.IntPtr)
%enddef

/* What comes back through a pointer. */
%define TD_RESULT(c_type, cs_type)
TD_BLITTABLE(c_type, out cs_type)
%typemap(csin) c_type "out $csinput"
%enddef
TD_RESULT(int32_t *result, int)
TD_RESULT(int32_t *result_index, int)
TD_RESULT(int64_t *result, long)
TD_RESULT(size_t *, nuint)
TD_OPAQUE(td_tensor)
TD_OPAQUE(td_tensordict)
TD_OPAQUE(td_keys)
TD_OPAQUE(td_writer)
TD_OPAQUE(td_map_iter)
TD_OPAQUE(td_future)
TD_OPAQUE(td_tensorclass)
