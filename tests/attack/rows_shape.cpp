// Shapes, joins, rows of the batch, copies, devices.
#include "row.h"

#include <algorithm>

namespace attack {

namespace {

td_like_options fill_options(Call &c) {
  td_like_options options = TD_LIKE_OPTIONS_INIT;
  if (c.choices.chance(30)) options.dtype = static_cast<td_dtype>(c.number(1, 12));
  options.value = static_cast<double>(c.number(-1, 2));
  return options;
}

// Other sizes of as many elements, sometimes of others.
Sizes other_sizes(Call &c, const Sizes &size) {
  std::int64_t n = 1;
  for (const std::int64_t one : size) n *= one;
  switch (c.choices.below(6)) {
    case 0: return {n};
    case 1: return {-1};
    case 2: return {1, n};
    case 3: return n % 2 == 0 ? Sizes{n / 2, 2} : Sizes{n, 1};
    case 4: return Sizes(size.rbegin(), size.rend());
    default: return {n + 1};
  }
}

using namespace drawn;

const Operation rows[] = {
    {"td_view", reads,
     [](Call &c) {
       const auto *td = c.source();
       auto &s = c.sizes(other_sizes(c, Call::batch(td)));
       return td_view(td, s.data(), s.size(), c.dict());
     }},
    {"td_reshape", reads,
     [](Call &c) {
       const auto *td = c.source();
       auto &s = c.sizes(other_sizes(c, Call::batch(td)));
       return td_reshape(td, s.data(), s.size(), c.dict());
     }},
    {"td_permute", reads,
     [](Call &c) {
       const auto *td = c.source();
       const Sizes size = Call::batch(td);
       Sizes order;
       for (std::size_t i = 0; i < size.size(); ++i)
         order.push_back(static_cast<std::int64_t>(size.size() - 1 - i) -
                         (c.choices.chance(30) ? static_cast<std::int64_t>(size.size()) : 0));
       if (c.choices.chance(15) && !order.empty()) order.pop_back();
       auto &s = c.sizes(order);
       return td_permute(td, s.data(), s.size(), c.dict());
     }},
    ROW(td_transpose, reads, Source, Dim, Dim, OutDict),
    ROW(td_squeeze, reads, Source, Dim, OutDict),
    ROW(td_squeeze_all, reads, Source, OutDict),
    ROW(td_unsqueeze, reads, Source, Dim, OutDict),
    {"td_expand", reads,
     [](Call &c) {
       const auto *td = c.source();
       Sizes size = Call::batch(td);
       if (c.choices.chance(70)) size.insert(size.begin(), c.choices.below(4));
       auto &s = c.sizes(size);
       return td_expand(td, s.data(), s.size(), c.dict());
     }},
    ROW(td_flatten, reads, Source, Dim, Dim, OutDict),
    {"td_unflatten", reads,
     [](Call &c) {
       const auto *td = c.source();
       const Sizes size = Call::batch(td);
       const std::int64_t dim = c.dim(size);
       auto &s = c.sizes(c.choices.chance(50) ? Sizes{1, -1} : Sizes{2, 2});
       return td_unflatten(td, dim, s.data(), s.size(), c.dict());
     }},
    {"td_movedim", reads,
     [](Call &c) {
       const auto *td = c.source();
       const Sizes size = Call::batch(td);
       const std::int64_t from = c.dim(size), to = c.dim(size);
       return td_movedim(td, &from, &to, 1, c.dict());
     }},
    {"td_narrow", reads,
     [](Call &c) {
       const auto *td = c.source();
       const std::int64_t dim = c.dim(Call::batch(td));
       const std::int64_t start = c.number(0, 3);
       return td_narrow(td, dim, start, c.number(0, 3), c.dict());
     }},
    {"td_atleast", reads,
     [](Call &c) {
       const auto *td = c.source();
       return td_atleast(td, static_cast<std::size_t>(c.number(0, 3)), c.dict());
     }},
    {"td_split", reads,
     [](Call &c) {
       const auto *td = c.source();
       const std::int64_t dim = c.dim(Call::batch(td));
       const auto kind = static_cast<td_split_kind>(c.number(0, 4));
       const bool list = kind == TD_SPLIT_LENGTHS || kind == TD_SPLIT_POSITIONS;
       const std::int64_t numbers[] = {c.number(0, 3), list ? c.number(0, 3) : 0};
       return td_split(td, dim, kind, numbers, list ? 2 : 1, c.dicts(8), 8, c.out_count());
     }},
    {"td_view_dtype", reads,
     [](Call &c) {
       const auto *td = c.source();
       const bool has = c.choices.chance(20);
       auto &s = c.sizes({2});
       return td_view_dtype(td, static_cast<td_dtype>(c.number(1, 13)), has, s.data(), has ? 1 : 0,
                            c.dict());
     }},
    ROW(td_unbind, reads, Source, Dim, OutDicts),
    ROW(td_stack, reads, Several, Dim, OutDict),
    ROW(td_cat, reads, Several, Dim, OutDict),
    ROW(td_maybe_dense_stack, reads, Several, Dim, OutDict),
    {"td_join_into", writes,
     [](Call &c) {
       auto *td = c.target();
       const auto kind = static_cast<td_join_kind>(c.number(0, 1));
       const auto all = c.several();
       // The parts of the target itself, along the dimension that is joined, are the ones that fit.
       std::vector<const td_tensordict *> parts;
       const Sizes size = Call::batch(td);
       const std::int64_t dim =
           size.empty() ? 0 : c.choices.below(static_cast<std::int64_t>(size.size()));
       if (!size.empty() && c.choices.chance(70)) {
         const auto *from = c.source_like(td);
         const std::int64_t length = size[static_cast<std::size_t>(dim)];
         for (std::int64_t i = 0; i < std::min<std::int64_t>(4, length); ++i) {
           std::vector<td_index_item> items(static_cast<std::size_t>(dim) + 1);
           for (auto &item : items) item.kind = TD_INDEX_SLICE;
           items.back().start = c.choices.chance(70) ? length - 1 - i : i;
           items.back().stop = items.back().start + 1;
           if (kind == TD_JOIN_STACK) {
             items.back().kind = TD_INDEX_INT;
           } else {
             items.back().flags = TD_INDEX_HAS_START | TD_INDEX_HAS_STOP;
           }
           td_tensordict *part = nullptr;
           if (td_index(from, items.data(), items.size(), &part) != TD_OK) break;
           c.keep(part);
           parts.push_back(part);
         }
         c.tell("its parts");
       }
       const auto &sources = parts.empty() ? all : parts;
       return td_join_into(td, kind, sources.data(), sources.size(), dim,
                           c.flags("strict", TD_JOIN_INTO_STRICT));
     }},
    {"td_join_entries", writes,
     [](Call &c) {
       auto *td = c.target();
       const auto kind = static_cast<td_join_kind>(c.number(0, 1));
       auto &keys = c.keys(td);
       auto &p = c.new_path();
       const std::int64_t dim = c.dim(Call::batch(td));
       return td_join_entries(td, kind, keys.data(), keys.size(), p.data(), p.size(), dim,
                              c.flags("keep", TD_JOIN_ENTRIES_KEEP));
     }},
    {"td_join_tensors", reads,
     [](Call &c) {
       const auto *td = c.source();
       const auto kind = static_cast<td_join_kind>(c.number(0, 1));
       const std::int64_t dim = c.dim(Call::batch(td));
       return td_join_tensors(td, kind, dim, c.flags("sorted", TD_JOIN_TENSORS_SORTED),
                              c.out_tensor());
     }},
    ROW(td_contiguous, reads, Source, OutDict),
    ROW(td_contiguous_canonical, reads, Source, OutDict),
    ROW(td_is_contiguous, reads, Source, OutFlag),
    {"td_repeat", reads,
     [](Call &c) {
       const auto *td = c.source();
       Sizes counts;
       for (std::size_t i = 0; i < Call::batch(td).size(); ++i)
         counts.push_back(c.choices.below(3));
       auto &s = c.sizes(counts);
       return td_repeat(td, s.data(), s.size(), c.flags("tile", TD_REPEAT_TILE), c.dict());
     }},
    {"td_repeat_interleave", reads,
     [](Call &c) {
       const auto *td = c.source();
       const auto *repeats = c.tensor_of(c.choices.chance(50) ? Sizes() : c.plan().base, true);
       return td_repeat_interleave(td, repeats, c.dim(Call::batch(td)), c.dict());
     }},
    {"td_roll", reads,
     [](Call &c) {
       const auto *td = c.source();
       const std::int64_t dim = c.dim(Call::batch(td)), shift = c.number(-2, 3);
       return td_roll(td, &shift, &dim, 1, c.dict());
     }},
    {"td_flip", reads,
     [](Call &c) {
       const auto *td = c.source();
       const std::int64_t dim = c.dim(Call::batch(td));
       return td_flip(td, &dim, 1, c.dict());
     }},
    {"td_rot90", reads,
     [](Call &c) {
       const auto *td = c.source();
       const std::int64_t times = c.number(-1, 4), one = c.number(0, 1);
       return td_rot90(td, times, one, 1 - one, c.dict());
     }},
    {"td_gather", reads,
     [](Call &c) {
       const auto *td = c.source();
       const Sizes size = Call::batch(td);
       const std::int64_t dim = c.dim(size);
       return td_gather(td, dim, c.tensor_of(c.choices.chance(80) ? size : Sizes()), c.dict());
     }},
    {"td_pad", reads,
     [](Call &c) {
       const auto *td = c.source();
       Sizes pads;
       for (std::size_t i = 0; i < 2 * Call::batch(td).size(); ++i)
         pads.push_back(c.choices.below(3));
       auto &s = c.sizes(pads);
       return td_pad(td, s.data(), s.size(), static_cast<double>(c.number(-2, 300)), c.dict());
     }},
    {"td_pad_sequence", reads,
     [](Call &c) {
       const auto all = c.several();
       td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
       options.dim = c.number(-2, 2);
       if (c.choices.chance(30)) options.value = static_cast<double>(c.number(-1, 300));
       static const char *const masks[] = {"masks", "a", ""};
       if (c.choices.chance(40)) {
         options.masks = masks + c.number(0, 2);
         options.masks_len = 1;
       }
       options.left = c.flag("left");
       return td_pad_sequence(all.data(), all.size(), &options, c.dict());
     }},
    {"td_unpad_sequence", reads,
     [](Call &c) {
       const auto *td = c.source();
       td_unpad_sequence_options options = TD_UNPAD_SEQUENCE_OPTIONS_INIT;
       options.dim = c.number(-1, 1);
       if (c.choices.chance(50)) options.mask = c.mask(Call::batch(td));
       if (c.choices.chance(20)) options.masks = c.source_like(td);
       return td_unpad_sequence(td, &options, c.dict());
     }},
    {"td_collate", reads,
     [](Call &c) {
       const auto all = c.several();
       auto &keys = c.keys(all[0]);
       td_collate_options options = TD_COLLATE_OPTIONS_INIT;
       const std::size_t padded = keys.size() / 2;
       options.pad_keys = keys.data();
       options.pad_keys_len = padded;
       if (c.choices.chance(40)) {
         options.nested_keys = keys.data() + padded;
         options.nested_keys_len = keys.size() - padded;
       }
       static const char *const masks[] = {"masks"};
       options.masks = masks;
       options.masks_len = c.flag("masks");
       return td_collate(all.data(), all.size(), &options, c.dict());
     }},
    {"td_pack", reads,
     [](Call &c) {
       const auto *td = c.source();
       const std::int64_t dim = c.number(-3, 2);
       char layout[4096];
       std::size_t length = 0;
       const td_status status = td_pack_layout(td, dim, layout, sizeof layout, &length);
       if (status != TD_OK) return status;
       return td_pack(td, dim, c.flag("layout") ? layout : nullptr, c.out_tensor());
     }},
    {"td_unpack", reads,
     [](Call &c) {
       static const char *const layouts[] = {
           "{\"keys\": [\"a\"], \"shapes\": [[2]]}",
           "{\"keys\": [[\"n\", \"b\"], \"a\"], \"shapes\": [[], [1]], \"dim\": 0}",
           "{\"keys\": [], \"shapes\": [], \"nested\": [{\"key\": [\"n\"], \"batch\": []}]}"};
       const auto *packed = c.tensor();
       return td_unpack(packed, layouts[c.number(0, 2)], c.dict());
     }},
    ROW(td_isin, reads, Source, Like, Key, Dim, OutTensor),
    ROW(td_remove_duplicates, reads, Source, Key, Dim, OutDict, OutTensor),
    ROW(td_group_by, reads, Source, Key, OutDict, OutDicts),
    ROW(td_masked_select, reads, Source, Mask, OutDict),
    {"td_masked_fill", writes,
     [](Call &c) {
       auto *td = c.target();
       const auto *mask = c.mask(Call::batch(td));
       const auto *value = c.tensor();
       return c.flag("in place") ? td_masked_fill_inplace(td, mask, value)
                                 : td_masked_fill(td, mask, value, c.dict());
     }},
    {"td_where", reads,
     [](Call &c) {
       const auto *td = c.source();
       const auto *mask = c.mask(Call::batch(td));
       const auto *other = c.flag("other") ? c.source_like(td) : nullptr;
       const auto *value = c.flag("value") ? c.tensor() : nullptr;
       return td_where(td, mask, other, value, c.dict());
     }},
    {"td_like", reads,
     [](Call &c) {
       const auto *td = c.source();
       const auto kind = static_cast<td_like_kind>(c.number(1, 3));
       const auto options = fill_options(c);
       return td_like(td, kind, &options, c.dict());
     }},
    {"td_like (random)", reads | layout,
     [](Call &c) {
       const auto *td = c.source();
       static const td_like_kind kinds[] = {TD_LIKE_EMPTY, TD_LIKE_RAND, TD_LIKE_RANDN};
       return td_like(td, kinds[c.number(0, 2)], nullptr, c.dict());
     }},
    {"td_like_sized", reads,
     [](Call &c) {
       const auto *td = c.source();
       const auto kind = static_cast<td_like_kind>(c.number(1, 3));
       const auto options = fill_options(c);
       auto &s = c.sizes(c.choices.chance(50) ? Call::batch(td) : Sizes{2, 1});
       return td_like_sized(td, kind, s.data(), s.size(), &options, c.dict());
     }},
    {"td_allclose", reads,
     [](Call &c) {
       const auto *td = c.source();
       td_allclose_options options = TD_ALLCLOSE_OPTIONS_INIT;
       options.nan_differs = c.flag("nan differs");
       options.common_keys = c.flag("common keys");
       return td_allclose(td, c.source_like(td), &options, c.out_flag(), c.out_text(),
                          Call::text_room, c.out_count());
     }},
    {"td_to_device", reads,
     [](Call &c) { return td_to_device(c.source(), TD_DEVICE_CPU, -1, nullptr, c.dict()); }},
    {"td_to_inplace", writes,
     [](Call &c) {
       auto *td = c.target();
       return td_to_inplace(td, nullptr, static_cast<td_dtype>(c.number(0, 13)), TD_DEVICE_CPU, -1,
                            nullptr);
     }},
    {"td_to_dtype", reads,
     [](Call &c) {
       const auto *td = c.source();
       return td_to_dtype(td, static_cast<td_dtype>(c.number(0, 13)), c.dict());
     }},
    {"td_to", reads,
     [](Call &c) {
       const auto *td = c.source();
       td_to_options options = TD_TO_OPTIONS_INIT;
       options.each_like = c.flag("each like");
       const auto *like = c.flag("like") ? c.source_like(td) : nullptr;
       return td_to(td, like, static_cast<td_dtype>(c.number(0, 13)), TD_DEVICE_CPU, -1, &options,
                    c.dict());
     }},
    ROW(td_clear_device, writes, Target),
    ROW(td_auto_device, writes, Target),
    {"td_measure", reads | layout,
     [](Call &c) {
       const auto *td = c.source();
       std::int64_t result = 0;
       return td_measure(td, static_cast<td_measure_kind>(c.number(0, 7)), &result);
     }},
    {"td_data_pointers", reads | layout,
     [](Call &c) {
       std::int64_t addresses[64];
       const auto *td = c.source();
       return td_data_pointers(td, c.flags("storage", TD_DATA_POINTERS_STORAGE), addresses, 64,
                               c.out_count());
     }},
};

}  // namespace

void add_shape_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
