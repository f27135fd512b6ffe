/* Prints the values of "x", a float32 tensor of at most 64 elements. */
#ifndef EXAMPLES_SHOW_H
#define EXAMPLES_SHOW_H

#include "must.h"

static inline void show(const char *title, const td_tensordict *td) {
  td_tensor *x;
  float values[64];
  int64_t sizes[8];
  size_t dims, bytes;
  must(td_get(td, TD_KEY("x"), &x));
  must(td_tensor_sizes(x, sizes, 8, &dims));
  must(td_tensor_nbytes(x, &bytes));
  must(td_tensor_copy_to(x, values, bytes));
  printf("%s: [", title);
  for (size_t i = 0; i < dims; i++) printf(i == 0 ? "%lld" : ", %lld", (long long)sizes[i]);
  printf("]");
  for (size_t i = 0; i < bytes / sizeof *values; i++) printf(" %g", values[i]);
  printf("\n");
  td_tensor_free(x);
}

#endif
