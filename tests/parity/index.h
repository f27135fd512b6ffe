// The index of a case as items of the C interface.
#ifndef PARITY_INDEX_H
#define PARITY_INDEX_H

#include <vector>

#include "values.h"

namespace parity {

class Index {
 public:
  explicit Index(const Json &items);

  const td_index_item *data() const { return items_.data(); }
  size_t size() const { return items_.size(); }

 private:
  td_index_item item(const Json &json);
  td_index_item over(Tensor tensor);

  std::vector<td_index_item> items_;
  std::vector<Tensor> tensors_;  // borrowed by items_
};

}  // namespace parity

#endif
