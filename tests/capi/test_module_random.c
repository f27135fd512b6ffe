/* Random modules in one another, called for random dictionaries: whatever fails changes nothing and gives nothing,
 * a call leaves its input as it was, and two calls of a module without chance give the same. Memory is what
 * sanitizers judge. TD_MODULE_ROUNDS sets how many modules are tried. */
#include <string.h>

#include "td_modules.h"
#include "td_random.h"

enum { OWN_ERROR = -12345, NAMES = 4 };

static td_random chance;
static uint32_t below(uint32_t n) { return td_random_next(&chance) % n; }
static int one_in(uint32_t n) { return td_random_one_in(&chance, n); }

static const char *const names[] = {"a", "b", "c", "n", "_"};
static const char *const nested[] = {"n", "a"};
/* Of one name, of two, or the one whose values are dropped. */
static const td_key keys[] = {{names, 1},     {names + 1, 1}, {names + 2, 1},
                              {names + 3, 1}, {nested, 2},    {names + 4, 1}};
static const td_key *any_key(void) { return &keys[below(sizeof keys / sizeof *keys)]; }

/* Up to three keys in a row. */
typedef struct key_list {
  td_key items[3];
  size_t length;
} key_list;
static key_list any_keys(uint32_t most) {
  key_list list;
  list.length = below(most + 1);
  for (size_t i = 0; i < list.length; i++) list.items[i] = *any_key();
  return list;
}

static td_tensordict *dictionary(int depth) {
  int64_t sizes[4] = {below(4), 1 + below(2)};
  const size_t dims = below(3);
  td_tensordict *td = td_empty(sizes, dims);
  for (uint32_t left = below(6); left > 0; left--) {
    const char *const *name = &names[below(NAMES)];
    if (depth > 0 && one_in(3)) {
      td_tensordict *inner = dictionary(depth - 1);
      (void)!td_set_dict(td, name, 1, inner); /* a batch size that does not fit is refused */
      td_free(inner);
      continue;
    }
    const size_t more = below(3);
    for (size_t i = dims; i < dims + more; i++) sizes[i] = one_in(6) ? 0 : 2 * (1 + below(2));
    td_put(td, name, 1, td_arange(TD_DTYPE_FLOAT32, (int64_t)below(5) - 2, sizes, dims + more));
  }
  if (one_in(8)) TD_DO(td_lock(td));
  return td;
}

static td_status function(void *user, td_tensordict *source, td_tensordict **result) {
  const td_operand two = TD_O_DOUBLE(2.0);
  switch ((uintptr_t)user) {
    case 0: return TD_OK;
    case 1: return td_dup(source, result);
    case 2: return td_clone(source, 0, result);
    case 3: td_set_error(OWN_ERROR, "a reason"); return OWN_ERROR;
    case 4: return td_create(NULL, 0, TD_DEVICE_NONE, -1, result);
    default: return td_binary(source, TD_BINARY_MUL, &two, NULL, result);
  }
}

static td_status make_function(td_module **module) {
  const key_list in = any_keys(3), out = any_keys(3);
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  void *which = (void *)(uintptr_t)below(8);
  options.in_keys = in.items;
  options.in_keys_len = in.length;
  options.out_keys = out.items;
  options.out_keys_len = out.length;
  return td_module_from_function(one_in(3) ? NULL : &options, function, which, NULL, module);
}

static td_status make_sampler(td_module **module) {
  static const char *const two[] = {"loc", "scale"}, *const one[] = {"logits"},
                           *const param[] = {"param"};
  const td_key in[] = {*any_key(), *any_key()};
  td_distribution part = {0};
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  part.kind = (td_distribution_kind)below(21);
  part.flags = one_in(4) ? below(4) : 0;
  part.names = part.kind == TD_DISTRIBUTION_DELTA ? param : one_in(2) ? two : one;
  part.in_keys = in;
  part.in_keys_len = part.names_len = part.names == two ? 2 : 1;
  part.out_key = any_key();
  if (one_in(4)) part.log_prob_key = any_key();
  options.flags = TD_MODULE_PROBABILISTIC_SEED | below(2);
  options.interaction = (td_interaction_type)below(6);
  options.num_samples = one_in(4) ? below(3) : 0;
  if (one_in(5)) options.seed_key = any_key();
  return td_module_probabilistic(&part, 1, &options, module);
}

static td_status make_halves(td_module **module) {
  td_module_normal_params_options options = TD_MODULE_NORMAL_PARAMS_OPTIONS_INIT;
  const td_key *in = any_key();
  options.loc_key = any_key();
  options.scale_key = any_key();
  return td_module_normal_params(in->path, in->path_len, &options, module);
}

