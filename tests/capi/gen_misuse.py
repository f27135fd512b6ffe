#!/usr/bin/env python3
"""Writes a C test that calls every public function with one argument wrong.

    gen_misuse.py SWIG INCLUDE_DIR OUTPUT [nested | graph | random | allocation]

With "nested", a test that calls each of them once with a nested tensor among the entries; with "graph", one that
calls each of them with a graph among the entries that has more paths than can be walked; with "random",
one that calls each with arguments that hardly go together: whatever comes, it is no TD_ERR_INTERNAL; with
"allocation", one that calls each again and again, while one allocation after the other fails.
SWIG parses the headers (td.h says which); TD_NULLABLE is given as `volatile`, a qualifier that the
headers do not use otherwise and that SWIG carries to exactly the pointer that is marked. A function
for which no valid arguments are known stops the build: add them to VALID or FOR.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

# Valid arguments: (type as SWIG writes it without the mark, name or None for any) -> C. The fixture
# of misuse.h is `m`.
VALID = {
    ("td_tensordict", "td"): "m.td", ("td_tensordict", None): "m.other",
    ("td_tensor", "tensor"): "m.tensor", ("td_tensor", None): "m.tensor_source",
    ("td_keys", None): "m.keys", ("td_writer", None): "m.writer", ("td_tensorclass", None): "m.tensorclass_type",
    ("p.q(const).td_field", "fields"): "m.fields", ("size_t", "fields_len"): "1", ("p.td_field", "result"): "&m.field",
    ("p.q(const).p.q(const).char", "names"): 'NAMES("x")', ("p.q(const).p.q(const).char", "new_names"): 'NAMES("y")',
    ("size_t", "names_len"): "1", ("p.q(const).char", "layout"): "NULL",
    ("p.q(const).p.q(const).char", "texts"): 'FOUR_TEXTS("x", "y", "z", "")', ("size_t", "texts_len"): "4",
    ("p.q(const).td_key", "new_keys"): "m.wanted",
    ("p.q(const).p.q(const).char", "path"): 'NAMES("a")', ("size_t", "path_len"): "1",
    ("p.q(const).p.q(const).char", "new_path"): 'NAMES("z")', ("size_t", "new_path_len"): "1",
    ("p.q(const).td_key", "keys"): "m.wanted", ("size_t", "keys_len"): "1",
    ("p.q(const).td_key_set", "sets"): "m.sets", ("size_t", "sets_len"): "1",
    ("p.q(const).char", "separator"): '"."', ("int64_t", "max_dims"): "-1",
    ("p.q(const).p.q(const).td_tensordict", "sources"): "m.sources", ("size_t", "sources_len"): "2",
    ("p.q(const).int64_t", "sizes"): "m.sizes", ("p.q(const).int64_t", "batch_size"): "m.sizes",
    ("p.q(const).int64_t", "order"): "m.order", ("p.q(const).int64_t", "strides"): "NULL",
    ("size_t", "dims"): "1", ("size_t", "batch_dims"): "1",
    ("p.q(const).td_index_item", "items"): "m.items", ("size_t", "items_len"): "1",
    ("p.td_index_item", "items"): "m.parsed", ("size_t", "items_cap"): "4",
    ("p.int64_t", "sizes"): "m.sizes_out", ("size_t", "sizes_cap"): "8",
    ("p.int64_t", "strides"): "m.sizes_out", ("size_t", "strides_cap"): "8",
    ("p.char", "text"): "m.text", ("size_t", "text_cap"): "sizeof m.text",
    ("p.p.td_tensordict", "results"): "m.results", ("size_t", "results_cap"): "4",
    ("p.q(const).td_call_argument", "arguments"): "m.arguments", ("size_t", "arguments_len"): "1",
    ("p.void", "data"): "m.numbers", ("p.q(const).void", "data"): "m.numbers",
    ("size_t", "bytes"): "sizeof m.numbers",
    ("p.q(const).void", "bytes"): "m.numbers", ("size_t", "bytes_len"): "sizeof m.numbers",
    ("p.void", "bytes"): "m.numbers", ("size_t", "bytes_cap"): "sizeof m.numbers",
    ("int64_t", "position"): "0",
    ("p.q(const).char", "text"): '"0"', ("p.q(const).char", "dir"): "NULL",
    ("td_dtype", None): "TD_DTYPE_FLOAT32", ("td_device_type", None): "TD_DEVICE_CPU",
    ("int32_t", "device_index"): "-1", ("int32_t", "required"): "0",
    ("int32_t", "field"): "0", ("size_t", "position"): "0", ("int64_t", "dim"): "0",
    ("int64_t", "dim0"): "0", ("int64_t", "dim1"): "0",
    ("int64_t", "start"): "0", ("int64_t", "end"): "0", ("int64_t", "length"): "2", ("int64_t", "times"): "1",
    ("p.q(const).int64_t", "from"): "m.order", ("p.q(const).int64_t", "to"): "m.order",
    ("p.q(const).int64_t", "counts"): "m.order", ("p.q(const).int64_t", "shifts"): "m.order",
    ("p.q(const).int64_t", "along"): "m.order", ("p.q(const).int64_t", "numbers"): "m.sizes", ("size_t", "numbers_len"): "1",
    ("td_split_kind", None): "TD_SPLIT_LENGTH", ("td_join_kind", None): "TD_JOIN_STACK", ("td_like_kind", None): "TD_LIKE_ZEROS",
    
    ("int32_t", "abi"): "TD_ABI_VERSION", ("td_status", None): "TD_OK", ("p.q(const).char", "message"): '"text"',
    ("td_tensor", "mask"): "m.mask", ("td_tensor", "condition"): "m.mask",
    ("td_release_fn", "release"): "misuse_release", ("p.void", "user"): "&m",
    ("td_apply_fn", "callback"): "misuse_share", ("td_apply_entry_fn", "callback"): "misuse_share_entry",
    ("p.q(const).p.q(const).td_tensordict", "others"): "m.sources", ("size_t", "others_len"): "2",
    ("td_map_fn", "callback"): "misuse_share_piece", ("td_map_iter", None): "m.map_iter", ("td_future", None): "m.future", ("p.size_t", "number"): "NULL",
    ("size_t", "parts_len"): "1", ("int64_t", "timeout_ms"): "1000", 
    ("p.q(const).char", "separator"): '"."', 
    ("td_detach_kind", "kind"): "TD_DETACH_HISTORY", ("td_measure_kind", "kind"): "TD_MEASURE_BYTES",
    ("int64_t", "stream"): "0",
    ("p.int64_t", "addresses"): "m.sizes_out", ("size_t", "addresses_cap"): "8",
    ("td_optimizer", None): "m.optimizer", ("td_optimizer_kind", None): "TD_OPTIMIZER_SGD", ("double", "lr"): "0.5", ("double", "max_norm"): "0.5", ("p.double", "norm"): "NULL",
    ("td_generator", None): "m.generator", ("uint64_t", "seed"): "7", ("int64_t", "n"): "3",
    ("int64_t", "low"): "0", ("int64_t", "high"): "9", ("int64_t", "step"): "1",
    ("td_loader", None): "m.loader",
    ("td_dataset", None): "m.dataset", ("td_dataset_writer", None): "m.dataset_writer", ("p.td_dataset_kind", "kind"): "NULL", ("p.int64_t", "episodes"): "NULL", ("p.int64_t", "steps"): "NULL",
    ("p.int64_t", "lengths"): "m.sizes_out", ("size_t", "lengths_cap"): "8", ("int64_t", "episode"): "0", ("int64_t", "first"): "0", ("int64_t", "count"): "1",
    ("td_hdf5", None): "m.hdf5", ("td_store", None): "m.store", ("p.q(const).char", "json"): '"0"', ("td_replay", None): "m.replay", ("double", "beta"): "0.5",
    ("td_group", None): "m.group", ("int32_t", "dst"): "0", ("int32_t", "src"): "0", ("td_group_op", None): "TD_GROUP_OP_SUM",
    ("p.q(const).int32_t", "ranks"): "m.ranks", ("size_t", "ranks_len"): "1", ("p.int32_t", "source"): "NULL",
    ("p.int64_t", "len"): "NULL", ("p.int64_t", "capacity"): "NULL", ("p.int64_t", "cursor"): "NULL", ("p.int64_t", "written"): "NULL",
    ("p.int64_t", "epoch"): "NULL", ("p.int64_t", "batch"): "NULL", ("p.int64_t", "batches"): "NULL",
    ("td_module", None): "m.module", ("td_module_fn", "callback"): "misuse_share_source",
    ("p.q(const).p.q(const).td_module", "modules"): "m.modules", ("size_t", "modules_len"): "1",
    ("p.q(const).td_key", "in_keys"): "m.wanted", ("size_t", "in_keys_len"): "1",
    ("p.q(const).td_key", "out_keys"): "m.wanted", ("size_t", "out_keys_len"): "1",
    ("p.q(const).td_key", "part"): "NULL", ("p.q(const).td_distribution", "parts"): "m.distributions",
    ("p.q(const).td_member", "members"): "m.members", ("size_t", "members_len"): "1", ("size_t", "item_bytes"): "4",
    ("p.void", "impl"): "misuse_impl(&m)", ("int32_t", "torch_version"): "misuse_torch_version()",
    ("p.q(const).td_operand", None): "m.operands", ("td_unary_op", None): "TD_UNARY_NEG",
    ("td_binary_op", None): "TD_BINARY_ADD", ("td_ternary_op", None): "TD_TERNARY_CLAMP",
    ("td_reduce_op", None): "TD_REDUCE_SUM", ("double", "value"): "1", ("int64_t", "value"): "1",
    ("p.q(const).char", "file"): "NULL", ("int32_t", "fd"): "misuse_line(&m)",
    ("td_write_fn", "write"): "misuse_write", ("td_read_fn", "read"): "misuse_read",
    ("p.struct DLManagedTensorVersioned", "source"): "&m.versioned",
    ("p.struct DLManagedTensor", "source"): "&m.legacy",
    ("p.struct ArrowSchema", "schema"): "&m.arrow_schema", ("p.struct ArrowArray", "array"): "&m.arrow_array",
    ("p.struct ArrowArrayStream", "stream"): "&m.arrow_stream",
}

# Where one function needs something else.
FOR = {
    ("td_pack", "td"): "misuse_floats(&m)",
    ("td_unpad_sequence", "td"): "misuse_padded(&m)",
    ("td_unpack", "layout"): '"{\\"keys\\": [[\\"a\\"]], \\"shapes\\": [[4]]}"',
    ("td_call", "name"): '"aten::neg"', ("td_call_inplace", "name"): '"aten::neg_"',
    ("td_tensorclass_create", "name"): '"Record"', ("td_recv", "user"): "misuse_reader(&m)",
    ("td_get_dict", "path"): 'NAMES("n")',
    ("td_get_non_tensor_json", "td"): "misuse_loaded(&m)",
    ("td_get_non_tensor_json", "path"): 'NAMES("str")',
    ("td_get_text", "td"): "misuse_loaded(&m)", ("td_get_text", "path"): 'NAMES("str")',
    ("td_get_row_text", "td"): "misuse_loaded(&m)", ("td_get_row_text", "path"): 'NAMES("str")',
    ("td_get_row_text", "row"): "0",
    ("td_get_non_tensor_stack_json", "td"): "misuse_value(&m)", ("td_get_non_tensor_value_json", "td"): "misuse_value(&m)",
    ("td_spread_non_tensor", "td"): "misuse_value(&m)", ("td_get_non_tensor_bytes", "td"): "misuse_value(&m)",
    ("td_lazy_insert", "td"): "misuse_lazy(&m)", ("td_lazy_extend", "td"): "misuse_lazy(&m)",
    ("td_lazy_info", "td"): "misuse_lazy(&m)", ("td_lazy_exclusive_keys", "td"): "misuse_lazy(&m)",
    ("td_lazy_get_padded", "td"): "misuse_lazy(&m)", ("td_lazy_get_jagged", "td"): "misuse_lazy(&m)",
    ("td_nested_tensor_create", "sizes"): "misuse_nested_tensor_sizes(&m)", ("td_get_nested_tensor", "td"): "misuse_nested_tensor_entry(&m)",
    ("td_nested_tensor_values", "nested"): "misuse_nested_tensor(&m)", ("td_nested_tensor_at", "nested"): "misuse_nested_tensor(&m)",
    ("td_nested_tensor_to_padded", "nested"): "misuse_nested_tensor(&m)", ("td_nested_tensor_from_tensors", "parts"): "m.nested_tensor_parts",
    ("td_sub_tensordict_parent", "td"): "misuse_sub(&m)", ("td_set_non_tensor_stack_json", "text"): '"[0, 0, 0, 0]"',
    ("td_memmap_load", "dir"): 'td_golden("basic")',
    ("td_memmap_pack", "dir"): 'td_golden("basic")', ("td_memmap_pack", "file"): 'td_path(td_test_folder(), "packed.tdz")',
    ("td_memmap_unpack", "file"): "misuse_archive(&m)", ("td_memmap_unpack", "dir"): 'td_path(td_test_folder(), "unpacked")',
    ("td_memmap_is_archive", "file"): "misuse_archive(&m)", ("td_memmap_write_archive_checksums", "file"): "misuse_archive(&m)",
    ("td_memmap_load_into", "td"): "misuse_basic(&m)", ("td_memmap_load_into", "dir"): 'td_golden("basic")', ("td_memmap_refresh", "td"): "misuse_basic(&m)",
    ("td_memmap_make", "td"): "misuse_mapped(&m)", ("td_memmap_make", "path"): 'NAMES("new")',
    ("td_memmap_make_from_tensor", "td"): "misuse_mapped(&m)", ("td_memmap_make_from_tensor", "path"): 'NAMES("new")',
    ("td_module_load", "file"): "misuse_script_file()", ("td_module_save", "file"): 'td_path(td_test_folder(), "saved.pt")',
    ("td_module_save", "module"): "misuse_script(&m)", ("td_module_set_params", "module"): "misuse_script(&m)",
    ("td_module_set_params", "params"): "misuse_script_params(&m)",
    ("td_optimizer_create", "params"): "misuse_recorded(&m)", ("td_optimizer_load_state", "state"): "misuse_empty(&m)",
    ("td_generator_load_state", "state"): "misuse_generator_state(&m)", ("td_tensor_arange", "end"): "4",
    ("td_loader_create", "options"): "&m.loader_options", ("td_loader_create_from_dataset", "options"): "&m.loader_options", ("td_loader_load_state", "state"): "misuse_loader_state(&m)",
    ("td_replay_create", "options"): "&m.replay_options", ("td_replay_create_from_dataset", "options"): "NULL", ("td_replay_open", "folder"): "misuse_replay_folder(&m)",
    ("td_replay_load", "folder"): "misuse_replay_folder(&m)", ("td_replay_save", "folder"): 'td_path(td_test_folder(), "saved_replay")',
    ("td_replay_sample", "rows"): "1", ("td_replay_add", "row"): "misuse_replay_row(&m)", ("td_replay_extend", "rows"): "misuse_replay_rows(&m)",
    ("td_replay_sample_hindsight", "replay"): "misuse_goals(&m)", ("td_replay_sample_hindsight", "rows"): "4",
    ("td_replay_sample_hindsight", "reward"): "misuse_reward(&m)",
    ("td_replay_update_priority", "index"): "m.place", ("td_replay_update_priority", "priority"): "m.place",
    ("td_dataset_open", "file"): "misuse_dataset(&m)", ("td_dataset_convert", "kind"): "TD_DATASET_KIND_ROBOMIMIC",
    ("td_dataset_convert", "file"): 'td_path(td_test_folder(), "converted")', ("td_dataset_save", "td"): "misuse_steps(&m)",
    ("td_dataset_save", "kind"): "TD_DATASET_KIND_ROBOMIMIC", ("td_dataset_save", "file"): 'td_path(td_test_folder(), "saved_set")',
    ("td_dataset_save", "metadata"): "NULL", ("td_dataset_writer_open", "kind"): "TD_DATASET_KIND_ROBOMIMIC",
    ("td_dataset_writer_open", "file"): 'td_path(td_test_folder(), "opened_set")', ("td_dataset_writer_open", "metadata"): "NULL",
    ("td_dataset_writer_add", "rows"): "misuse_steps(&m)", ("td_dataset_writer_add", "metadata"): "NULL",
    ("td_hdf5_open", "file"): "misuse_hdf5(&m)", ("td_hdf5_load", "file"): "misuse_hdf5(&m)",
    ("td_hdf5_save", "file"): "misuse_hdf5(&m)",
    ("td_from_arrow", "schema"): "misuse_arrow(&m)", ("td_from_arrow_stream", "stream"): "misuse_arrow_stream(&m)",
    ("td_to_arrow_stream", "rows"): "2",
    ("td_store_open", "options"): "&m.store_options", ("td_store_create", "options"): "&m.new_store", ("td_store_from", "options"): "&m.new_store",
    ("td_store_from_schema", "options"): "&m.new_store", ("td_store_from_schema", "text"): '"{\\"entries\\": {}}"',
    ("td_store_get_dict", "path"): 'NAMES("n")', ("td_store_set_dict", "path"): 'NAMES("n")', ("td_store_get_non_tensor_json", "path"): 'NAMES("text")',
    ("td_to", "dtype"): "TD_DTYPE_OTHER",
    ("td_table_load", "file"): "misuse_table(&m)", ("td_table_save", "file"): "misuse_table(&m)",
    ("td_file_load", "file"): "misuse_file(&m)", ("td_file_save", "file"): "misuse_file(&m)", ("td_file_metadata", "file"): "misuse_file(&m)",
    ("td_file_load_tensor", "file"): "misuse_array(&m)", ("td_file_save_tensor", "file"): "misuse_array(&m)",
    ("td_from_schema", "text"): '"{\\"entries\\": {}}"',
    ("td_set_grad", "source"): "NULL", ("td_group_open", "options"): "misuse_place(&m)", ("td_group_split", "name"): "NULL",
    # Of any rank it would wait: nobody else is in the group.
    ("td_group_recv_message", "src"): "0", ("td_group_irecv_message", "src"): "0",
    ("td_backward", "td"): "misuse_recorded(&m)", ("td_backward", "gradient"): "m.td", ("td_backward", "inputs"): "NULL",
    ("td_consolidated_load", "file"): 'td_golden("consolidated")',
    ("td_shared_name", "td"): "misuse_shared(&m)",
    ("td_shared_open", "name"): "misuse_name(&m)",
    ("td_writer_put", "bytes"): "sizeof *m.numbers", ("td_writer_open_append", "dir"): "misuse_folder(&m)",
    ("td_memmap_append", "dir"): "misuse_folder(&m)", ("td_memmap_truncate", "dir"): "misuse_folder(&m)",
    ("td_memmap_verify", "dir"): "misuse_folder(&m)", ("td_memmap_write_checksums", "dir"): "misuse_folder(&m)",
    ("td_memmap_length", "dir"): "misuse_folder(&m)", ("td_memmap_length", "stored"): "NULL",
    ("td_memmap_length", "spare"): "NULL", ("td_memmap_truncate", "rows"): "4",
    ("td_view_dtype", "td"): "misuse_floats(&m)", ("td_join_into", "td"): "misuse_pair(&m)", ("td_join_entries", "dim"): "1",
    ("td_rot90", "td"): "misuse_pair(&m)", ("td_rot90", "dim1"): "1",
    ("td_repeat_interleave", "repeats"): "m.positions", ("td_gather", "index"): "m.positions",
    ("td_pad", "sizes"): "m.sizes_out", ("td_pad", "dims"): "2", ("td_pad", "value"): "0",
    ("td_reduce_pair", "op"): "TD_REDUCE_MIN", ("td_reduce_pair", "options"): "&m.reduced",
    ("td_masked_fill", "value"): "m.one", ("td_masked_fill_inplace", "value"): "m.one",
    ("td_get_int", "td"): "misuse_one(&m)", ("td_get_double", "td"): "misuse_one(&m)",
    ("td_writer_put_text", "writer"): "misuse_texts_writer(&m)",
    ("td_writer_field", "writer"): "misuse_rows_writer(&m)", ("td_table_save", "td"): "misuse_floats(&m)", ("td_where", "value"): "m.one",
}

# What is refused even so, because it takes an accelerator.
REFUSED = {"td_future_cancel": "TD_ERR_UNSUPPORTED"} | {"td_group_" + name: "TD_ERR_INVALID_ARGUMENT" for name in (
    "send", "recv", "isend", "irecv", "send_message", "recv_message", "isend_message", "irecv_message", "init_remote",
    "from_remote_init", "scatter", "iscatter")} | {"td_rename_dims": "TD_ERR_INVALID_ARGUMENT", "td_record_stream": "TD_ERR_DEVICE"}

# With a nested tensor among the entries: what is refused for another reason, and what is given a dictionary
# that has none.
NESTED_TENSOR = REFUSED | {"td_writer_open_append": "TD_ERR_KEY_NOT_FOUND", "td_memmap_append": "TD_ERR_KEY_NOT_FOUND",
                    "td_set_tensorclass": "TD_ERR_KEY_INVALID", "td_tensorclass_check": "TD_ERR_KEY_INVALID"}
NO_NESTED_TENSOR = {"td_file_load", "td_file_save", "td_table_load", "td_table_save", "td_join_into", "td_rot90"}

# With a graph of 2^60 paths among the entries: what is by nature a list of paths refuses it (TD_ERR_UNSUPPORTED);
# all else works, or is refused for another reason.
GRAPH = NESTED_TENSOR | {name: "TD_ERR_BUFFER_TOO_SMALL" for name in ("td_print", "td_to_string")}

# What needs such a dictionary in a file, a message or mapped memory, which are lists of paths.
NO_GRAPH = {"td_file_save", "td_table_save", "td_memmap_make", "td_memmap_make_from_tensor", "td_shared_name",
            "td_recv", "td_send_fd", "td_recv_fd"}

# Pointers that may be NULL only when this count is 0.
COUNTS = {"parts": ("parts_len",), "names": ("names_len",), "texts": ("texts_len",), "new_names": ("names_len",), "keys": ("keys_len",), "sets": ("sets_len",), "sizes": ("dims", "sizes_cap"), "batch_size": ("batch_dims",), "order": ("dims",), "from": ("dims",), "to": ("dims",), "counts": ("dims",), "shifts": ("dims",), "numbers": ("numbers_len",),
          "items": ("items_len", "items_cap"), "strides": ("strides_cap",), "text": ("text_cap",), "lengths": ("lengths_cap",),
          "fields": ("fields_len",), "members": ("members_len",), "addresses": ("addresses_cap",), "results": ("results_cap",), "arguments": ("arguments_len",), "others": ("others_len",), "data": ("bytes",), "bytes": ("bytes_len", "bytes_cap"), "sources": ("sources_len",),
          "modules": ("modules_len",), "in_keys": ("in_keys_len",), "out_keys": ("out_keys_len",)}

# What is written through a pointer, and how a result is given back.
SCALARS = {"int32_t", "int64_t", "double", "size_t", "td_dtype", "td_device_type", "td_entry_kind", "td_dict_kind"}
LENT = {"struct DLManagedTensorVersioned", "struct DLManagedTensor"}

HEAD = """/* Made by gen_misuse.py. */
#include "misuse.h"
#include "td_files.h"

