// The operations of Python's tensordict that the C interface offers.
#ifndef PARITY_OPS_H
#define PARITY_OPS_H

#include <functional>
#include <string>
#include <vector>

#include "values.h"

namespace parity {

// What one case asks for.
struct Request {
  const Json &base;
  const Json &args;
};

// What a request gives: one dictionary, or a list; and what "expect" has beside them, such as "keys".
struct Result {
  Result(std::vector<Dict> dicts, Json others = Json::object())
      : tds(std::move(dicts)), more(std::move(others)) {}
  std::vector<Dict> tds;
  Json more;
};
using Operation = std::function<Result(const Request &)>;

// Empty for an operation that this program does not know.
Operation find_operation(const std::string &name);

}  // namespace parity

#endif
