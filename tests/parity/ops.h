// The operations of Python's tensordict that the C interface offers.
#ifndef PARITY_OPS_H
#define PARITY_OPS_H

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "values.h"

namespace parity {

// What one case asks for.
struct Request {
  const Json &base;
  const Json &args;
};

inline std::vector<Dict> one(Dict td) {
  std::vector<Dict> list;
  list.push_back(std::move(td));
  return list;
}

// The operations that take a dictionary and give one.
template <class Call>
std::vector<Dict> on_base(const Request &request, Call call) {
  const Dict td = base_of(request.base);
  return one(made<Dict>([&](auto result) { return call(td.get(), result); }));
}

inline int64_t integer(const Request &request, const char *argument) {
  return request.args.at(argument).get<int64_t>();
}

// What a request gives: one dictionary, or a list; and what "expect" has beside them, such as "keys".
struct Result {
  Result(std::vector<Dict> dicts, Json others = Json::object())
      : tds(std::move(dicts)), more(std::move(others)) {}
  std::vector<Dict> tds;
  Json more;
};
using Operation = std::function<Result(const Request &)>;

const std::map<std::string, Operation> &sequence_operations();

// Empty for an operation that this program does not know.
Operation find_operation(const std::string &name);

}  // namespace parity

#endif
