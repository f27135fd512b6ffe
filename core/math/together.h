// core/math/together.h: small leaves computed in one call of libtorch.
#pragma once

#include "core/tensor/bundle.h"

#include <c10/util/FunctionRef.h>

#include <string_view>
#include <vector>

namespace td::math {

// Sorts small leaves into bundles, which are computed at once. Only for operations that round each element by itself, so that
// the bits are those of a call for each leaf.
class Together {
 public:
  // An operation on a leaf and up to two operands; one that it lacks is undefined.
  using Compute = c10::function_ref<at::Tensor(const at::Tensor& leaf, const at::Tensor& b,
                                               const at::Tensor& c)>;

  // Whether the operation called so ("add", "clamp") is one of these, no gradients are recorded and no mode of libtorch is on.
  static bool may(std::string_view name) noexcept;

  // `borrows`: the caller keeps all tensors alive as long as this.
  enum class Hold { owns, borrows };
  explicit Together(Hold hold = Hold::owns);
  ~Together();
  Together(Together&&) noexcept;
  Together& operator=(Together&&) noexcept;

  // The next leaf, with its operands.
  void add(const at::Tensor& leaf, const at::Tensor& b, const at::Tensor& c);

  // Computes what can be. An operation in place changes the leaf that it is given, a copy, and returns it.
  void compute(Compute f);

  // The result for a leaf, in the order of add(); undefined: it has to be computed alone.
  at::Tensor take(const at::Tensor& leaf) const;

  // Whether the leaf with this number has a result, and copies all results into their leaves.
  bool has(std::size_t number) const noexcept;
  void write() const;

 private:
  class Group;
  struct Made {
    const Group* group = nullptr;
    std::size_t place = 0;
  };

  Hold hold_;
  std::vector<Group> groups_;
  std::vector<Made> made_;  // by number; empty before anything was computed
  std::size_t count_ = 0;
  mutable std::size_t next_ = 0;
};

}  // namespace td::math