#define NAMES(name) ((const char *const[]){name})
#define FOUR_TEXTS(a, b, c, d) ((const char *const[]){a, b, c, d})
"""


class Parameter:
    def __init__(self, function, name, swig_type):
        self.function, self.name = function, name
        self.nullable = swig_type.startswith("q(volatile).")
        self.type = swig_type.removeprefix("q(volatile).")
        self.is_pointer = self.type.startswith("p.") or self.type.endswith("_fn")
        match = re.fullmatch(r"p\.(?:q\(const\)\.)?(td_\w+)", self.type)
        self.pointee = match.group(1) if match else None

    def out_type(self):
        """The C type of the variable behind an out-parameter, or None."""
        inner = self.type.removeprefix("p.")
        if self.type == "p.p.q(const).p.q(const).char":
            return "const char *const *"
        if self.type == "p.p.void":
            return "void *"
        if self.type.startswith("p.p.") and not self.nullable and "q(" not in self.type:
            return inner.removeprefix("p.") + " *"
        if inner in SCALARS and self.type.startswith("p.") and not self.nullable:
            return inner + " "
        return None

    def valid(self, handles):
        if (self.function, self.name) in FOR:
            return FOR[self.function, self.name]
        if self.out_type():
            return "&o_" + self.name
        if self.pointee and self.pointee.endswith("_options"):
            return "NULL"
        if self.type.endswith("_flags"):
            return "0"
        kind = self.pointee if self.pointee in handles else self.type
        for key in ((kind, self.name), (kind, None)):
            if key in VALID:
                return VALID[key]
        sys.exit(f"gen_misuse.py: {self.function}: no valid argument is known for '{self.name}' of type "
                 f"'{self.type}'; add one to VALID or FOR")


class Function:
    def __init__(self, node):
        about = attributes(node)
        self.name, self.result = about["name"], about["type"]
        self.parameters = [Parameter(self.name, p["name"], p["type"])
                           for p in map(attributes, node.findall("./attributelist/parmlist/parm")) if "name" in p]

    def is_status(self):
        return self.result == "td_status" and bool(self.parameters) and any(p.is_pointer for p in self.parameters)


def attributes(node):
    return {a.get("name"): a.get("value") for a in node.findall("./attributelist/attribute")}


def headers_below(include, header, found):
    """A header and what it includes, each after what it needs: SWIG does not follow #include."""
    for needed in re.findall(r'#include "(tensordict/\w+\.h)"', (include / header).read_text()):
        headers_below(include, needed, found)
    if header not in found:
        found.append(header)
    return found


