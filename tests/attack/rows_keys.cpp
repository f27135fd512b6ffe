// Entries, keys, updates, indexed reads and writes.
#include "row.h"

namespace attack {

namespace {

bool same_batch_at(const td_tensordict *td, const Items &items, const td_tensordict *value) {
  td_tensordict *part = nullptr;
  if (td_index(td, items.items.data(), items.items.size(), &part) != TD_OK) return true;
  const bool same = Call::batch(part) == Call::batch(value);
  td_free(part);
  return same;
}

// What a function of the caller does with an entry.
struct Caller {
  std::int64_t kind = 0;
  std::int64_t fails_at = -1;
  std::int64_t calls = 0;
};

td_status on_tensor(void *user, const char *const *, size_t, const td_tensor *source,
                    td_tensor **result) {
  auto *caller = static_cast<Caller *>(user);
  if (caller->calls++ == caller->fails_at) return -10001;
  switch (caller->kind) {
    case 0: return td_tensor_clone(source, result);
    case 1: return td_tensor_dup(source, result);
    case 2: return td_tensor_contiguous(source, result);
    case 3: return TD_OK;
    case 4: {
      td_index_item item = {};
      item.kind = TD_INDEX_NONE;
      td_index_item all = {};
      all.kind = TD_INDEX_ELLIPSIS;
      const td_index_item items[] = {all, item};
      return td_tensor_index(source, items, 2, result);
    }
    default: return td_tensor_to(source, TD_DTYPE_FLOAT32, TD_DEVICE_NONE, -1, result);
  }
}

td_status on_entry(void *user, const td_apply_entry *entry, td_tensor **tensor,
                   td_tensordict **dict) {
  if (entry->tensors == nullptr)
    return entry->dicts[0] == nullptr ? TD_OK : td_dup(entry->dicts[0], dict);
  const td_tensor *last = entry->tensors[entry->sources_len - 1];
  return on_tensor(user, entry->path, entry->path_len, last == nullptr ? entry->tensors[0] : last,
                   tensor);
}

Caller caller(Call &c) {
  Caller caller;
  caller.kind = c.number(0, 5);
  if (c.choices.chance(10)) caller.fails_at = c.choices.below(3);
  return caller;
}

td_status is_leaf(void *, const char *const *, size_t path_len, td_entry_kind, int32_t *leaf) {
  *leaf = path_len > 1;
  return TD_OK;
}

td_update_options update_options(Call &c, const td_tensordict *td) {
  td_update_options options = TD_UPDATE_OPTIONS_INIT;
  options.mode = static_cast<td_update_mode>(c.number(0, 2));
  if (c.choices.chance(20)) options.clone = c.flag("clone");
  if (c.choices.chance(10)) options.whole_dicts = c.flag("whole_dicts");
  if (c.choices.chance(10)) options.update_batch_size = c.flag("update_batch_size");
  if (c.choices.chance(20)) options.ignore_lock = c.flag("ignore_lock");
  if (c.choices.chance(15)) {
    auto &keys = c.keys(td);
    options.has_keys = 1;
    options.keys = keys.data();
    options.keys_len = keys.size();
  }
  return options;
}

using namespace drawn;

const Operation rows[] = {
    {"td_create", reads,
     [](Call &c) {
       auto &s = c.sizes(c.plan().base);
       return td_create(s.data(), s.size(), TD_DEVICE_CPU, -1, c.dict());
     }},
    ROW(td_dup, reads, Source, OutDict),
    {"td_clone", reads,
     [](Call &c) {
       const auto *td = c.source();
       return td_clone(td, c.flags("shallow", TD_CLONE_SHALLOW), c.dict());
     }},
    ROW(td_set, writes, Target, Key, TensorOf),
    ROW(td_set_dict, writes, Target, Key, Like),
    ROW(td_set_inplace, writes, Target, Key, TensorOf),
    ROW(td_write_or_set, writes | stores, Target, Key, TensorOf),
    {"td_fill_entry", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       return td_fill_entry(td, p.data(), p.size(),
                            c.tensor_of(c.choices.chance(50) ? Sizes() : Call::batch(td)));
     }},
    ROW(td_get, reads, Source, Key, OutTensor),
    ROW(td_get_dict, reads, Source, Key, OutDict),
    ROW(td_get_non_tensor_json, reads, Source, Key, OutText),
    ROW(td_get_non_tensor_stack_json, reads, Source, Key, OutText),
    ROW(td_get_non_tensor_value_json, reads, Source, Key, OutText),
    ROW(td_get_non_tensor_bytes, reads, Source, Key, OutText),
    {"td_set_non_tensor_json", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       static const char *const texts[] = {"1", "[1,2,3]", "{\"a\":", "\"x\""};
       return td_set_non_tensor_json(td, p.data(), p.size(), texts[c.number(0, 3)]);
     }},
    {"td_set_non_tensor_stack_json", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       static const char *const texts[] = {"[1,2,3]", "[[1],[2],[3]]", "[]", "[1,2]", "[1,2,3,4]"};
       return td_set_non_tensor_stack_json(td, p.data(), p.size(), texts[c.number(0, 4)]);
     }},
    {"td_set_non_tensor_bytes", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       return td_set_non_tensor_bytes(td, p.data(), p.size(), "bytes", 5);
     }},
    ROW(td_get_text, reads, Source, Key, OutText),
    {"td_get_row_text", reads,
     [](Call &c) {
       const auto *td = c.source();
       auto &p = c.path(td);
       return td_get_row_text(td, p.data(), p.size(), c.number(-3, 3), c.out_text(),
                              Call::text_room, c.out_count());
     }},
    {"td_set_text", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       static const char *const texts[] = {"", "x", "\xff", "a longer text than a value holds"};
       return td_set_text(td, p.data(), p.size(), texts[c.number(0, 3)]);
     }},
    {"td_set_texts", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       static const char *const texts[] = {"", "x", "y", "a longer text than a value holds"};
       return td_set_texts(td, p.data(), p.size(), texts, static_cast<size_t>(c.number(0, 4)));
     }},
    ROW(td_spread_non_tensor, writes, Target, Key),
    ROW(td_get_kind, reads, Source, Key, OutFlag),
    ROW(td_get_dtype, reads, Source, Key, OutFlag),
    ROW(td_get_sizes, reads, Source, Key, OutSizes),
    ROW(td_remove, writes, Target, Key),
    {"td_keys_of", reads,
     [](Call &c) {
       const auto *td = c.source();
       td_keys_options options = TD_KEYS_OPTIONS_INIT;
       options.include_nested = c.flag("nested");
       options.leaves_only = c.flag("leaves");
       options.sort = c.flag("sorted");
       options.include_non_tensor = c.flag("data");
       options.contents_first = c.flag("contents first");
       if (c.choices.chance(20)) options.is_leaf = is_leaf;
       td_keys **keys = c.out_keys();
       const td_status status = td_keys_of(td, &options, keys);
       for (std::size_t i = 0; status == TD_OK && i < td_keys_len(*keys); ++i) {
         if (const td_status kind = td_keys_kind_at(*keys, i, c.out_flag()); kind != TD_OK)
           return kind;
       }
       return status;
     }},
    ROW(td_batch_size, reads, Source, OutSizes),
    {"td_set_batch_size", writes,
     [](Call &c) {
       auto *td = c.target();
       Sizes s = Call::batch(td);
       if (!s.empty() && c.choices.chance(60)) s.pop_back();
       if (c.choices.chance(40)) s.push_back(c.choices.below(4));
       auto &sizes = c.sizes(s);
       return td_set_batch_size(td, sizes.data(), sizes.size());
     }},
    {"td_auto_batch_size", writes,
     [](Call &c) {
       auto *td = c.target();
       const std::int64_t most = c.number(-1, 2);
       return td_auto_batch_size(td, most, c.flags("keep", TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT));
     }},
    ROW(td_device, reads, Source, OutFlag, OutFlag),
    ROW(td_lock, writes, Target),
    ROW(td_unlock, writes, Target),
    ROW(td_is_locked, reads, Source, OutFlag),
    ROW(td_is_memmap, reads, Source, OutFlag),
    ROW(td_is_empty, reads, Source, OutFlag),
    ROW(td_nbytes, reads, Source, OutCount),
    ROW(td_is_same, reads | layout, Source, Another, OutFlag),
    ROW(td_equal, reads, Source, Like, OutFlag),
    {"td_print", reads,
     [](Call &c) {
       td_print_options options = TD_PRINT_OPTIONS_INIT;
       options.form = static_cast<td_print_form>(c.number(0, 2));
       return td_print(c.source(), &options, c.out_text(), Call::text_room, c.out_count());
     }},
    ROW(td_to_string, reads, Source, OutText),
    {"td_update", writes | stores,
     [](Call &c) {
       auto *td = c.target();
       const auto *source = c.source_like(td);
       c.broadcasts = Call::batch(td) != Call::batch(source);
       const auto options = update_options(c, td);
       return td_update(td, source, &options);
     }},
    {"td_update_at", writes | stores,
     [](Call &c) {
       auto *td = c.target();
       const Sizes size = Call::batch(td);
       const auto &items = c.items(size);
       const auto plan = c.last_items;
       const auto *part = c.part_of(items, plan, size);
       c.broadcasts = !same_batch_at(td, items, part);
       return td_update_at(td, items.items.data(), items.items.size(), part,
                           c.flags("exact", TD_UPDATE_AT_EXACT));
     }},
    {"td_set_at", writes | stores,
     [](Call &c) {
       auto *td = c.target();
       const Sizes size = Call::batch(td);
       const auto &items = c.items(size);
       const auto plan = c.last_items;
       const auto *part = c.part_of(items, plan, size);
       c.broadcasts = !same_batch_at(td, items, part);
       return td_set_at(td, items.items.data(), items.items.size(), part);
     }},
    ROW(td_fill_at, writes, Target, At, Tensor),
    ROW(td_index, reads, Source, At, OutDict),
    ROW(td_get_entry_at, reads, Source, Key, At, OutTensor),
    ROW(td_set_entry_at, writes, Target, Key, At, Tensor),
    ROW(td_get_or_set, writes, Target, Key, TensorOf, OutTensor),
    ROW(td_pop, writes, Target, Key, OutFlag, OutTensor, OutDict),
    ROW(td_pop_last, writes, Target, OutKeys, OutTensor, OutDict),
    ROW(td_create_nested, writes, Target, Key),
    {"td_rename_key", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       auto &q = c.path(td);
       return td_rename_key(td, p.data(), p.size(), q.data(), q.size(),
                            c.flags("safe", TD_RENAME_KEY_SAFE));
     }},
    {"td_rename_keys", reads,
     [](Call &c) {
       const auto *td = c.source();
       auto &from = c.keys(td);
       auto &to = c.keys(td);
       const std::size_t count = std::min(from.size(), to.size());
       return td_rename_keys(td, from.data(), to.data(), count,
                             c.flags("ignore missing", TD_RENAME_KEYS_IGNORE_MISSING), c.dict());
     }},
    ROW(td_clear, writes, Target),
    {"td_select", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &keys = c.keys(td);
       td_select_options options = TD_SELECT_OPTIONS_INIT;
       options.ignore_missing = c.flag("ignore missing");
       return c.flag("in place") ? td_select_inplace(td, keys.data(), keys.size(), &options)
                                 : td_select(td, keys.data(), keys.size(), &options, c.dict());
     }},
    {"td_exclude", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &keys = c.keys(td);
       td_select_options options = TD_SELECT_OPTIONS_INIT;
       options.ignore_missing = c.flag("ignore missing");
       return c.flag("in place") ? td_exclude_inplace(td, keys.data(), keys.size(), &options)
                                 : td_exclude(td, keys.data(), keys.size(), &options, c.dict());
     }},
    {"td_split_keys", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &one = c.keys(td);
       auto &two = c.keys(td);
       const td_key_set sets[] = {{one.data(), nullptr, one.size()},
                                  {two.data(), nullptr, two.size()}};
       td_split_keys_options options = TD_SPLIT_KEYS_OPTIONS_INIT;
       options.ignore_missing = c.flag("ignore missing");
       options.keep_structure = c.flag("keep structure");
       options.keep_emptied = c.flag("keep emptied");
       return c.flag("in place")
                  ? td_split_keys_inplace(td, sets, 2, &options, c.dicts(3), 3, c.out_count())
                  : td_split_keys(td, sets, 2, &options, c.dicts(3), 3, c.out_count());
     }},
    {"td_empty_like", reads,
     [](Call &c) {
       const auto *td = c.source();
       return td_empty_like(td, c.flags("recurse", TD_EMPTY_LIKE_RECURSE), c.dict());
     }},
    ROW(td_remove_empty, writes, Target),
    ROW(td_filter_non_tensor, reads, Source, OutDict),
    {"td_flatten_keys", writes,
     [](Call &c) {
       auto *td = c.target();
       return c.flag("in place") ? td_flatten_keys_inplace(td, ".", nullptr)
                                 : td_flatten_keys(td, ".", nullptr, c.dict());
     }},
    {"td_unflatten_keys", writes,
     [](Call &c) {
       auto *td = c.target();
       return c.flag("in place") ? td_unflatten_keys_inplace(td, " ")
                                 : td_unflatten_keys(td, " ", c.dict());
     }},
    {"td_merge", reads,
     [](Call &c) {
       const auto all = c.several();
       if (c.flag("callback")) {
         auto user = caller(c);
         return td_merge(all.data(), all.size(), on_entry, &user, c.dict());
       }
       return td_merge(all.data(), all.size(), nullptr, nullptr, c.dict());
     }},
    ROW(td_depth, reads, Source, OutCount),
    {"td_apply", writes,
     [](Call &c) {
       auto *td = c.target();
       auto user = caller(c);
       td_apply_options options = TD_APPLY_OPTIONS_INIT;
       options.filter_empty = static_cast<td_filter_empty>(c.number(0, 2));
       options.propagate_lock = c.flag("lock");
       return c.flag("in place") ? td_apply_inplace(td, &options, on_tensor, &user)
                                 : td_apply(td, &options, on_tensor, &user, c.dict());
     }},
    {"td_apply (out)", writes | stores,
     [](Call &c) {
       auto *out = c.target();
       const auto *td = c.source_like(out);
       auto user = caller(c);
       td_apply_options options = TD_APPLY_OPTIONS_INIT;
       options.out = out;
       return td_apply(td, &options, on_tensor, &user, c.dict());
     }},
    {"td_apply_entries", reads,
     [](Call &c) {
       const auto *td = c.source();
       const td_tensordict *others[] = {c.source_like(td)};
       auto user = caller(c);
       td_apply_options options = TD_APPLY_OPTIONS_INIT;
       options.call_on_nested = c.flag("nested");
       options.fill_missing = c.flag("fill");
       if (options.fill_missing != 0) options.default_value = c.tensor();
       return td_apply_entries(td, others, 1, &options, on_entry, &user, c.dict());
     }},
    {"td_apply_entries (in place)", writes,
     [](Call &c) {
       auto *td = c.target();
       const td_tensordict *others[] = {c.source_like(td)};
       auto user = caller(c);
       return td_apply_entries_inplace(td, others, 1, nullptr, on_entry, &user);
     }},
    ROW(td_become, writes, Target, Beside),
    ROW(td_names, reads, Source, OutKeys),
    {"td_set_names", writes,
     [](Call &c) {
       auto *td = c.target();
       static const char *const all[] = {"one", "two", "three", "four"};
       return td_set_names(td, all, static_cast<std::size_t>(c.number(0, 3)));
     }},
    {"td_rename_dims", writes,
     [](Call &c) {
       auto *td = c.target();
       static const char *const all[] = {"one", "two"};
       static const char *const other[] = {"two", "three"};
       return td_rename_dims(td, all, other, static_cast<std::size_t>(c.number(0, 2)));
     }},
    {"td_refine_names", writes,
     [](Call &c) {
       auto *td = c.target();
       static const char *const all[] = {"...", "two"};
       return td_refine_names(td, all, static_cast<std::size_t>(c.number(0, 2)));
     }},
};

}  // namespace

void add_key_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