static td_module *any_module(int depth);

/* A sequence, some outputs of it, or a part of it. */
static td_status make_sequence(int depth, td_module **module) {
  td_module *parts[3] = {NULL, NULL, NULL}, *less = NULL;
  td_module_sequence_options options = TD_MODULE_SEQUENCE_OPTIONS_INIT;
  const uint32_t count = below(4);
  const key_list in = any_keys(3), out = any_keys(2);
  for (uint32_t i = 0; i < count; i++) parts[i] = any_module(depth - 1);
  options.flags = one_in(2) ? TD_MODULE_SEQUENCE_PARTIAL_TOLERANT : 0;
  const td_status status =
      td_module_sequence((const td_module *const *)parts, count, &options, module);
  for (uint32_t i = 0; i < count; i++) td_module_free(parts[i]);
  if (status != TD_OK || !one_in(3)) return status;
  if ((one_in(2) ? td_module_select_out_keys(*module, out.items, out.length, &less)
                 : td_module_select_subsequence(*module, in.items, in.length, out.items, out.length,
                                                &less)) != TD_OK)
    return TD_OK;
  td_module_free(*module);
  *module = less;
  return TD_OK;
}

static td_module *any_module(int depth) {
  td_module *module = NULL;
  for (td_status status = 1; status != TD_OK;) {
    switch (below(depth > 0 ? 4 : 3)) {
      case 0: status = make_function(&module); break;
      case 1: status = make_sampler(&module); break;
      case 2: status = make_halves(&module); break;
      default: status = make_sequence(depth, &module); break;
    }
    TD_CHECK_INT(module == NULL, status != TD_OK);
  }
  return module;
}

static int same(const td_tensordict *one, const td_tensordict *other) {
  td_allclose_options exact = TD_ALLCLOSE_OPTIONS_INIT; /* and NaN is NaN */
  int32_t equal = 0;
  size_t length = 0;
  exact.has_tolerance = 1;
  TD_DO(td_allclose(one, other, &exact, &equal, NULL, 0, &length));
  return equal;
}

/* A dictionary, or a lazy stack that holds it twice. */
static td_tensordict *any_input(void) {
  td_tensordict *td = dictionary(2), *stack = NULL;
  if (!one_in(4)) return td;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){td, td}, 2, 0, &stack));
  td_free(td);
  return stack;
}

/* Returns whether the call succeeded. */
static int check_call(const td_module *module) {
  td_tensordict *td = any_input(), *before = NULL, *result = NULL, *again = NULL, *other = NULL;
  td_module_call_options call = TD_MODULE_CALL_OPTIONS_INIT;
  call.flags = below(4);
  call.output = (td_module_output_kind)below(2);
  call.interaction = one_in(4) ? TD_INTERACTION_RANDOM : TD_INTERACTION_DETERMINISTIC;
  if (one_in(6)) call.params = other = dictionary(1);
  TD_DO(td_clone(td, 0, &before));
  td_status status;
  if (one_in(3)) {
    status = td_module_call_inplace(td, module, &call);
    if (status != TD_OK) TD_CHECK_INT(same(td, before), 1);
  } else {
    if (one_in(4)) call.out = dictionary(1);
    status = td_module_call(td, module, &call, &result);
    TD_CHECK_INT(result == NULL, status != TD_OK);
    TD_CHECK_INT(same(td, before), 1);
    if (status == TD_OK && call.interaction != TD_INTERACTION_RANDOM && call.out == NULL) {
      TD_DO(td_module_call(td, module, &call, &again));
      TD_CHECK_INT(same(result, again), 1);
    }
  }
  td_free(again);
  td_free(result);
  result = NULL;
  const td_status probability = td_module_log_prob(td, module, NULL, &result);
  TD_CHECK_INT(result == NULL, probability != TD_OK);
  td_free(result);
  td_free(call.out);
  td_free(other);
  td_free(before);
  td_free(td);
  return status == TD_OK;
}

TD_TEST(random_modules_in_one_another) {
  const char *asked = getenv("TD_MODULE_ROUNDS");
  const long rounds = asked == NULL ? 2000 : strtol(asked, NULL, 10);
  long worked = 0;
  chance = td_random_begin();
  for (long round = 0; round < rounds; round++) {
    td_module *module = any_module(3);
    for (int i = 0; i < 3; i++) worked += check_call(module);
    td_module_free(module);
  }
  TD_CHECK_INT(worked > rounds / 10, 1);
}