def parse(swig, include):
    """All functions of td.h."""
    listed = headers_below(include, "tensordict/td.h", [])
    with tempfile.TemporaryDirectory() as folder:
        interface, tree = pathlib.Path(folder, "td.i"), pathlib.Path(folder, "td.xml")
        interface.write_text("%module td\n" + "".join(f'%include "{header}"\n' for header in listed))
        subprocess.run([swig, "-xml", "-DTD_NULLABLE=volatile", f"-I{include}", "-o", tree, interface], check=True)
        root = ElementTree.parse(tree).getroot()
    return [Function(node) for node in root.iter("cdecl") if attributes(node).get("kind") == "function"]


def wrong_handles(kind, handles):
    """(what, C expression, status) for each way in which a handle can be wrong."""
    yield "freed", f"m.freed_{kind.removeprefix('td_')}", "TD_ERR_BAD_HANDLE"
    yield "garbage", f"({kind} *)MISUSE_GARBAGE(&m)", "TD_ERR_BAD_HANDLE"
    for other, member in handles.items():
        if other != kind:
            yield f"a {other}", f"({kind} *)(void *)m.{member}", "TD_ERR_BAD_HANDLE"


def wrong_values(function, parameter, handles):
    """(what, statements before the call, C expression, status) for each way to misuse a parameter."""
    name, counts = parameter.name, {p.name for p in function.parameters}
    if parameter.is_pointer and not parameter.nullable:
        yield "NULL", "", "NULL", "TD_ERR_NULL_ARGUMENT"
    if parameter.nullable and parameter.is_pointer and counts & set(COUNTS.get(name, ())):
        yield "NULL with a count", "", "NULL", "TD_ERR_NULL_ARGUMENT"
    if parameter.pointee in handles:
        for what, expression, status in wrong_handles(parameter.pointee, handles):
            yield what, "", expression, status
    if name in ("sources", "others"):
        yield "a NULL in it", "m.sources[1] = NULL;", "m.sources", "TD_ERR_NULL_ARGUMENT"
        for what, expression, status in wrong_handles("td_tensordict", handles):
            yield what + " in it", f"m.sources[1] = {expression};", "m.sources", status
    if name == "keys" and parameter.type == "p.q(const).td_key":
        yield "a NULL path in it", "m.wanted[0].path = NULL;", "m.wanted", "TD_ERR_NULL_ARGUMENT"
        yield "an empty path in it", "m.wanted[0].path_len = 0;", "m.wanted", "TD_ERR_KEY_INVALID"
    if name == "sets":
        yield "no keys in it", "m.sets[0].keys = NULL;", "m.sets", "TD_ERR_NULL_ARGUMENT"
    if name in ("path", "new_path") and not parameter.out_type():
        yield "a NULL name", "", "NAMES(NULL)", "TD_ERR_KEY_INVALID"
        yield "a name that is not UTF-8", "", 'NAMES("\\xff")', "TD_ERR_KEY_INVALID"
    if parameter.type == "p.q(const).td_index_item":
        yield "an unknown kind", "m.items[0].kind = 1000;", "m.items", "TD_ERR_UNSUPPORTED"
        yield "a reserved word", "m.items[0].reserved[2] = 1;", "m.items", "TD_ERR_INVALID_ARGUMENT"
        yield "a NULL tensor", "m.items[0].kind = TD_INDEX_TENSOR;", "m.items", "TD_ERR_NULL_ARGUMENT"
        for what, expression, status in wrong_handles("td_tensor", handles):
            yield (what + " in it", f"m.items[0].kind = TD_INDEX_TENSOR; m.items[0].tensor = {expression};", "m.items",
                   status)
    if parameter.pointee and parameter.pointee.endswith("_options"):
        grown = f"struct {{ {parameter.pointee} known; int64_t later; }} options = {{{{0}}, 0}};"
        yield "options without size", grown, "&options.known", "TD_ERR_INVALID_ARGUMENT"
        yield ("options of a later version",
               grown + " options.known.struct_size = (uint32_t)sizeof options; options.later = -1;", "&options.known",
               "TD_ERR_UNSUPPORTED")
    if parameter.type.endswith("_flags"):
        yield "an unknown flag", "", "0x40000000", "TD_ERR_INVALID_ARGUMENT"
    if name in ("path_len", "new_path_len") and parameter.type == "size_t":
        yield "an empty path", "", "0", "TD_ERR_KEY_INVALID"


