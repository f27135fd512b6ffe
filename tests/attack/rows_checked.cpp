// Calls whose answer is known by other means: exact arithmetic, and what comes back from where it was stored.
#include "operation.h"

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace attack {

namespace {

using Leaves = std::map<std::string, at::Tensor>;
__extension__ using Wide = __int128;  // no sum of this test leaves it

at::Tensor tensor_of(const td_tensor *handle) {
  void *impl = nullptr;
  if (td_tensor_to_torch(handle, 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR, &impl) !=
      TD_OK)
    std::abort();
  return at::Tensor(c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>::reclaim_copy(
      static_cast<at::TensorImpl *>(impl)));
}

// All tensors by their paths; those of a lazy stack are those of its elements, those of a sub-tensordict
// are those of its copy.
void collect(const td_tensordict *td, const std::string &front, Leaves &leaves) {
  td_dict_kind kind = TD_DICT_DENSE;
  td_tensordict *copy = nullptr;
  if (td_kind(td, &kind) == TD_OK && kind == TD_DICT_SUB_TENSORDICT &&
      td_clone(td, 0, &copy) == TD_OK) {
    collect(copy, front, leaves);
    return td_free(copy);
  }
  std::int64_t dim = 0;
  std::size_t elements = 0;
  if (td_lazy_info(td, &dim, &elements) == TD_OK) {
    for (std::size_t i = 0; i < elements; ++i) {
      td_tensordict *one = nullptr;
      if (element(td, dim, i, &one) == TD_OK)
        collect(one, front + "[" + std::to_string(i) + "]/", leaves);
      td_free(one);
    }
    return;
  }
  td_keys *keys = nullptr;
  if (td_keys_of(td, nullptr, &keys) != TD_OK) return;
  for (std::size_t i = 0; i < td_keys_len(keys); ++i) {
    const char *const *path = nullptr;
    std::size_t length = 0;
    td_tensor *tensor = nullptr;
    td_tensordict *dict = nullptr;
    if (td_keys_at(keys, i, &path, &length) != TD_OK) continue;
    const std::string name = front + path[0] + "/";
    if (td_get(td, path, length, &tensor) == TD_OK) {
      leaves[name] = tensor_of(tensor);
    } else if (td_get_dict(td, path, length, &dict) == TD_OK) {
      collect(dict, name, leaves);
    }
    td_tensor_free(tensor);
    td_free(dict);
  }
  td_keys_free(keys);
}

Leaves leaves_of(const td_tensordict *td) {
  Leaves leaves;
  collect(td, "", leaves);
  return leaves;
}

bool whole_numbers(const at::Tensor &tensor) {
  return c10::isIntegralType(tensor.scalar_type(), true);
}

std::vector<std::int64_t> integers(const at::Tensor &tensor) {
  const at::Tensor wide = tensor.to(at::kLong).contiguous();
  const auto *first = wide.data_ptr<std::int64_t>();
  return std::vector<std::int64_t>(first, first + wide.numel());
}

// What a number of so many bits keeps of a value.
std::int64_t wrapped(Wide value, const at::Tensor &like) {
  const auto low = static_cast<std::uint64_t>(value);
  switch (like.scalar_type()) {
    case at::kByte: return static_cast<std::uint8_t>(low);
    case at::kChar: return static_cast<std::int8_t>(low);
    case at::kShort: return static_cast<std::int16_t>(low);
    case at::kInt: return static_cast<std::int32_t>(low);
    default: return static_cast<std::int64_t>(low);
  }
}

constexpr std::int64_t bounds[] = {0,
                                   1,
                                   -1,
                                   2,
                                   127,
                                   128,
                                   -128,
                                   -129,
                                   200,
                                   255,
                                   256,
                                   300,
                                   32767,
                                   40000,
                                   -2147483649,
                                   std::int64_t{1} << 40,
                                   std::int64_t{1} << 62};

// The exact value of an operation; that of sums and products is what the dtype keeps of it.
std::int64_t exact(td_binary_op op, std::int64_t a, std::int64_t b, const at::Tensor &result) {
  switch (op) {
    case TD_BINARY_ADD: return wrapped(Wide(a) + b, result);
    case TD_BINARY_SUB: return wrapped(Wide(a) - b, result);
    case TD_BINARY_RSUB: return wrapped(Wide(b) - a, result);
    case TD_BINARY_MUL: return wrapped(Wide(a) * b, result);
    case TD_BINARY_MAXIMUM:
    case TD_BINARY_CLAMP_MIN: return std::max(a, b);
    default: return std::min(a, b);
  }
}

// Integers with an integer.
std::string check_numbers(const Leaves &from, const Leaves &got, td_binary_op op,
                          std::int64_t number) {
  for (const auto &one : from) {
    const auto found = got.find(one.first);
    if (found == got.end()) return "\"" + one.first + "\" is missing";
    if (!whole_numbers(one.second) || !whole_numbers(found->second) ||
        found->second.scalar_type() == at::kBool)
      continue;
    const auto before = integers(one.second), after = integers(found->second);
    for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
      const std::int64_t want = exact(op, before[i], number, found->second);
      if (after[i] != want)
        return std::to_string(before[i]) + " gave " + std::to_string(after[i]) + ", not " +
               std::to_string(want);
    }
  }
  return "";
}

td_status with_number(Call &c, bool in_place) {
  const auto *td = c.source();
  static const td_binary_op ops[] = {TD_BINARY_CLAMP_MAX, TD_BINARY_CLAMP_MIN, TD_BINARY_MAXIMUM,
                                     TD_BINARY_MINIMUM,   TD_BINARY_ADD,       TD_BINARY_SUB,
                                     TD_BINARY_MUL,       TD_BINARY_RSUB};
  const auto op = ops[c.number(0, 7)];
  td_operand operand;
  std::memset(&operand, 0, sizeof operand);
  operand.kind = TD_OPERAND_INT;
  operand.integer = bounds[c.number(0, 16)];
  c.tell(std::to_string(operand.integer));
  td_tensordict **result = c.dict();
  td_status status = in_place ? td_clone(td, 0, result) : TD_OK;
  if (status == TD_OK)
    status = in_place ? td_binary_inplace(*result, op, &operand, nullptr)
                      : td_binary(td, op, &operand, nullptr, result);
  if (status == TD_OK) {
    c.wrong = check_numbers(leaves_of(td), leaves_of(*result), op, operand.integer);
  } else {
    td_free(*result);
    *result = nullptr;
  }
  return status;
}

td_status clamp(Call &c) {
  const auto *td = c.source();
  td_operand low, high;
  std::memset(&low, 0, sizeof low);
  low.kind = TD_OPERAND_INT;
  high = low;
  low.integer = bounds[c.number(0, 16)];
  high.integer = bounds[c.number(0, 16)];
  const bool open = c.flag("no lower bound");
  td_tensordict **result = c.dict();
  const td_status status =
      td_ternary(td, TD_TERNARY_CLAMP, open ? nullptr : &low, &high, 1, result);
  if (status != TD_OK) return status;
  const Leaves from = leaves_of(td), got = leaves_of(*result);
  for (const auto &one : from) {
    const auto found = got.find(one.first);
    if (found == got.end()) {
      c.wrong = "\"" + one.first + "\" is missing";
      return status;
    }
    if (!whole_numbers(one.second) || !whole_numbers(found->second)) continue;
    const auto before = integers(one.second), after = integers(found->second);
    for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
      const std::int64_t above = open ? before[i] : std::max(before[i], low.integer);
      const std::int64_t want = std::min(above, high.integer);
      if (after[i] != want)
        c.wrong = std::to_string(before[i]) + " between " + std::to_string(low.integer) + " and " +
                  std::to_string(high.integer) + " gave " + std::to_string(after[i]);
    }
  }
  return status;
}

