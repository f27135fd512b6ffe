// core/distributed/agreement.h: what all ranks must have in common before they reduce tensors. gloo does not look:
// with other keys on another rank it mixes up values, and with other sizes it ends the process.
#pragma once

#include "core/distributed/backend.h"
#include "core/distributed/expected.h"
#include "core/distributed/leaves.h"

#include <string>
#include <string_view>
#include <vector>

namespace td::distributed {

// Paths, dtypes and shapes, sorted by path; `call` says what is done with them.
std::string list_of(const std::string& call, const std::vector<Leaf>& leaves);

// Code::shape names the first difference between the lists of two ranks.
[[noreturn]] void fail_at_first_difference(std::string_view a, std::string_view b, int rank_a,
                                           int rank_b);

using RowsView = c10::ArrayRef<at::Tensor>;
std::size_t bytes_of(RowsView rows) noexcept;
// One after the other, from `into` on.
void pack(RowsView rows, at::Tensor& into, std::size_t at);

// One rank's view of a call: what is called, and the paths, dtypes and shapes of the tensors; or why it refuses.
class Agreement {
 public:
  Agreement(const std::string& call, const std::vector<Leaf>& leaves);
  explicit Agreement(const Error& refused);

  // Collective: one short message to each rank, and the lists only if they differ. All ranks throw if
  // one does: Code::shape names the first key that differs, or which rank refuses, and why.
  // If the ranks expected this call, `rows` travel in the message: returns the bytes of each rank, or nothing.
  std::vector<at::Tensor> compare(Backend& backend, Expected& expected, RowsView rows) const;

 private:
  std::string text_;  // its list, or why it refuses
  bool refuses_ = false;
  Code code_ = Code::shape;
};

}  // namespace td::distributed