def give_back(function, handles, frees):
    """Statements that free the results of a good call."""
    for parameter in function.parameters:
        inner = (parameter.out_type() or "").removesuffix(" *")
        if inner in handles:
            yield f"{frees[inner]}(o_{parameter.name});"
        elif inner in LENT:
            yield f"o_{parameter.name}->deleter(o_{parameter.name});"


def block(function, handles, frees, wrong=None, before="", value="", status="TD_OK"):
    """One call with one argument replaced, and all that must hold after it."""
    arguments = [value if p is wrong else p.valid(handles) for p in function.parameters]
    lines = ["misuse m;", "misuse_begin(&m);"]
    for parameter in function.parameters:
        kind = parameter.out_type()
        if kind:
            lines.append(f"{kind}o_{parameter.name} = {'TD_POISON' if '*' in kind else '-77' if kind != 'size_t ' else '77'};")
            lines.append(f"(void)o_{parameter.name};")
    if before:
        lines.append(before)
    if any(p.type.removeprefix("p.") in LENT and p is not wrong or p.name == "release" for p in function.parameters):
        lines.append("m.lent++;")
    lines.append(f"TD_EXPECT({function.name}({', '.join(arguments)}), {status});")
    if status == "TD_OK":
        lines.extend(give_back(function, handles, frees))
    else:
        lines.extend(f"TD_CHECK(o_{p.name} == NULL);" for p in function.parameters
                     if p is not wrong and "*" in (p.out_type() or ""))
    lines.append("misuse_end(&m);")
    return "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"