// Reductions of all integers to one number.
td_status reduce_all(Call &c) {
  const auto *td = c.source();
  static const td_reduce_op ops[] = {TD_REDUCE_SUM, TD_REDUCE_AMIN, TD_REDUCE_AMAX};
  const auto op = ops[c.number(0, 2)];
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  td_tensor **result = c.out_tensor();
  const td_status status = td_reduce_leaves(td, op, &options, result);
  if (status != TD_OK) return status;
  const at::Tensor got = tensor_of(*result);
  bool any = false;
  Wide want = 0;
  for (const auto &one : leaves_of(td)) {
    if (!whole_numbers(one.second) || !whole_numbers(got)) return status;
    for (const std::int64_t value : integers(one.second)) {
      want = !any || op == TD_REDUCE_SUM ? (any ? want + value : Wide(value))
             : op == TD_REDUCE_AMIN      ? std::min(want, Wide(value))
                                         : std::max(want, Wide(value));
      any = true;
    }
  }
  if (got.numel() == 1 && any && integers(got)[0] != wrapped(want, got))
    c.wrong = "the integers give " + std::to_string(wrapped(want, got)) + ", not " +
              std::to_string(integers(got)[0]);
  return status;
}

// What comes back is what went in, whatever its kind.
std::string unlike(const td_tensordict *got, const td_tensordict *want, Form form = Form::entries) {
  Snapshot here(form), there(form);
  here.add(got);
  there.add(want);
  return difference(here, there, false);
}

