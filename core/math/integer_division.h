// core/math/integer_division.h: division of integers by -1.
// Dividing the smallest int32 or int64 by -1 overflows, and the CPU ends the process. Here the quotient wraps
// around, as other integer arithmetic does: it is the smallest number again, and the remainder is 0.
// What decides is copied before it is looked at: another thread may write into it.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace td::math {

// `b` with -1 replaced by 1, for at::remainder(a, b) and at::fmod(a, b): the remainders are the same.
at::Tensor divisor(const at::Tensor& a, const at::Tensor& b);

// What an operator computes for two integers. lcm divides by a common divisor that may be -1.
enum class Division : std::uint8_t { none, quotient, remainder, lcm };
Division division_of(const std::string& name, bool rounds) noexcept;

// Protects such an operator's call: the constructor replaces what would end the process, and finish() corrects
// the results. The two numbers must be the first arguments.
class SafeDivision {
 public:
  SafeDivision(Division division, bool in_place, std::vector<c10::IValue>& stack);
  void finish(std::vector<c10::IValue>& stack) const;

 private:
  void protect_lcm(bool in_place, std::vector<c10::IValue>& stack);

  at::Tensor sign_;    // factor for the quotients; undefined if nothing was replaced
  at::Tensor target_;  // gets the results; undefined if they are where they belong
};

}  // namespace td::math