# What a build, or a machine, may lack, by the first letters of the functions.
NEEDS = {"td_store_": "misuse_need_store", "td_group_": "misuse_need_groups", "td_hdf5_": "misuse_need_hdf5",
         "td_dataset_": "misuse_need_hdf5", "td_loader_create_from_": "misuse_need_hdf5", "td_replay_create_from_": "misuse_need_hdf5"}
OUTSIDE = {"td_group_by"}  # begins like an area that it is not in


def need(function):
    """What must be there for a function; without it the test is skipped."""
    for prefix, here in NEEDS.items():
        if function.name.startswith(prefix) and function.name not in OUTSIDE:
            return f"  {here}();\n"
    return ""


def status_test(function, handles, frees):
    body = "  /* valid */\n" + block(function, handles, frees, status=REFUSED.get(function.name, "TD_OK"))
    for parameter in function.parameters:
        for what, before, value, status in wrong_values(function, parameter, handles):
            body += f"  /* {parameter.name}: {what} */\n"
            body += block(function, handles, frees, parameter, before, value, status)
    return f"\nTD_TEST({function.name}) {{\n{need(function)}{body}}}\n"


def quiet_test(function, handles):
    """A function without a status that takes a handle: with a wrong one it does nothing and gives 0."""
    kind = function.parameters[0].pointee
    wrong = ["NULL"] + [expression for _, expression, _ in wrong_handles(kind, handles)]
    call = [f"  {function.name}({w});" if function.result == "void" else f"  TD_CHECK_INT({function.name}({w}), 0);"
            for w in wrong]
    check = "  TD_CHECK_INT(td_debug_live_handles(), open);"
    return (f"\nTD_TEST({function.name}) {{\n  misuse m;\n  misuse_begin(&m);\n"
            "  const int64_t open = td_debug_live_handles();\n" + "\n".join(call + [check, "  misuse_end(&m);"]) + "\n}\n")


