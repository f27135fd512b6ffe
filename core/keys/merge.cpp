// Merges entries of several dictionaries.
#include "core/keys/entries.h"
#include "core/tree/paths.h"
#include "core/tree/zip.h"

namespace td {

namespace {

class MergeOp final : public ZipOp {
 public:
  explicit MergeOp(const MergeFn* callback) : callback_(callback) {}

  at::Tensor leaf(const Here& here, Tensors tensors) const override {
    c10::SmallVector<Value, 3> values;
    for (const at::Tensor* tensor : tensors) {
      if (tensor != nullptr) values.emplace_back(*tensor);
    }
    if (callback_ == nullptr || values.size() != tensors.size()) return values[0].tensor();
    const Value made = (*callback_)(here.path(), values);
    if (made.is_node()) {
      fail(Code::wrong_entry, "the function returned a dictionary for ", show_path(here.path()),
           ", where tensors are merged");
    }
    return made.tensor();
  }

 private:
  const MergeFn* callback_;
};

}  // namespace

TensorDict merge(c10::ArrayRef<TensorDict> sources, const MergeFn* callback) {
  if (sources.size() < 2) {
    fail(Code::invalid_argument, "merge needs at least two dictionaries, not ", sources.size());
  }
  std::vector<NodePtr> roots;
  for (const TensorDict& source : sources) roots.push_back(source.node());
  WalkRules policy;
  policy.missing = WalkRules::Missing::fill;
  policy.what = "merge";
  policy.nested_tensor = true;
  policy.each_path = callback != nullptr;
  return TensorDict(zip(roots, MergeOp(callback), policy));
}

}  // namespace td
