// The operations of Python's tensordict that the C interface offers.
#ifndef PARITY_OPS_H
#define PARITY_OPS_H

#include <string>
#include <vector>

#include "values.h"

namespace parity {

// What one case asks for.
struct Request {
  const Json &base;
  const Json &args;
};

// The dictionaries that a request gives: one, or a list.
using Operation = std::vector<Dict> (*)(const Request &);

// NULL for an operation that this program does not know.
Operation find_operation(const std::string &name);

}  // namespace parity

#endif