def nested_tensor_test(function, handles, frees):
    """A good call with dictionaries that hold a nested tensor: it works, or says that it cannot and changes nothing."""
    text = block(function, handles, frees)
    status = NESTED_TENSOR.get(function.name, "TD_ERR_UNSUPPORTED")
    text = text.replace("misuse_begin(&m);", "misuse_begin(&m);\n    misuse_add_nested_tensor(&m);", 1)
    text = text.replace("TD_EXPECT(", f'const int worked = misuse_nested_tensor_answer(&m, "{function.name}", {status}, ', 1)
    text = text.replace(", TD_OK);", ");", 1)
    back = list(give_back(function, handles, frees))
    for line in back:
        text = text.replace(f"    {line}\n", "", 1)
    results = [f"TD_CHECK(o_{p.name} == NULL);" for p in function.parameters if "*" in (p.out_type() or "")]
    text = text.replace("    misuse_end(&m);", f"    if (worked) {{ {' '.join(back)} }} else {{ {' '.join(results)} }}\n    misuse_end(&m);", 1)
    return f"\nTD_TEST({function.name}) {{\n{need(function)}{text}}}\n"


def graph_test(function, handles, frees):
    """A good call with dictionaries that hold a graph of 2^60 paths: it comes back."""
    text = block(function, handles, frees)
    status = GRAPH.get(function.name, "TD_ERR_UNSUPPORTED")
    text = text.replace("misuse_begin(&m);", "misuse_begin(&m);\n    misuse_add_graph(&m);", 1)
    text = text.replace("TD_EXPECT(", f'const int worked = misuse_graph_answer("{function.name}", {status}, ', 1)
    text = text.replace(", TD_OK);", ");", 1)
    back = list(give_back(function, handles, frees))
    for line in back:
        text = text.replace(f"    {line}\n", "", 1)
    text = text.replace("    misuse_end(&m);", f"    if (worked) {{ {' '.join(back)} }}\n    misuse_end(&m);", 1)
    return f"\nTD_TEST({function.name}) {{\n{need(function)}{text}}}\n"
# What a random call takes in place of a valid argument, by type; how many numbers an operation has.
RANDOM = {"int64_t": "misuse_whole()", "double": "misuse_real()", "td_dtype": "misuse_dtype()", "int32_t": "misuse_choice(2)"}
CHOICES = {"td_unary_op": 50, "td_binary_op": 40, "td_ternary_op": 4, "td_reduce_op": 18, "td_split_kind": 5, "td_join_kind": 2,
           "td_like_kind": 6, "td_detach_kind": 3, "td_measure_kind": 7}
# Memory of the caller, which must be as long as is said; and descriptors.
NOT_RANDOM = {"data", "bytes", "release", "impl", "fd", "source_bytes", "members"}


def random_test(function, handles, frees):
    """Calls with other numbers and dictionaries: any status but that of a defect, and results that can be looked at."""
    arguments, forms = [], 1
    for p in function.parameters:
        value = p.valid(handles)
        special = (function.name, p.name) in FOR
        forms = 0 if special and "misuse_" in value else forms
        if not special and p.type in CHOICES:
            value = f"misuse_choice({CHOICES[p.type]})"
        elif not special and p.type in RANDOM:
            value = RANDOM[p.type]
        arguments.append(value)
    lines = ["misuse m;", "misuse_begin(&m);", f"misuse_shuffle(&m, seed, {forms});"]
    for p in function.parameters:
        if kind := p.out_type():
            lines += [f"{kind}o_{p.name} = 0;", f"(void)o_{p.name};"]
    lines.append(f"const td_status status = {function.name}({', '.join(arguments)});")
    lines.append(f'misuse_defect("{function.name}", seed, status);')
    looks = [f"misuse_look(o_{p.name});" for p in function.parameters
             if (p.out_type() or "").removesuffix(" *") == "td_tensordict"]
    lines.append(f"if (status == TD_OK) {{ {' '.join(looks + list(give_back(function, handles, frees)))} }}")
    lines.append("misuse_end(&m);")
    body = "".join(f"    {line}\n" for line in lines)
    return (f"\nTD_TEST({function.name}) {{\n{need(function)}  for (uint64_t seed = 0; seed < 30; seed++) {{\n{body}  }}\n}}\n")


# Calls that take a way of their own: what replaces the valid arguments. "may": a flag of attempts.h.
VARIANTS = {}
for setter in ("td_set", "td_set_dict", "td_set_int", "td_set_double", "td_set_non_tensor_json",
               "td_set_non_tensor_stack_json", "td_set_non_tensor_bytes", "td_set_text", "td_set_texts", "td_create_nested"):
    VARIANTS[setter] = [{"path": 'TWO_NAMES("x", "y")', "path_len": "2"}]
