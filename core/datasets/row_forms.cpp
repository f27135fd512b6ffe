#include "core/datasets/row_forms.h"

#include "core/tensor/dtype.h"
#include "core/tree/walk.h"

namespace td::datasets {

RowForms row_forms(const TensorDict& rows) {
  RowForms forms;
  visit_paths(*rows.node(), [&](Path path, const Value& value) {
    if (is_branch(value)) return;
    forms[OwnedKey(path.begin(), path.end())] =
        value.is_node() ? "no numbers"
                        : dtype_name(value.tensor().scalar_type()).substr(6) + " " +
                              show_sizes(value.tensor().sizes().slice(1));
  });
  return forms;
}

}  // namespace td::datasets
