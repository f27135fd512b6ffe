// What a loaded dictionary holds, entry by entry, as the manifest names it.
#ifndef GOLDEN_WALK_H
#define GOLDEN_WALK_H

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensordict/td.h"

namespace golden {

using Json = nlohmann::json;
using Sizes = std::vector<std::int64_t>;

template <auto Free>
struct Freed {
  template <class Handle>
  void operator()(Handle *handle) const {
    Free(handle);
  }
};
using Dict = std::unique_ptr<td_tensordict, Freed<td_free>>;
using Tensor = std::unique_ptr<td_tensor, Freed<td_tensor_free>>;
using Keys = std::unique_ptr<td_keys, Freed<td_keys_free>>;

// The library has refused a call.
struct Refused : std::runtime_error {
  Refused(td_status code, const std::string &text) : std::runtime_error(text), status(code) {}
  td_status status;
};

inline void check(td_status status) {
  if (status == TD_OK) return;
  throw Refused(status, std::string(td_status_name(status)) + " from " + td_last_error_function() +
                            ": " + td_last_error_message());
}

template <class Handle, class Call>
Handle made(Call call) {
  typename Handle::pointer result = nullptr;
  check(call(&result));
  return Handle(result);
}

struct Node {
  std::string type;    // the class as Python calls it
  std::string record;  // the name of a class that is a record
  Sizes batch;
  std::int64_t stack_dim = -1;
};

struct Leaf {
  std::string dtype;
  Sizes shape;
  std::string sha256;
  bool is_ragged = false;
  std::vector<Sizes> parts;
};

// By path: a JSON list of names.
struct Content {
  std::map<std::string, Node> nodes;
  std::map<std::string, Leaf> leaves;
  std::map<std::string, Json> data;
  std::vector<std::string> empty_fields;  // of records
};

Content content_of(const td_tensordict *root);

std::string text_of(const std::vector<std::string> &path);

// Texts of Python may hold NaN and Infinity, which are no JSON: null.
Json parse(const std::string &text);

std::string read_file(const std::string &path);

}  // namespace golden

#endif
