// The entries of several dictionaries in one.
#include "td/entries.h"
#include "td/paths.h"
#include "td/zip.h"

namespace td {

namespace {

class MergeOp final : public ZipOp {
 public:
  explicit MergeOp(const MergeFn* callback) : callback_(callback) {}

  at::Tensor leaf(const ZipPlace& place, ZipTensors tensors) const {
    const at::Tensor* first = nullptr;
    bool all = true;
    for (const at::Tensor* tensor : tensors) {
      all = all && tensor != nullptr;
      first = first == nullptr ? tensor : first;
    }
    return all && callback_ != nullptr ? (*callback_)(place.path, tensors) : *first;
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
  ZipPolicy policy;
  policy.missing = ZipPolicy::Missing::fill;
  policy.what = "merge";
  return TensorDict(zip(roots, MergeOp(callback), policy));
}

}  // namespace td
