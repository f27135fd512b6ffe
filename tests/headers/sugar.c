/* What the headers offer to C beyond declarations: initialisers, paths, index items. */
#include "tensordict/td.h"

const char *sugar_first_name(void);
int sugar_kinds(void);

static const char *first(const char *const *path, size_t path_len) {
  return path_len == 2 ? path[0] : NULL;
}

const char *sugar_first_name(void) { return first(TD_KEY("agent", "obs")); }

/* A struct, and what a dictionary is told of it. */
struct sugar_pair {
  double x;
  int32_t y;
};

int sugar_kinds(void) {
  td_index_item at[] = {TD_I_INT(-1),      TD_I_ALL,           TD_I_SLICE(0, 2), TD_I_FROM(1),
                        TD_I_UNTIL(2),     TD_I_STEP(0, 9, 2), TD_I_ELLIPSIS,    TD_I_NONE,
                        TD_I_TENSOR(NULL), TD_I_BOOL(1)};
  td_keys_options keys = TD_KEYS_OPTIONS_INIT;
  td_to_options to = TD_TO_OPTIONS_INIT;
  td_memmap_options memmap = TD_MEMMAP_OPTIONS_INIT;
  td_load_options load = TD_LOAD_OPTIONS_INIT;
  td_apply_options apply = TD_APPLY_OPTIONS_INIT;
  td_writer_options writer = TD_WRITER_OPTIONS_INIT;
  td_backward_options backward = TD_BACKWARD_OPTIONS_INIT;
  td_state_dict_options state = TD_STATE_DICT_OPTIONS_INIT;
  td_load_state_dict_options load_state = TD_LOAD_STATE_DICT_OPTIONS_INIT;
  td_schema_options schema = TD_SCHEMA_OPTIONS_INIT;
  const td_member member = TD_MEMBER(struct sugar_pair, y, TD_DTYPE_INT32, "pair", "y");
  td_tensor *tensor = NULL;
  TD_FREE(tensor, (void));
  if (at[5].flags != (TD_INDEX_HAS_START | TD_INDEX_HAS_STOP | TD_INDEX_HAS_STEP) ||
      at[5].step != 2)
    return -1;
  if (keys.struct_size != sizeof keys || to.struct_size != sizeof to ||
      memmap.struct_size != sizeof memmap || load.struct_size != sizeof load ||
      apply.struct_size != sizeof apply || writer.struct_size != sizeof writer)
    return -1;
  if (backward.struct_size != sizeof backward || state.struct_size != sizeof state ||
      load_state.struct_size != sizeof load_state || schema.struct_size != sizeof schema ||
      schema.device_index != -1 || member.offset != offsetof(struct sugar_pair, y) ||
      member.path_len != 2)
    return -1;
  return load.device_index == -1 && tensor == NULL ? (int)(sizeof at / sizeof at[0]) : -1;
}