VARIANTS |= {
    "td_rename_key": [{"path": 'TWO_NAMES("n", "b")', "path_len": "2", "new_path": 'TWO_NAMES("x", "y")', "new_path_len": "2"}],
    "td_memmap": [{"dir": 'td_path(td_test_folder(), "new")'}, {"dir": 'td_path(td_test_folder(), "new.tdz")'},
                  {"dir": "misuse_folder(&m)"}],
    "td_memmap_inplace": [{"dir": 'td_path(td_test_folder(), "new")'}],
    "td_memmap_like": [{"dir": 'td_path(td_test_folder(), "new")'}],
    "td_file_save": [{"td": "misuse_floats(&m)", "file": f'td_path(td_test_folder(), "new.{suffix}")'}
                     for suffix in ("safetensors", "npz", "h5")],
    "td_table_save": [{"file": 'td_path(td_test_folder(), "new.csv")'}],
    "td_get_or_set": [{"path": 'NAMES("x")'}, {"path": 'TWO_NAMES("n", "x")', "path_len": "2"},
                      {"path": 'TWO_NAMES("x", "y")', "path_len": "2"}],
    "td_set_requires_grad": [{"td": "misuse_leaves(&m)", "required": "1"}],
    "td_set_grad": [{"td": "misuse_leaves(&m)", "source": "misuse_gradients(&m)"}],
    "td_update": [{"options": f"OPTIONS(td_update_options, .{option})"} for option in (
        "mode = TD_UPDATE_INPLACE", "mode = TD_UPDATE_STRICT", "clone = 1", "whole_dicts = 1", "update_batch_size = 1")],
    "td_apply": [{"options": "OPTIONS(td_apply_options, .out = m.other)"}],
    "td_apply_entries": [{"options": "OPTIONS(td_apply_options, .out = m.other)"}],
    "td_replay_sample": [{"replay": f"misuse_drawn(&m, TD_REPLAY_SAMPLER_{sampler}, {steps})", "rows": "4"}
                         for sampler, steps in (("RANDOM", 2), ("SLICES", 0), ("SLICES_WITHOUT_REPLACEMENT", 0), ("PRIORITIZED_SLICES", 0))],
    "td_replay_extend": [{"replay": f"misuse_drawn(&m, TD_REPLAY_SAMPLER_{sampler}, 0)", "rows": "misuse_last_row(&m)"}
                         for sampler in ("SLICES", "PRIORITIZED_SLICES")],
    "td_optimizer_step": [{"optimizer": "misuse_adam(&m)", "may": "VALUES_MAY_DIFFER"}],
    "td_optimizer_zero_grad": [{"optimizer": "misuse_adam(&m)"}, {"optimizer": "misuse_adam(&m)", "flags": "TD_ZERO_GRAD_KEEP"}],
}

# How many forms of dictionaries the fixture can be made of, where it is not all.
FORMS = {"td_file_save": 1, "td_table_save": 1, "td_rot90": 1, "td_join_into": 1, "td_group_all_gather": 1,
         "td_group_gather_and_stack": 1}

# What a failing allocation may give instead of TD_ERR_OUT_OF_MEMORY, and why.
INSTEAD = {"td_remove_duplicates": "TD_ERR_INDEX"}  # libtorch takes any failure for indices that do not fit together

# Functions that break a promise when memory is exhausted, and how. One that keeps them all must not be here.
KNOWN = {"td_backward": "libtorch adds to gradients before it is done"}

# Functions that write into tensors by operators of libtorch, each of which may find no memory: what they have written is
# undefined then (docs/design/errors.md).
VALUES_MAY_DIFFER = {"td_fill_at", "td_binary_inplace", "td_ternary_inplace"}

# Areas in which only the calling thread runs out of memory: libgomp ends the process when a thread of the pool finds none,
# and what a call leaves to a thread goes on after it.
OWN_THREAD = ("td_map", "td_group_i")

# Areas in which only the library itself runs out of memory. Exhausted memory damages libhdf5, libtorch's writer of
# archives throws in its destructor, what it does with a network that it has read ends the process, and so do gloo's
# threads.
OURS_ONLY = ("td_hdf5_", "td_dataset_", "td_loader_create_from_", "td_replay_create_from_", "td_module_load", "td_module_save",
             "td_group_")

# Functions that libtorch 2 ends the process in: it throws in destructors, and in lines of its headers that may not throw.
ENDS_WITH_LIBTORCH_2 = ("td_module_load", "td_module_save")

# Functions whose rows are written behind the published ones, where they stay if there is no memory to cut them off
# (docs/design/errors.md).
SPARE_MAY_STAY = {"td_memmap_append"}

# Areas and functions that may leave memory behind, and why.
MAY_LEAK = {
    "td_group_": "gloo keeps what its threads had",
    "td_module_load": "libtorch does not free a network of which it could not read all",
    "td_map": "the calling thread keeps blocks that it freed for a worker, for later (core/base/recycler.h)",
}

# Functions that do not say whether they work: called without any memory, unless there is a reason.
NOT_WITHOUT_MEMORY = {
    "td_set_log": "changes the process", "td_set_grad_enabled": "changes the thread",
    "td_release_set_flag": "writes a flag of the caller", "td_group_free": "would free the group that all tests share",
}

WATCHED = {"td_loader", "td_replay", "td_optimizer", "td_generator", "td_writer", "td_module", "td_store", "td_group"}


def c_type(swig_type):
    """The C spelling of a type as SWIG writes it."""
    if swig_type.startswith("p."):
        return c_type(swig_type[2:]) + " *"
    if swig_type.startswith("q(const)."):
        inner = c_type(swig_type[9:])
        return inner + "const " if inner.endswith("*") else "const " + inner
    return swig_type


def is_in(function, areas):
    return function.name.startswith(areas) and function.name not in OUTSIDE


def spared(function, changed):
    """Who else gets all memory."""
    ours = is_in(function, OURS_ONLY) or any(".h5" in value for value in changed.values())
    return ["OWN_THREAD"] * is_in(function, OWN_THREAD) + ["OURS_ONLY"] * ours


