"""
Dictionaries of tensors that share a batch size, over the shared library `libtensordict`.

Everything that comes out of this package is yours: a cheap counted reference, given back by the
garbage collector, or at once by `close`. Nothing that is passed in is consumed.

Dimensions stand in the order of torch (`size(td) == (3, 4)`), indices and dimension numbers count
from 1, as everywhere in Julia.
"""
module TensorDicts

using Libdl: Libdl
using Serialization: Serialization

export TensorDict, Tensor, StridedTensor, NonTensorData, Writer, Device, BFloat16
export TensorDictError, ReleasedError
export cpu, cuda, cuda_available, device, to, clear_device!
export asarray, contiguous, iscontiguous, nbytes, isuniquelyowned, requires_grad, requires_grad!
export .., newaxis, @index_str, parse_index
export set_inplace!, set_batch_size!, lock!, unlock!, ismemmap, issame, share
export update!, update_inplace!, update_at!, updated, write!, fill_entry!, get_at, set_at!
export select, select!, exclude, exclude!, split_keys, separate!, remove_empty!, filter_non_tensor
export flatten_keys, flatten_keys!, unflatten_keys, unflatten_keys!, merge_tensordicts, from_keys, unravel_key
export rename_key!, create_nested!, depth, entry_size, auto_batch_size!
export squeeze, unsqueeze, expand, unbind, stack
export flatten, unflatten, movedim, narrow, atleast, expand_as, chunk, tensor_split, become!
export tile, repeat_interleave, roll, rot90, gather, pad, pad_sequence, isin, remove_duplicates, group_by
export unpad_sequence, collate, pack, unpack, PackLayout, rename_keys
export masked_select, masked_fill, masked_fill!, choose, expand_right, expand_as_right, like, difference
export maybe_dense_stack, stack!, cat!, stack_tensors!, cat_tensors!, stack_leaves, cat_leaves
export apply, apply!
export call, call!, Leaf, set_names!, rename_dims, rename_dims!, refine_names!
export map_chunks, MapChunks
export NestedTensor, flat
export TensorDictModule, load_module, save_module, sequential, select_subsequence, select_out_keys, in_keys, out_keys
export forward!, parameters, parameters!, Distribution, probabilistic, log_prob, normal_params
export eachbatch, BatchLoader, loader_state, load_loader_state!, Generator
export Replay, open_replay, load_replay, save_replay, draw!, draw_hindsight!, update_priority!, beta!, stored, replay_state
export Group, open_group, split_group, barrier, send_to, receive_from!, send_message, recv_message, init_remote
export from_remote_init, broadcast_from, reduce!, all_reduce!, all_gather, scatter, gather_and_stack
export printed
export Optimizer, step!, optimizer_state, load_optimizer_state!
export dict_kind, lazy_stack, lazy_info, exclusive_keys, padded, jagged, to_lazy_stack, densify, sub_tensordict
export set_json!, get_json, set_texts!, get_text, spread_non_tensor!, set_bytes!, get_bytes
export share_memory!, isshared, shared_name, open_shared
export consolidate, consolidate!, isconsolidated, load_consolidated
export send_fd, recv_fd, locked, unlocked
export lerp, lerp!, addcmul, addcmul!, addcdiv, addcdiv!, cummin, cummax, softmax, sum_from, zero!
export memmap, memmap!, memmap_like, load_memmap, saved_path
export verify_memmap, checksum_memmap
export pack_memmap, unpack_memmap, is_memmap_archive, refresh_archive_checksums
export load_memmap!, refresh!, make_memmap!, memmap_start
export bind!, next!, rows, memmap_append, memmap_truncate, memmap_length
export to_dlpack, from_dlpack
export to!, pin_memory, pin_memory!, auto_device!, record_stream, eltype_of, isfloat, ispinned, iscpu, iscuda
export param_count, bytes, data_pointers
export detach!, grad, grad!, zero_grad!, clip_grad_norm!, backward
export state_dict, load_state_dict!, schema, from_schema
export TensorDictStore
export Dataset, DatasetWriter, dataset_writer, add_episode!, finish!, open_dataset, save_dataset, convert_dataset, dataset_kind, lengths, structure, metadata, episode, episodes
export HDF5File, load_hdf5, open_hdf5, save_hdf5
export from_arrow, from_arrow_stream, to_arrow, to_arrow_stream
export load_table, save_table, load_file, save_file, load_tensor, save_tensor, file_metadata
export from_structs, view_structs, to_structs, to_structs!
export TensorclassType, tensorfield, dictfield, valuefield, tensorclassfield, fields, tensorclass_type, tensorclass!, check_tensorclass
export TensorClass, @tensorclass

include("library.jl")
include("ffi.jl")
include("errors.jl")
include("handles.jl")
include("roots.jl")
include("dtypes.jl")
include("devices.jl")
include("tensor.jl")
include("strided.jl")
include("index.jl")
include("dict.jl")
include("access.jl")
include("shape.jl")
include("rearrange.jl")
include("apply.jl")
include("call.jl")
include("names.jl")
include("entries.jl")
include("rows.jl")
include("sequences.jl")
include("pack.jl")
include("mask.jl")
include("joins.jl")
include("map.jl")
include("modules.jl")
include("batches.jl")
include("random.jl")
include("replay.jl")
include("group.jl")
include("optimizer.jl")
include("gradient.jl")
include("states.jl")
include("structs.jl")
include("tables.jl")
include("file_format.jl")
include("files.jl")
include("datasets.jl")
include("hdf5.jl")
include("arrow.jl")
include("store.jl")
include("lazy.jl")
include("nested_tensor.jl")
include("values.jl")
include("math.jl")
include("math_ops.jl")
include("archive.jl")
include("verify.jl")
include("memmap.jl")
include("reload.jl")
include("future.jl")
include("share.jl")
include("writer.jl")
include("grow.jl")
include("dlpack.jl")
include("tensorclass_type.jl")
include("tensorclass.jl")
include("serialize.jl")
include("show.jl")
include("process.jl")

end
