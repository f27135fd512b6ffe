// Arithmetic, reductions, gradients, operators by name.
#include "row.h"

#include <cstring>

namespace attack {

namespace {

td_unary_op unary(Call &c, bool inplace) {
  const std::int64_t op = c.number(1, inplace ? 31 : 36);
  return static_cast<td_unary_op>(op > 31 ? op + 8 : op);
}

td_binary_op binary(Call &c) {
  const std::int64_t op = c.number(1, 22);
  return static_cast<td_binary_op>(op > 16 ? op + 23 : op);
}

td_binary_options binary_options(Call &c) {
  td_binary_options options = TD_BINARY_OPTIONS_INIT;
  if (!c.choices.chance(25)) return options;
  options.missing = static_cast<td_missing>(c.number(0, 2));
  if (options.missing == TD_MISSING_DEFAULT) options.fallback = c.tensor();
  if (c.choices.chance(30)) options.alpha = 2;
  return options;
}

// Room for the dimensions stays with the call.
td_reduce_options reduce_options(Call &c, const td_tensordict *td) {
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  options.over = static_cast<td_reduce_over>(c.number(0, 2));
  if (options.over == TD_REDUCE_OVER_DIMS) {
    const Sizes size = Call::batch(td);
    auto &dims = c.sizes({c.dim(size)});
    options.dims = dims.data();
    options.dims_len = 1;
  }
  options.keepdim = c.flag("keepdim");
  if (c.choices.chance(20)) options.dtype = static_cast<td_dtype>(c.number(1, 12));
  return options;
}

td_call_argument argument(td_argument_kind kind) {
  td_call_argument argument;
  std::memset(&argument, 0, sizeof argument);
  argument.kind = kind;
  return argument;
}

// Operators that take: nothing, a tensor, a dimension, a tensor, nothing, a tensor, and two that divide. Those
// that write are given a target.
td_status by_name(Call &c, const td_tensordict *td, td_tensordict *target,
                  const std::vector<const char *> &names) {
  const auto which = static_cast<std::size_t>(c.number(0, 7));
  td_call_argument arguments[2] = {argument(TD_ARGUMENT_LEAF), argument(TD_ARGUMENT_INT)};
  if (which % 2 != 0 || which == 6) {
    const bool dict = c.flag("dict");
    arguments[1] = argument(dict ? TD_ARGUMENT_DICT : TD_ARGUMENT_TENSOR);
    if (dict) {
      arguments[1].dict = c.source_like(td);
    } else {
      arguments[1].tensor = c.tensor_of(Call::batch(td));
    }
  }
  c.tell(names[which]);
  const std::size_t count = which == 0 || which == 4 ? 1 : 2;
  if (target != nullptr) return td_call_inplace(target, names[which], arguments, count);
  return td_call(td, names[which], arguments, count, nullptr, c.dicts(1), 1, c.out_count());
}

// A module that passes an entry on under another name, twice in a row: the second may read what the first wrote.
td_module *passes_on(Call &c, const td_tensordict *td) {
  static const char *const names[] = {"param"};
  td_module *both[2] = {nullptr, nullptr}, *row = nullptr;
  td_status status = TD_OK;
  for (td_module *&one : both) {
    const std::vector<const char *> &from = c.path(td), &to = c.new_path();
    const td_key in_key{from.data(), from.size()}, out_key{to.data(), to.size()};
    td_distribution part{};
    part.kind = TD_DISTRIBUTION_DELTA;
    part.in_keys = &in_key;
    part.in_keys_len = 1;
    part.names = names;
    part.names_len = 1;
    part.out_key = &out_key;
    if (status == TD_OK) status = td_module_probabilistic(&part, 1, nullptr, &one);
  }
  td_module_sequence_options options = TD_MODULE_SEQUENCE_OPTIONS_INIT;
  options.flags = c.flag("partial") != 0 ? TD_MODULE_SEQUENCE_PARTIAL_TOLERANT : 0;
  if (status == TD_OK) status = td_module_sequence(both, 2, &options, &row);
  for (td_module *one : both) td_module_free(one);
  return row;
}

using namespace drawn;

const Operation rows[] = {
    {"td_unary", reads | rounded,
     [](Call &c) {
       const auto *td = c.source();
       return td_unary(td, unary(c, false), c.dict());
     }},
    {"td_unary_inplace", writes | rounded,
     [](Call &c) {
       auto *td = c.target();
       return td_unary_inplace(td, unary(c, true));
     }},
    {"td_binary", reads | rounded,
     [](Call &c) {
       const auto *td = c.source();
       const auto op = binary(c);
       const auto operand = c.operand(td);
       const auto options = binary_options(c);
       return td_binary(td, op, &operand, &options, c.dict());
     }},
    {"td_binary_inplace", writes | rounded,
     [](Call &c) {
       auto *td = c.target();
       const auto op = binary(c);
       const auto operand = c.operand(td);
       const auto options = binary_options(c);
       return td_binary_inplace(td, op, &operand, &options);
     }},
    {"td_ternary", reads | rounded,
     [](Call &c) {
       const auto *td = c.source();
       const auto op = static_cast<td_ternary_op>(c.number(1, 4));
       const auto one = c.operand(td), two = c.operand(td);
       return td_ternary(td, op, &one, &two, 0.5, c.dict());
     }},
    {"td_ternary_inplace", writes | rounded,
     [](Call &c) {
       auto *td = c.target();
       const auto op = static_cast<td_ternary_op>(c.number(1, 4));
       const auto one = c.operand(td), two = c.operand(td);
       return td_ternary_inplace(td, op, &one, &two, 0.5);
     }},
    {"td_reduce", reads | rounded,
     [](Call &c) {
       const auto *td = c.source();
       const auto op = static_cast<td_reduce_op>(c.number(1, 19));
       const auto options = reduce_options(c, td);
       return td_reduce(td, op, &options, c.dict());
     }},
    {"td_reduce_pair", reads | rounded,
     [](Call &c) {
       const auto *td = c.source();
       static const td_reduce_op ops[] = {TD_REDUCE_MIN, TD_REDUCE_MAX, TD_REDUCE_CUMMIN,
                                          TD_REDUCE_CUMMAX, TD_REDUCE_SUM};
       const auto op = ops[c.number(0, 4)];
       const auto options = reduce_options(c, td);
       return td_reduce_pair(td, op, &options, c.dict(), c.dict());
     }},
    {"td_reduce_leaves", reads | rounded,
     [](Call &c) {
       const auto *td = c.source();
       const auto op = static_cast<td_reduce_op>(c.number(1, 15));
       const auto options = reduce_options(c, td);
       return td_reduce_leaves(td, op, &options, c.out_tensor());
     }},
    ROW(td_all, reads, Source, OutFlag),
    ROW(td_any, reads, Source, OutFlag),
    ROW(td_zero, writes, Target),
    {"td_fill", writes,
     [](Call &c) {
       auto *td = c.target();
       auto &p = c.path(td);
       const auto operand = c.operand(td);
       return td_fill(td, p.data(), p.size(), &operand);
     }},
    {"td_call", reads | rounded,
     [](Call &c) {
       return by_name(
           c, c.source(), nullptr,
           {"neg", "add", "cumsum", "minimum", "clone", "clamp", "floor_divide", "remainder"});
     }},
    {"td_call_inplace", writes | rounded,
     [](Call &c) {
       auto *td = c.target();
       return by_name(
           c, td, td,
           {"neg_", "add_", "cumsum_", "fmod_", "zero_", "mul_", "floor_divide_", "remainder_"});
     }},
    {"td_module_call", reads,
     [](Call &c) {
       const auto *td = c.source();
       td_module *module = passes_on(c, td);
       const td_status status = td_module_call(td, module, nullptr, c.dict());
       td_module_free(module);
       return status;
     }},
    {"td_module_call_inplace", writes | stores,
     [](Call &c) {
       auto *td = c.target();
       td_module *module = passes_on(c, td);
       const td_status status = td_module_call_inplace(td, module, nullptr);
       td_module_free(module);
       return status;
     }},
    {"td_detach", reads,
     [](Call &c) {
       const auto *td = c.source();
       return td_detach(td, static_cast<td_detach_kind>(c.number(0, 1)), c.dict());
     }},
    ROW(td_detach_inplace, writes, Target),
    {"td_set_requires_grad", writes,
     [](Call &c) {
       auto *td = c.target();
       return td_set_requires_grad(td, c.flag("on"));
     }},
    ROW(td_grad, reads, Source, OutDict),
    {"td_set_grad", writes,
     [](Call &c) {
       auto *td = c.target();
       return td_set_grad(td, c.flag("source") ? c.source_like(td) : nullptr);
     }},
    {"td_zero_grad", writes,
     [](Call &c) {
       auto *td = c.target();
       return td_zero_grad(td, c.flags("to zero", TD_ZERO_GRAD_KEEP));
     }},
    {"td_backward", writes | rounded,
     [](Call &c) {
       auto *td = c.target();
       return td_backward(td, c.flag("gradient") ? c.source_like(td) : nullptr, nullptr, nullptr);
     }},
};

}  // namespace

void add_math_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