def allocation_test(function, handles, frees, number, changed):
    """Calls a function while each of its allocations fails in turn; what attempts.h promises must hold."""
    values = {p.name: changed.get(p.name, p.valid(handles)) for p in function.parameters}
    dicts = any(p.pointee == "td_tensordict" or p.name in ("sources", "others") for p in function.parameters)
    made = any("misuse_" in values[p.name] and p.pointee == "td_tensordict" for p in function.parameters)
    forms = FORMS.get(function.name, 1 if not dicts else 2 if made else 4)
    watches = sorted({"WATCH_" + p.pointee for p in function.parameters if p.pointee in WATCHED}) or ["0"]
    outs = [p for p in function.parameters if p.out_type()]
    lent = any(p.type.removeprefix("p.") in LENT or p.name == "release" for p in function.parameters)
    known = json.dumps(KNOWN[function.name]) if function.name in KNOWN else "NULL"
    watches += ["VALUES_MAY_DIFFER"] if function.name in VALUES_MAY_DIFFER else []
    watches += [changed["may"]] if "may" in changed else []
    watches += ["SPARE_MAY_STAY"] if function.name in SPARE_MAY_STAY else []
    watches += spared(function, changed)
    watches += ["REMOTE_MAY_DIFFER"] if any(p.type == "p.td_store" for p in function.parameters) else []
    watches += ["MAY_LEAK"] if function.name in MAY_LEAK or is_in(function, tuple(a for a in MAY_LEAK if a.endswith("_"))) else []
    lines = ["  misuse m;", f'  attempts_begin("{function.name}", {" | ".join(watches)}, {forms}, '
             f'{REFUSED.get(function.name, "TD_OK")}, {INSTEAD.get(function.name, "TD_ERR_OUT_OF_MEMORY")}, {known});',
             "  while (attempts_world(&m)) {"]
    for p in function.parameters:
        lines.append(f"    {p.out_type()}o_{p.name} = 0;" if p.out_type()
                     else f"    {c_type(p.type).rstrip()} const a_{p.name} = {values[p.name]};")
    call = ", ".join(("&o_" if p.out_type() else "a_") + p.name for p in function.parameters)
    lines += ["    while (attempts_next(&m)) {"]
    lines += [f"      o_{p.name} = TD_POISON;" for p in outs if "*" in p.out_type()]
    lines += ["      m.lent++;"] * lent
    lines += ["      attempts_call();", f"      const td_status status = {function.name}({call});", "      attempts_answer(status);"]
    back = [f"WITHOUT_MEMORY({line.rstrip(';')});" for line in give_back(function, handles, frees)]
    nulls = [f"attempts_null(o_{p.name});" for p in outs if "*" in p.out_type()]
    lines += [f"      if (status == TD_OK) {{ {' '.join(back)} }} else {{ {' '.join(nulls)} }}",
              "      attempts_check(&m);", "    }"]
    lines += [f"    (void)o_{p.name};" for p in outs]
    lines += ["    attempts_world_end(&m);", "  }", "  attempts_end();"]
    name = function.name + (f"_{number}" if number else "")
    ends = ""
    if function.name in ENDS_WITH_LIBTORCH_2:
        ends = '  if (td_torch_version()[0] != \'1\') td_test_skip("libtorch ends the process");\n'
    return f"\nTD_TEST({name}) {{\n{need(function)}{ends}" + "\n".join(lines) + "\n}\n"


def without_memory_test(function, handles):
    """A function without a status: it works, or does nothing."""
    values = [p.valid(handles) for p in function.parameters]
    call = f"{function.name}({', '.join(values)})"
    limits = spared(function, {})
    limits = f"td_malloc_threads({int('OWN_THREAD' not in limits)}); td_malloc_ours({int('OURS_ONLY' in limits)});"
    gone = [f"{value} = NULL;" for value in values if function.name.endswith("_free") and value.startswith("m.")]
    return (f"\nTD_TEST({function.name}) {{\n{need(function)}  misuse m;\n  td_malloc_required();\n  {limits}\n  misuse_begin(&m);\n"
            f"  WITHOUT_MEMORY({'' if function.result == 'void' else '(void)' + '!' * (function.result == 'td_status')}{call});\n  {' '.join(gone)}\n  misuse_end(&m);\n}}\n")


def allocation_tests(functions, handles, frees):
    text = ('#include "attempts.h"\n#include "td_malloc.h"\n'
            "#define TWO_NAMES(one, other) ((const char *const[]){one, other})\n"
            "#define OPTIONS(type, ...) (&(const type){.struct_size = (uint32_t)sizeof(type), __VA_ARGS__})\n")
    listed = {f.name for f in functions}
    for table in (VARIANTS, FORMS, INSTEAD, KNOWN, VALUES_MAY_DIFFER, SPARE_MAY_STAY, NOT_WITHOUT_MEMORY):
        if unknown := set(table) - listed:
            sys.exit(f"gen_misuse.py: there is no {', '.join(sorted(unknown))}")
    for function in functions:
        if function.is_status():
            for number, changed in enumerate([{}] + VARIANTS.get(function.name, [])):
                text += allocation_test(function, handles, frees, number, changed)
        elif function.name not in NOT_WITHOUT_MEMORY:
            text += without_memory_test(function, handles)
    return text


def main(swig, include, output, kind="misuse"):
    functions = parse(swig, pathlib.Path(include))
    frees = {f.parameters[0].pointee: f.name for f in functions
             if f.name.endswith("_free") and len(f.parameters) == 1}
    handles = {kind: VALID[kind, None].removeprefix("m.") for kind in frees if (kind, None) in VALID}
    if missing := set(frees) - set(handles):
        sys.exit(f"gen_misuse.py: no valid handle is known for {', '.join(sorted(missing))}; add it to VALID and misuse.h")
    text, skipped = HEAD, []
    if kind in ("nested", "graph"):
        for function in functions:
            takes = any(p.pointee == "td_tensordict" or p.name in ("sources", "others") for p in function.parameters)
            if function.is_status() and takes and kind == "graph":
                if function.name not in NO_GRAPH:
                    text += graph_test(function, handles, frees)
            elif function.is_status() and takes and function.name not in NO_NESTED_TENSOR:
                text += nested_tensor_test(function, handles, frees)
        pathlib.Path(output).write_text(text, encoding="utf-8")
        return
    if kind == "allocation":
        text += allocation_tests(functions, handles, frees)
        pathlib.Path(output).write_text(text, encoding="utf-8")
        return
    if kind == "random":
        for function in functions:
            lent = any(p.name in NOT_RANDOM or p.type.removeprefix("p.") in LENT for p in function.parameters)
            if function.is_status() and not lent:
                text += random_test(function, handles, frees)
        pathlib.Path(output).write_text(text, encoding="utf-8")
        return
    for function in functions:
        if function.is_status():
            text += status_test(function, handles, frees)
        elif len(function.parameters) == 1 and function.parameters[0].pointee in handles:
            text += quiet_test(function, handles)
        elif any(p.is_pointer and not p.nullable for p in function.parameters):
            sys.exit(f"gen_misuse.py: {function.name} takes a pointer that must not be NULL but returns no status")
        else:
            skipped.append(function.name)
    text += "\n/* Nothing can be misused in " + ", ".join(skipped) + ". */\n"
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
