#include "beside.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace attack {

namespace {

// What does not depend on whether a dictionary is a lazy stack, as far as it can be read.
bool reads_alike(const Operation &operation) {
  static const auto *const names = new std::set<std::string>{"td_clone",
                                                             "td_get",
                                                             "td_set_inplace",
                                                             "td_get_entry_at",
                                                             "td_set_entry_at",
                                                             "td_fill_at",
                                                             "td_index",
                                                             "td_permute",
                                                             "td_transpose",
                                                             "td_squeeze",
                                                             "td_unsqueeze",
                                                             "td_expand",
                                                             "td_reshape",
                                                             "td_flatten",
                                                             "td_unflatten",
                                                             "td_movedim",
                                                             "td_narrow",
                                                             "td_split",
                                                             "td_unbind",
                                                             "td_stack",
                                                             "td_cat",
                                                             "td_join_tensors",
                                                             "td_contiguous",
                                                             "td_repeat",
                                                             "td_repeat_interleave",
                                                             "td_roll",
                                                             "td_flip",
                                                             "td_rot90",
                                                             "td_gather",
                                                             "td_pad",
                                                             "td_pad_sequence",
                                                             "td_pack",
                                                             "td_isin",
                                                             "td_remove_duplicates",
                                                             "td_masked_select",
                                                             "td_masked_fill",
                                                             "td_where",
                                                             "td_like",
                                                             "td_like_sized",
                                                             "td_to_dtype",
                                                             "td_unary",
                                                             "td_unary_inplace",
                                                             "td_binary",
                                                             "td_binary_inplace",
                                                             "td_ternary",
                                                             "td_ternary_inplace",
                                                             "td_reduce",
                                                             "td_reduce_pair",
                                                             "td_zero",
                                                             "td_fill",
                                                             "td_call",
                                                             "td_call_inplace",
                                                             "td_set",
                                                             "td_set_dict",
                                                             "td_update",
                                                             "td_set_at",
                                                             "td_update_at",
                                                             "td_reduce_leaves",
                                                             "td_state_dict",
                                                             "td_keys_of",
                                                             "td_apply",
                                                             "td_get_dict",
                                                             "td_get_kind",
                                                             "td_get_dtype",
                                                             "td_get_sizes",
                                                             "td_fill_entry",
                                                             "td_get_or_set",
                                                             "td_all",
                                                             "td_any",
                                                             "td_equal",
                                                             "td_is_empty",
                                                             "td_depth",
                                                             "td_write_or_set",
                                                             "td_load_state_dict",
                                                             "td_select",
                                                             "td_exclude",
                                                             "td_flatten_keys"};
  return names->count(operation.name) != 0;
}

// Whether a lazy stack and what it reads as have equal values whatever is done: nothing is written into the memory of
// elements afterwards, writes meet no elements that overlap, and no element has another dtype than the whole.
bool can_compare_dense(const Plan &plan, const Operation &operation) {
  const bool overlaps =
      std::any_of(plan.tensors.begin(), plan.tensors.end(),
                  [](const TensorPlan &tensor) {
                    bool repeats = tensor.tangled;
                    for (std::size_t i = 0; i < tensor.sizes.size(); ++i)
                      repeats = repeats || (tensor.sizes[i] > 1 && tensor.strides[i] == 0);
                    return repeats;
                  }) ||
      std::any_of(plan.dicts.begin(), plan.dicts.end(),
                  [](const DictPlan &dict) { return dict.kind == DictKind::expand; });
  if (!plan.events.empty() || (overlaps && (operation.flags & writes) != 0)) return false;
  return !plan.mixes_dtypes();
}

// What is done entry by entry: the same for an element as for the stack, with the entries that only some elements have.
bool by_entry(const Operation &operation) {
  static const auto *const names = new std::set<std::string>{"td_clone",
                                                             "td_unary",
                                                             "td_unary_inplace",
                                                             "td_binary",
                                                             "td_binary_inplace",
                                                             "td_ternary",
                                                             "td_ternary_inplace",
                                                             "td_zero",
                                                             "td_fill",
                                                             "td_to_dtype",
                                                             "td_like",
                                                             "td_flatten_keys",
                                                             "td_unflatten_keys",
                                                             "td_empty_like",
                                                             "td_remove_empty",
                                                             "td_filter_non_tensor",
                                                             "td_clear",
                                                             "td_detach",
                                                             "td_select",
                                                             "td_exclude",
                                                             "td_split_keys",
                                                             "td_rename_key",
                                                             "td_remove",
                                                             "td_apply",
                                                             "td_set_non_tensor_json",
                                                             "td_send and td_recv",
                                                             "td_consolidate",
                                                             "td_memmap"};
  return names->count(operation.name) != 0;
}

// What an operation did in one world.
struct Done {
  td_status status = TD_OK;
  std::string message, told;
  Snapshot seen;
  std::optional<std::size_t> one_stack;  // see Call
  bool broadcasts = false;
};

enum class Look { as_read, entries, element };

Done done(World &world, const Operation &operation, Choices &choices, std::size_t arguments,
          Look look) {
  choices.rewind(arguments);
  Call call(world, world, choices);
  const GradMode mode(world.plan.grad_mode);
  Done result;
  result.status = operation.call(call);
  result.told = call.told;
  result.one_stack = call.one_stack();
  result.broadcasts = call.broadcasts;
  if (result.status != TD_OK) {
    result.message = td_last_error_message();
  } else if (look == Look::as_read) {
    result.seen = call.outcome(true, Form::as_read);
  } else if (result.one_stack) {
    const DictPlan &stack = world.plan.dicts[*result.one_stack];
    result.seen = call.entries(look == Look::element ? std::optional(stack.dim) : std::nullopt);
  }
  return result;
}

bool has_exclusive_keys(const World &world) {
  return std::any_of(world.dicts.begin(), world.dicts.end(), [](const td_tensordict *td) {
    td_keys *keys = nullptr;
    const bool any = td_lazy_exclusive_keys(td, &keys) == TD_OK && td_keys_len(keys) != 0;
    td_keys_free(keys);
    return any;
  });
}

// A size in it is 0.
bool holds_nothing(const std::string &form) {
  const auto has = [&](const char *size) { return form.find(size) != std::string::npos; };
  return has("[0") || has(",0") || has(", 0");
}

// The same call in a world of lazy stacks and in one where they were read out.
std::string compare_dense(const Plan &plan, const Operation &operation, Choices &choices,
                          std::size_t arguments) {
  if (!can_compare_dense(plan, operation)) return "";
  World lazy(plan, Memory::own), dense(plan, Memory::dense);
  if (!lazy.trees() || !dense.even() || has_exclusive_keys(lazy)) return "";
  const Done got = done(lazy, operation, choices, arguments, Look::as_read);
  const Done want = done(dense, operation, choices, arguments, Look::as_read);
  // A lazy stack broadcasts a source to its elements, a dense dictionary to its tensors.
  if (got.told != want.told || got.broadcasts) return "";
  // A callback may be called more often, and fails at its n-th call.
  const bool called_back = got.status <= -10000 || want.status <= -10000;
  if ((got.status == TD_OK) != (want.status == TD_OK) && !called_back) {
    const Done &failed = got.status == TD_OK ? want : got;
    // What a lazy stack reads is a copy, which does not overlap what is written. One without elements has nothing that could
    // be refused.
    if (got.status == TD_OK &&
        (failed.message.find("single memory location") != std::string::npos ||
         holds_nothing(got.seen.form) ||
         (failed.message.find("cannot write shape") == 0 && holds_nothing(failed.message))))
      return "";
    return std::string(got.status == TD_OK ? "only the dense one is refused: "
                                           : "only the lazy one is refused: ") +
           td_status_name(failed.status) + " (" + failed.message + ")";
  }
  if (got.status != TD_OK || want.status != TD_OK) return "";
  // A new entry goes into the elements that an index selects, and is read where all have it.
  if (has_exclusive_keys(lazy)) return "";
  const std::string different = difference(got.seen, want.seen, (operation.flags & rounded) != 0);
  // A selection without elements of a lazy stack has no keys, as in tensordict.
  return holds_nothing(want.seen.form) &&
                 different.find(")\" where it should be") != std::string::npos
             ? ""
             : different;
}

// The same call with the first element in the place of each lazy stack.
std::string compare_element(const Plan &plan, const Operation &operation, Choices &choices,
                            std::size_t arguments) {
  World whole(plan, Memory::own), part(plan, Memory::own);
  if (!whole.trees() || !part.take_elements()) return "";
  const Done got = done(whole, operation, choices, arguments, Look::element);
  if (got.status != TD_OK || !got.one_stack) return "";
  const Done want = done(part, operation, choices, arguments, Look::entries);
  if (want.status != TD_OK || got.told != want.told) return "";
  // An element without entries gives nothing alone, and an empty dictionary where others have some.
  Snapshot seen = got.seen;
  if (seen.form.compare(0, want.seen.form.size(), want.seen.form) == 0 &&
      seen.values.size() == want.seen.values.size())
    seen.form = want.seen.form;
  return difference(seen, want.seen, (operation.flags & rounded) != 0);
}

}  // namespace

std::string compare_kinds(const Plan &plan, const Operation &operation, Choices &choices,
                          std::size_t arguments) {
  if (reads_alike(operation)) {
    const std::string dense = compare_dense(plan, operation, choices, arguments);
    if (!dense.empty()) return "differs from a dense dictionary: " + dense;
  }
  if (by_entry(operation)) {
    const std::string element = compare_element(plan, operation, choices, arguments);
    if (!element.empty()) return "differs from what its element gives: " + element;
  }
  return "";
}

}  // namespace attack
