// The same for C++ 11 and newer: paths and sizes for a call, index items, operands.
#include "tensordict/td.h"

static std::size_t names(const char *const *path, std::size_t path_len) {
  return path_len != 0 && path[path_len - 1] != nullptr ? path_len : 0;
}

static int64_t elements(const int64_t *sizes, std::size_t dims) {
  int64_t product = 1;
  for (std::size_t i = 0; i < dims; ++i) product *= sizes[i];
  return product;
}

int main() {
  const int64_t last = -1;
  const td_index_item at[] = {TD_I_INT(last), TD_I_ALL,      TD_I_SLICE(0, 2),
                              TD_I_FROM(1),   TD_I_UNTIL(2), TD_I_STEP(0, 9, 2),
                              TD_I_ELLIPSIS,  TD_I_NONE,     TD_I_BOOL(1)};
  const td_operand two = TD_O_INT(2), half = TD_O_DOUBLE(0.5);
  const bool good = names(TD_KEY("agent", "obs")) == 2 && names(TD_KEY("a")) == 1 &&
                    elements(TD_SIZES(3, 4)) == 12 && at[0].start == -1 && at[5].step == 2 &&
                    two.integer == 2 && half.kind == TD_OPERAND_DOUBLE;
  return good ? 0 : 1;
}