td_status state_and_back(Call &c) {
  const auto *td = c.source();
  if (c.plan().grads) return TD_OK;  // a state has none
  td_dict_kind kind = 0;
  if (td_kind(td, &kind) != TD_OK || kind == TD_DICT_SUB_TENSORDICT) return TD_OK;
  td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
  options.nested = c.flag("nested");
  td_load_state_dict_options load = TD_LOAD_STATE_DICT_OPTIONS_INIT;
  // A lazy stack of several dtypes is stored as one, which replaces them all.
  load.assign = c.flag("assign") && !c.plan().lazy();
  td_tensordict *state = nullptr, *copy = nullptr;
  td_tensordict **into = c.dict();
  td_status status = td_state_dict(td, &options, &state);
  if (status == TD_OK) status = td_clone(state, 0, &copy);
  c.keep(state);
  c.keep(copy);
  if (status == TD_OK) status = td_clone(td, 0, into);
  if (status == TD_OK) status = td_zero(*into);
  if (status == TD_OK) status = td_load_state_dict(*into, copy, &load);
  if (status == TD_ERR_UNSUPPORTED || copy == nullptr || *into == nullptr) {
    td_free(*into);
    *into = nullptr;
    return status;
  }
  if (status != TD_OK) {
    c.wrong = std::string("its own state is refused: ") + td_last_error_message();
  } else if (!c.plan().mixes_dtypes()) {  // the state of such a lazy stack has one dtype for a key
    c.wrong = unlike(*into, td);
  }
  return TD_OK;
}

td_status schema_and_back(Call &c) {
  const auto *td = c.source();
  std::size_t length = 0;
  std::string text(Call::text_room, '\0'), again(Call::text_room, '\0');
  td_status status = td_schema(td, &text[0], text.size(), &length);
  if (status != TD_OK) return status;
  if (std::strstr(text.c_str(), "-1") != nullptr) return TD_OK;  // sizes that differ become 0
  td_tensordict **made = c.dict();
  status = td_from_schema(text.c_str(), nullptr, made);
  // A nested dictionary may have got fewer batch dimensions since it was set.
  if (status == TD_ERR_SHAPE) return TD_OK;
  if (status != TD_OK) {
    c.wrong = std::string("its own schema is refused: ") + td_last_error_message();
    return TD_OK;
  }
  status = td_schema(*made, &again[0], again.size(), &length);
  if (status == TD_OK && std::strcmp(text.c_str(), again.c_str()) != 0)
    c.wrong = std::string(again.c_str()) + " came back from " + text.c_str();
  return status;
}

// What differs between a batch and the same rows made dense, before or after they are taken: of elements with unequal keys
// a batch has those of its own rows, or those that all rows have.
std::string unlike_rows(const td_tensordict *batch, const td_tensordict *td,
                        const td_index_item &item) {
  td_tensordict *rows = nullptr, *plain = nullptr, *all = nullptr, *of_all = nullptr;
  std::string wrong;
  if (td_index(td, &item, 1, &rows) == TD_OK && td_contiguous(rows, &plain) == TD_OK)
    wrong = unlike(batch, plain, Form::as_read);
  if (!wrong.empty() && td_contiguous(td, &all) == TD_OK &&
      td_index(all, &item, 1, &of_all) == TD_OK && unlike(batch, of_all, Form::as_read).empty())
    wrong.clear();
  for (td_tensordict *one : {rows, plain, all, of_all}) td_free(one);
  return wrong;
}

