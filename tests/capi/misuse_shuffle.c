/* Arguments that are valid in themselves and hardly go together, for the random calls of gen_misuse.py. */
#include <math.h>
#include <string.h>

#include "misuse.h"

static uint64_t state = 1;

static uint64_t next_random(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

static int below(int n) { return (int)(next_random() % (uint64_t)n); }

int64_t misuse_whole(void) {
  static const int64_t numbers[] = {0, 1, -1, 2, -2, 3, 4, -4, 5, 0, 1, INT64_MAX, INT64_MIN};
  return numbers[below(sizeof numbers / sizeof *numbers)];
}

double misuse_real(void) {
  const double numbers[] = {0, 1, -2, 2.5, 300, -300, 1e300, -1e300, NAN, INFINITY, 70000};
  return numbers[below(sizeof numbers / sizeof *numbers)];
}

int32_t misuse_choice(int32_t below_this) { return below(below_this + 2) - 1; }

td_dtype misuse_dtype(void) {
  static const td_dtype dtypes[] = {TD_DTYPE_UINT8,   TD_DTYPE_INT8,      TD_DTYPE_INT64,
                                    TD_DTYPE_FLOAT16, TD_DTYPE_FLOAT32,   TD_DTYPE_FLOAT64,
                                    TD_DTYPE_BOOL,    TD_DTYPE_COMPLEX64, TD_DTYPE_OTHER};
  return dtypes[below(sizeof dtypes / sizeof *dtypes)];
}

static td_tensor *ones(td_dtype dtype, const int64_t *sizes, size_t dims) {
  td_tensor *plain = td_filled(TD_DTYPE_FLOAT32, 1, sizes, dims), *result = NULL;
  TD_DO(td_tensor_to(plain, dtype, TD_DEVICE_NONE, -1, &result));
  td_tensor_free(plain);
  return result;
}

/* Batch size [rows]; tensors of several dtypes, one of them expanded, values, a nested dictionary. */
static td_tensordict *mixed(int64_t rows) {
  td_tensordict *td = td_empty(TD_SIZES(rows));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(rows)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(rows)));
  if (below(2)) td_put(td, TD_KEY("u"), td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(rows, 2)));
  if (below(3) == 0) td_put(td, TD_KEY("c"), ones(TD_DTYPE_COMPLEX64, TD_SIZES(rows)));
  if (below(3) == 0) td_put(td, TD_KEY("h"), ones(TD_DTYPE_FLOAT16, TD_SIZES(rows, 1)));
  if (below(3) == 0) TD_DO(td_set_non_tensor_json(td, TD_KEY("v"), "\"text\""));
  return td;
}

static td_tensordict *lazy_of(td_tensordict *one, td_tensordict *two, int64_t dim) {
  td_tensordict *result = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, dim, &result));
  td_free(one);
  td_free(two);
  return result;
}

static td_tensordict *any_form(void) {
  td_tensordict *td = NULL, *result = NULL;
  switch (below(9)) {
    case 0: return mixed(4);
    case 1: return mixed(0);
    case 2: return td_empty(TD_NO_SIZES);
    case 3: return lazy_of(mixed(4), mixed(4), below(2));
    case 4: return lazy_of(mixed(4), mixed(5), below(2)); /* batch [2, -1] or [-1, 2] */
    case 5:
      return lazy_of(lazy_of(mixed(4), mixed(5), 0), lazy_of(mixed(4), mixed(3), 0), below(3));
    case 6:
      td = mixed(4);
      TD_DO(td_sub_tensordict(td, TD_AT(TD_I_ALL), &result));
      td_free(td);
      return result;
    case 7:
      td = mixed(1);
      TD_DO(td_expand(td, TD_SIZES(4), &result));
      td_free(td);
      return result;
    default:
      td = mixed(4);
      TD_DO(td_set_dict(td, TD_KEY("lazy"), result = lazy_of(mixed(4), mixed(4), 1)));
      td_free(result);
      return td;
  }
}

static void replace_tensor(td_tensor **tensor, td_tensor *other) {
  td_tensor_free(*tensor);
  *tensor = other;
}

void misuse_shuffle(misuse *m, uint64_t seed, int forms) {
  state = seed * 2654435761u + 17;
  (void)next_random();
  m->sizes[0] = below(3) == 0 ? misuse_whole() : 4;
  m->order[0] = below(3) == 0 ? misuse_whole() : 0;
  m->sizes_out[0] = below(4);
  m->sizes_out[1] = below(4) - 1;
  m->operands[0] =
      below(2) ? (td_operand)TD_O_DOUBLE(misuse_real()) : (td_operand)TD_O_INT(misuse_whole());
  const td_dtype dtype = misuse_dtype();
  if (dtype == TD_DTYPE_COMPLEX64 || dtype == TD_DTYPE_FLOAT16) {
    replace_tensor(&m->one, ones(dtype, TD_NO_SIZES));
  } else if (dtype != TD_DTYPE_OTHER) {
    replace_tensor(&m->one, td_filled(dtype, 300, TD_NO_SIZES));
  }
  if (below(4) == 0) replace_tensor(&m->mask, td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(2)));
  if (below(4) == 0) replace_tensor(&m->positions, td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  if (below(4) == 0)
    replace_tensor(&m->tensor_source, td_filled(TD_DTYPE_UINT8, 7, TD_SIZES(2, 4)));
  if (!forms) return;
  td_free(m->td);
  td_free(m->other);
  m->td = any_form();
  m->other = any_form();
  m->sources[0] = m->td;
  m->sources[1] = below(2) ? m->other : m->td;
}

void misuse_defect(const char *function, uint64_t seed, td_status status) {
  if (status == TD_ERR_INTERNAL) {
    td_test_fail(__FILE__, __LINE__, "%s, seed %llu: TD_ERR_INTERNAL: %s", function,
                 (unsigned long long)seed, td_last_error_message());
  }
  if (status != TD_OK) TD_CHECK(td_last_error_message()[0] != 0);
}

void misuse_look(const td_tensordict *td) {
  size_t length = 0;
  int32_t same = 0;
  if (td == NULL) return; /* of two results one */
  TD_DO(td_to_string(td, NULL, 0, &length));
  if (td_equal(td, td, &same) != TD_OK) TD_CHECK(td_last_error_message()[0] != 0);
}
