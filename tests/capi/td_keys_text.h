/* td_keys_text.h: the keys of a dictionary as one line, for comparisons. */
#ifndef TD_KEYS_TEXT_H
#define TD_KEYS_TEXT_H

#include <stdio.h>
#include <string.h>

#include "td_values.h"

/* "a n n/b s": all keys, in the order of the listing. Valid until the next call. */
static inline const char *td_keys_text(const td_tensordict *td, const td_keys_options *options) {
  static char text[512];
  const td_keys_options nested = {(uint32_t)sizeof nested, 1, 0, 0, 0, 0, NULL, NULL};
  td_keys *keys = NULL;
  size_t used = 0;
  TD_DO(td_keys_of(td, options == NULL ? &nested : options, &keys));
  text[0] = '\0';
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path = NULL;
    size_t path_len = 0;
    TD_DO(td_keys_at(keys, i, &path, &path_len));
    for (size_t k = 0; k < path_len; k++) {
      const char *before = k > 0 ? "/" : i > 0 ? " " : "";
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", before, path[k]);
      TD_CHECK(used < sizeof text);
    }
  }
  return text;
}

#define TD_CHECK_KEYS(td, want) TD_CHECK_SAME_TEXT(td_keys_text((td), NULL), (want))

/* {"a": float32 [3], "n": {"b": float32 [3], "c": float32 [3, 2]}} of batch [3]; values from `first`. */
static inline td_tensordict *td_nested(int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(3)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, first + 10, TD_SIZES(3)));
  td_put(td, TD_KEY("n", "c"), td_arange(TD_DTYPE_FLOAT32, first + 20, TD_SIZES(3, 2)));
  return td;
}

/* Whether the entry is still this tensor. */
static inline int td_holds(const td_tensordict *td, const char *const *path, size_t path_len,
                           const td_tensor *tensor) {
  td_tensor *stored = td_take(td, path, path_len);
  const int same = td_same_memory(stored, tensor);
  td_tensor_free(stored);
  return same;
}

#endif