// Rows in their order, batch by batch.
td_status loader(Call &c) {
  const auto *td = c.source();
  if (c.plan().grads) return TD_OK;  // a batch has none
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  options.rows = c.number(1, 3);
  options.epochs = 1;
  td_loader *made = nullptr;
  td_status status = td_loader_create(td, &options, &made);
  std::int64_t at = 0;
  for (int i = 0; i < 6 && status == TD_OK; ++i) {
    td_tensordict **batch = c.dict();
    status = td_loader_next(made, batch);
    if (status != TD_OK || *batch == nullptr) break;
    td_index_item item = {};
    item.kind = TD_INDEX_SLICE;
    item.flags = TD_INDEX_HAS_START | TD_INDEX_HAS_STOP;
    item.start = at;
    item.stop = at + options.rows;
    at = item.stop;
    if (c.wrong.empty()) c.wrong = unlike_rows(*batch, td, item);
  }
  td_loader_free(made);
  return status;
}

// A buffer with room for all rows holds what was put into it.
td_status replay(Call &c) {
  const auto *td = c.source();
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.capacity = 64;
  options.rows = 2;
  options.sampler = TD_REPLAY_SAMPLER_RANDOM;
  td_replay *made = nullptr;
  td_tensordict *held = nullptr, *plain = nullptr, *copy = nullptr;
  td_status status = td_replay_create(&options, &made);
  if (status == TD_OK) status = td_replay_extend(made, td);
  const Sizes size = Call::batch(td);
  if (status == TD_OK && size[0] != 0) {
    status = td_replay_dict(made, &held);
    if (status == TD_OK && td_contiguous(td, &plain) == TD_OK) {
      td_key index;
      const char *const name[] = {"index"};
      index.path = name;
      index.path_len = 1;
      td_select_options loose = TD_SELECT_OPTIONS_INIT;
      loose.ignore_missing = 1;
      if (td_exclude(held, &index, 1, &loose, &copy) == TD_OK) {
        Leaves want = leaves_of(plain);
        const Leaves got = leaves_of(copy);
        for (const auto &one : got) {
          const auto found = want.find(one.first);
          if (found == want.end()) {
            c.wrong = "\"" + one.first + "\" was not put in";
          } else if (!found->second.sizes().equals(one.second.sizes()) ||
                     found->second.scalar_type() != one.second.scalar_type() ||
                     !at::allclose(found->second.to(at::kComplexDouble),
                                   one.second.to(at::kComplexDouble), 0, 0, true)) {
            c.wrong = "\"" + one.first + "\" holds other values";
          }
        }
        if (got.size() != want.size()) c.wrong = "entries are missing";
      }
    }
    td_tensordict **drawn = c.dict();
    if (status == TD_OK) {
      status = td_replay_sample(made, 0, drawn);
      if (status != TD_OK) c.wrong = std::string("cannot draw: ") + td_last_error_message();
      if (status != TD_OK) status = TD_OK;
    }
  }
  td_free(held);
  td_free(plain);
  td_free(copy);
  td_replay_free(made);
  return status;
}

const Operation rows[] = {
    {"td_binary (numbers)", reads | rounded, [](Call &c) { return with_number(c, false); }},
    {"td_binary_inplace (numbers)", reads | rounded, [](Call &c) { return with_number(c, true); }},
    {"td_ternary (numbers)", reads | rounded, clamp},
    {"td_reduce_leaves (numbers)", reads | rounded, reduce_all},
    {"td_load_state_dict (its own)", reads, state_and_back},
    {"td_from_schema (its own)", reads, schema_and_back},
    {"td_loader_create", reads, loader},
    {"td_replay_extend", reads, replay},
};

}  // namespace

void add_checked_rows(std::vector<Operation> &all) {
  all.insert(all.end(), std::begin(rows), std::end(rows));
}

}  // namespace attack
