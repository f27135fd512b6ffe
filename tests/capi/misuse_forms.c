/* Dictionaries of other forms for the functions that gen_misuse.py calls. */
#include "misuse.h"

/* Four elements, of which each has a key of its own. */
static td_tensordict *lazy(void) {
  static const char *const own[] = {"first", "second", "third", "fourth"};
  td_tensordict *elements[4], *result = NULL;
  for (int i = 0; i < 4; i++) {
    elements[i] = td_empty(TD_NO_SIZES);
    td_put(elements[i], TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, i, TD_NO_SIZES));
    td_put(elements[i], TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, i, TD_NO_SIZES));
    td_put(elements[i], TD_KEY(own[i]), td_filled(TD_DTYPE_INT64, i, TD_NO_SIZES));
  }
  TD_DO(td_lazy_stack((const td_tensordict *const *)elements, 4, 0, &result));
  for (int i = 0; i < 4; i++) td_free(elements[i]);
  return result;
}

static void add_all_kinds(td_tensordict *td, const td_tensorclass *type) {
  td_tensordict *record = NULL;
  td_put_dict(td, TD_KEY("lazy"), lazy());
  TD_DO(td_set_non_tensor_json(td, TD_KEY("n", "text"), "{\"x\": [1, 2.5, null, \"y\"]}"));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("texts"), "[\"p\", \"q\", \"r\", \"s\"]"));
  TD_DO(td_tensorclass_instantiate(type, TD_SIZES(4), TD_DEVICE_NONE, -1, &record));
  td_put(record, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  td_put_dict(record, TD_KEY("n"), td_empty(TD_SIZES(4)));
  td_put_dict(td, TD_KEY("record"), record);
  TD_DO(td_set_names(td, (const char *const[]){"rows"}, 1));
}

static td_tensordict *some_rows(td_tensordict *parent) {
  td_tensor *rows = td_positions((const int64_t[]){5, 3, 2, 0}, 4);
  td_tensordict *result = NULL;
  td_put(parent, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(6)));
  td_put(parent, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(6)));
  TD_DO(td_sub_tensordict(parent, TD_AT(TD_I_TENSOR(rows)), &result));
  td_tensor_free(rows);
  return result;
}

void misuse_form(misuse *m, int form) {
  if (form == 0) return;
  td_put(m->other, TD_KEY("more"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  td_put(m->other, TD_KEY("n", "more"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  if (form == 1) {
    add_all_kinds(m->td, m->tensorclass_type);
    add_all_kinds(m->other, m->tensorclass_type);
    return;
  }
  td_free(m->td);
  m->td = form == 2 ? lazy() : some_rows(m->parent = td_empty(TD_SIZES(6)));
  m->sources[0] = m->td;
}
