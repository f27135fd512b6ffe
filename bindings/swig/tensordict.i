/* tensordict.i: the interface file for every SWIG back-end.
 *
 *   swig -lua -I<prefix>/include tensordict.i
 *
 * The raw layers of Rust, Julia and C# come from the same file, see bindings/tools/bindgen.py. */
%module tensordict

%{
#include "tensordict/td.h"
%}

/* What the header says in a brace initialiser, which SWIG does not read. Zero unless named here. */
%feature("td:default", "device_index=-1") td_load_options;
%feature("td:default", "device_index=-1") td_consolidate_options;
%feature("td:default", "device_index=-1") td_schema_options;
%feature("td:default", "device_index=-1") td_like_options;
%feature("td:default", "device_index=-1") td_module_load_options;
%feature("td:default", "lr=0.001, beta1=0.9, beta2=0.999, eps=0.00000001") td_optimizer_options;
%feature("td:default", "alpha=1.0") td_binary_options;
%feature("td:default", "alpha=0.6, beta=0.4, eps=0.00000001, gamma=0.99") td_replay_options;
%feature("td:default", "ratio=0.8") td_replay_hindsight_options;
%feature("td:default", "correction=1, q=0.5") td_reduce_options;

/* Texts that a struct borrows; its writer keeps them. */
%warnfilter(451) td_call_argument::name;
%warnfilter(451) td_call_argument::text;
%warnfilter(451) td_damage::path;
%warnfilter(451) td_damage::message;
%warnfilter(451) td_field::name;
%warnfilter(451) td_field::default_json;

#ifdef SWIGLUA
%include "lua.i"
#endif
#ifdef SWIGCSHARP
%include "csharp.i"
#endif

/* SWIG does not follow #include: each header by name, in the order in which they build on others. */
%include "tensordict/td_base.h"
%include "tensordict/td_tensor.h"
%include "tensordict/td_dict.h"
%include "tensordict/td_index.h"
%include "tensordict/td_shape.h"
%include "tensordict/td_entries.h"
%include "tensordict/td_device.h"
%include "tensordict/td_memmap.h"
%include "tensordict/td_reload.h"
%include "tensordict/td_future.h"
%include "tensordict/td_consolidate.h"
%include "tensordict/td_share.h"
%include "tensordict/td_message.h"
%include "tensordict/td_group.h"
%include "tensordict/td_lazy.h"
%include "tensordict/td_sub_tensordict.h"
%include "tensordict/td_non_tensor.h"
%include "tensordict/td_apply.h"
%include "tensordict/td_math.h"
%include "tensordict/td_join.h"
%include "tensordict/td_rows.h"
%include "tensordict/td_pack.h"
%include "tensordict/td_mask.h"
%include "tensordict/td_like.h"
%include "tensordict/td_map.h"
%include "tensordict/td_call.h"
%include "tensordict/td_names.h"
%include "tensordict/td_module.h"
%include "tensordict/td_distribution.h"
%include "tensordict/td_nested_tensor.h"
%include "tensordict/td_tensorclass.h"
%include "tensordict/td_grad.h"
%include "tensordict/td_optimizer.h"
%include "tensordict/td_loader.h"
%include "tensordict/td_random.h"
%include "tensordict/td_replay.h"
%include "tensordict/td_dataset.h"
%include "tensordict/td_hdf5.h"
%include "tensordict/td_arrow.h"
%include "tensordict/td_store.h"
%include "tensordict/td_state.h"
%include "tensordict/td_layout.h"
%include "tensordict/td_archive.h"
%include "tensordict/td_file.h"
%include "tensordict/td_host.h"
%include "tensordict/td_table.h"
%include "tensordict/td_verify.h"
%include "tensordict/td_writer.h"
%include "tensordict/td_append.h"
