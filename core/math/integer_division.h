// core/math/integer_division.h: integers divided by -1.
//
// A CPU ends the process when it divides the smallest number of 32 or 64 bits by -1, because the quotient
// has no room. Here the quotient wraps around, as all sums and products of integers do: it is the
// smallest number again. The remainder is 0.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace td::math {

// `b`, with 1 in place of -1, for at::remainder(a, b) and at::fmod(a, b): no remainder changes.
at::Tensor divisor(const at::Tensor& a, const at::Tensor& b);

// What an operator of libtorch does with two integers.
enum class Division : std::uint8_t { none, quotient, remainder };
Division division_of(const std::string& name, bool rounds) noexcept;

// The arguments of such an operator: number and divisor come first. Made before the call, it puts 1 in
// place of -1; finish() then gives the quotients their signs.
class SafeDivision {
 public:
  SafeDivision(Division division, std::vector<c10::IValue>& stack);
  void finish(std::vector<c10::IValue>& stack) const;

 private:
  at::Tensor sign_;  // a factor for each quotient; undefined where nothing changes
};

}  // namespace td::math
