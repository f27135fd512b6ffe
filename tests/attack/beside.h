// The same call beside other kinds of dictionaries.
#pragma once

#include "operation.h"

#include <string>

namespace attack {

class GradMode {
 public:
  explicit GradMode(bool on) : before_(td_set_grad_enabled(on)) {}
  ~GradMode() { td_set_grad_enabled(before_); }
  GradMode(const GradMode &) = delete;
  GradMode &operator=(const GradMode &) = delete;

 private:
  std::int32_t before_;
};

// Holds a call with lazy stacks against the same with dense dictionaries, and against the same with one element.
// "", or how they differ. `arguments`: where the arguments of the call begin in the row of choices.
std::string compare_kinds(const Plan &plan, const Operation &operation, Choices &choices,
                          std::size_t arguments);

}  // namespace attack
