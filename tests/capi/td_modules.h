/* td_modules.h: modules for tests: the archives that Python wrote, and small functions. */
#ifndef TD_MODULES_H
#define TD_MODULES_H

#include <stdio.h>

#include "td_files.h"
#include "td_values.h"

/* TD_KEYS({TD_KEY("a")}, {TD_KEY("n", "b")}): keys and their number. */
#define TD_KEYS(...) \
  (const td_key[]){__VA_ARGS__}, (sizeof((const td_key[]){__VA_ARGS__}) / sizeof(td_key))

static inline const char *td_archive_of(const char *name) {
  static char path[64];
  snprintf(path, sizeof path, "../../golden2/data/modules/%s", name);
  return td_golden(path);
}

/* What tools/export_module.py wrote. */
static inline const char *td_exported(const char *name) {
  static char path[64];
  snprintf(path, sizeof path, "../exported/%s", name);
  return td_golden(path);
}

static inline td_module *td_loaded_module(const char *name) {
  td_module *module = NULL;
  TD_DO(td_module_load(td_archive_of(name), NULL, &module));
  return module;
}

/* {"observation": float32 [n,4]} of batch [n]. */
static inline td_tensordict *td_observations(int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_tensor *numbers = td_arange(TD_DTYPE_FLOAT32, -3, TD_SIZES(n, 4));
  td_put(td, TD_KEY("observation"), numbers);
  return td;
}

static inline td_tensordict *td_called(const td_tensordict *td, const td_module *module) {
  td_tensordict *result = NULL;
  TD_DO(td_module_call(td, module, NULL, &result));
  return result;
}

/* Two dictionaries hold the same values, to five digits. */
static inline void td_check_close(const td_tensordict *one, const td_tensordict *other) {
  td_allclose_options options = TD_ALLCLOSE_OPTIONS_INIT;
  int32_t close = 0;
  char text[200];
  size_t length = 0;
  options.has_tolerance = 1;
  options.relative = options.absolute = 1e-5;
  TD_DO(td_allclose(one, other, &options, &close, text, sizeof text, &length));
  TD_CHECK_INT(close, 1);
}

#endif
