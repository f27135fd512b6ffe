// Where the library answers otherwise than Python on purpose. README.md gives the reasons.
#ifndef PARITY_DIFFERENCES_H
#define PARITY_DIFFERENCES_H

#include <string>

#include "ops.h"

namespace parity {

struct Difference {
  const char *name;
  bool refused;  // what the library does: it refuses, or it gives a dictionary where Python raises
  bool (*applies)(const std::string &op, const Request &request);
};

// NULL for a case that should end as in Python.
const Difference *find_difference(const std::string &op, const Request &request);

}  // namespace parity

#endif
