// Lazy stacks, sub-tensordicts, nested tensors, tensorclasses, writers, states, maps over pieces.
#include "row.h"

#include <cstring>

namespace attack {

namespace {

td_padding_options padding(Call &c) {
  td_padding_options options = TD_PADDING_OPTIONS_INIT;
  options.pad = static_cast<std::int32_t>(c.number(0, 2));
  options.left = c.flag("left");
  options.value = c.choices.chance(20) ? 300 : 1;
  return options;
}

td_status on_piece(void *user, const td_map_piece *, td_tensordict *source,
                   td_tensordict **result) {
  switch (*static_cast<std::int64_t *>(user)) {
    case 0: return td_clone(source, 0, result);
    case 1: return td_dup(source, result);
    case 2: return td_unary(source, TD_UNARY_NEG, result);
    case 3: return TD_OK;
    default: return -10002;
  }
}

// The entry under a path, when it is a nested tensor.
td_tensordict *nested(Call &c, const td_tensordict *td) {
  auto &p = c.path(td);
  td_tensordict *found = nullptr;
  (void)td_get_nested_tensor(td, p.data(), p.size(), &found);
  c.keep(found);
  return found;
}

// Rows through a writer: what it says, and what is there at its end.
td_status write_rows(Call &c, td_tensordict *td) {
  td_writer *writer = nullptr;
  td_status status = td_writer_open(td, nullptr, &writer);
  std::int32_t fields[3] = {-1, -1, -1};
  std::int64_t bound = 0;
  const std::int64_t wanted = c.number(1, 2);
  for (std::int64_t i = 0; i < wanted && status == TD_OK; ++i) {
    auto &p = c.path(td);
    status = td_writer_bind(writer, p.data(), p.size(), &fields[i]);
    if (status == TD_OK) ++bound;
  }
  const bool changes = c.choices.chance(25);
  if (changes) {
    c.tell("changes meanwhile");
    auto &p = c.path(td);
    const bool goes = c.choices.chance(50);
    // Stored, and so written: it shares memory with the others in both worlds.
    const td_status between = goes ? td_remove(td, p.data(), p.size())
                                   : td_set(td, p.data(), p.size(), c.target_tensor());
    (void)between;
  }
  for (std::int64_t row = 0; row < c.number(0, 3) && status == TD_OK; ++row) {
    for (std::int64_t i = 0; i < bound && status == TD_OK; ++i) {
      std::size_t bytes = 0;
      status = td_writer_row_bytes(writer, fields[i], &bytes);
      const std::string data(bytes, static_cast<char>(row % 2));
      if (status == TD_OK) status = td_writer_put(writer, fields[i], data.data(), bytes);
    }
    if (status == TD_OK) status = td_writer_next(writer);
  }
  if (status == TD_OK) status = td_writer_flush(writer);
  if (status == TD_OK) status = td_writer_close(writer);
  td_writer_free(writer);
  return status;
}

using namespace drawn;

const Operation rows[] = {
    ROW(td_kind, reads, Source, OutFlag),
    ROW(td_is_uniquely_owned, reads | layout, Source, OutFlag),
    ROW(td_lazy_stack, reads, Several, Dim, OutDict),
    {"td_lazy_insert", writes,
     [](Call &c) {
       auto *td = c.target();
       const std::int64_t position = c.number(-1, 2);
       return td_lazy_insert(td, position, c.source());
     }},
    ROW(td_lazy_extend, writes, Target, Several),
    {"td_lazy_info", reads,
     [](Call &c) {
       std::int64_t dim = 0;
       return td_lazy_info(c.source(), &dim, c.out_count());
     }},
    ROW(td_lazy_exclusive_keys, reads, Source, OutKeys),
    {"td_lazy_get_padded", reads,
     [](Call &c) {
       const auto *td = c.source();
       auto &p = c.path(td);
       const auto options = padding(c);
       return td_lazy_get_padded(td, p.data(), p.size(), &options, c.out_tensor());
     }},
    ROW(td_lazy_get_jagged, reads, Source, Key, OutTensor, OutTensor),
    ROW(td_to_lazy_stack, reads, Source, Dim, OutDict),
    {"td_densify", reads,
     [](Call &c) {
       const auto *td = c.source();
       const auto options = padding(c);
       return td_densify(td, &options, c.dict());
     }},
    ROW(td_sub_tensordict, reads, Source, At, OutDict),
    ROW(td_sub_tensordict_parent, reads, Source, OutDict),
    ROW(td_nested_tensor_create, reads, Tensor, Tensor, OutDict),
    {"td_nested_tensor_from_tensors", reads,
     [](Call &c) {
       const td_tensor *parts[3];
       const auto n = static_cast<std::size_t>(c.number(1, 3));
       for (std::size_t i = 0; i < n; ++i) parts[i] = c.tensor();
       return td_nested_tensor_from_tensors(parts, n, c.dict());
     }},
    {"td_get_nested_tensor", reads,
     [](Call &c) {
       const auto *td = c.source();
       auto &p = c.path(td);
       td_tensordict *found = nullptr;
       const td_status status = td_get_nested_tensor(td, p.data(), p.size(), &found);
       c.keep(found);
       return status == TD_OK ? td_nested_tensor_values(found, c.out_tensor(), c.out_tensor())
                              : status;
     }},
    {"td_nested_tensor_at", reads,
     [](Call &c) {
       const auto *td = nested(c, c.source());
       const std::int64_t position = c.number(-2, 3);
       return td == nullptr ? TD_OK : td_nested_tensor_at(td, position, c.out_tensor());
     }},
    {"td_nested_tensor_to_padded", reads,
     [](Call &c) {
       const auto *td = nested(c, c.source());
       const auto options = padding(c);
       return td == nullptr
                  ? TD_OK
                  : td_nested_tensor_to_padded(td, &options, c.out_tensor(), c.out_tensor());
     }},
    {"td_set_tensorclass", writes,
     [](Call &c) {
       auto *td = c.target();
       td_tensorclass *type = nullptr;
       td_field field;
       std::memset(&field, 0, sizeof field);
       field.name = "a";
       field.dtype = static_cast<td_dtype>(c.number(0, 7));
       td_status status = td_tensorclass_create("Sample", &field, 1, nullptr, &type);
       if (status == TD_OK) status = td_set_tensorclass(td, type);
       td_tensorclass_free(type);
       if (status == TD_OK && td_tensorclass_of(td, &type) == TD_OK) td_tensorclass_free(type);
       return status;
     }},
    {"td_tensorclass_check", reads,
     [](Call &c) { return td_tensorclass_check(nullptr, c.source()); }},
    {"td_writer", writes | steps, [](Call &c) { return write_rows(c, c.target()); }},
    {"td_state_dict", reads,
     [](Call &c) {
       const auto *td = c.source();
       td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
       options.nested = c.flag("nested");
       options.keep_vars = c.flag("keep vars");
       return td_state_dict(td, &options, c.dict());
     }},
    {"td_load_state_dict", writes | stores,
     [](Call &c) {
       auto *td = c.target();
       const auto *from = c.source_like(td);
       td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
       options.nested = c.flag("nested");
       td_tensordict *state = nullptr;
       if (td_state_dict(from, &options, &state) == TD_OK) from = state;
       c.keep(state);
       td_load_state_dict_options load = TD_LOAD_STATE_DICT_OPTIONS_INIT;
       load.partial = c.flag("partial");
       load.assign = c.flag("assign");
       return td_load_state_dict(td, from, &load);
     }},
    ROW(td_schema, reads, Source, OutText),
    {"td_map", reads,
     [](Call &c) {
       const auto *td = c.source();
       td_map_options options = TD_MAP_OPTIONS_INIT;
       options.num_workers = 1;
       options.dim = c.dim(Call::batch(td));
       options.cut = static_cast<td_map_cut>(c.number(0, 3));
       options.amount = c.number(0, 2);
       std::int64_t kind = c.number(0, 4);
       return td_map(td, &options, on_piece, &kind, c.dict());
     }},
    {"td_map_iter_create", reads | steps,
     [](Call &c) {
       td_map_options options = TD_MAP_OPTIONS_INIT;
       options.num_workers = 1;
       const auto *td = c.source();
       options.dim = c.dim(Call::batch(td));
       options.cut = static_cast<td_map_cut>(c.number(0, 3));
       options.amount = c.number(0, 2);
       options.shuffle = c.flag("shuffle");
       std::int64_t kind = c.number(0, 4);
       td_map_iter *iter = nullptr;
       td_status status = td_map_iter_create(td, &options, on_piece, &kind, &iter);
       for (int i = 0; i < 4 && status == TD_OK; ++i)
         status = td_map_iter_next(iter, c.dict(), nullptr);
       td_map_iter_free(iter);
       return status;
     }},
    {"td_map (out)", writes | streams | steps,
     [](Call &c) {
       auto *out = c.target();
       const auto *td = c.source_like(out);
       td_map_options options = TD_MAP_OPTIONS_INIT;
       options.num_workers = 1;
       options.out = out;
       options.cut = TD_MAP_CUT_SIZE;
       options.amount = 1;
       std::int64_t kind = c.number(0, 4);
       return td_map(td, &options, on_piece, &kind, c.dict());
     }},
};

}  // namespace

void add_kind_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
