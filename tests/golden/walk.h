// What a loaded dictionary holds, entry by entry, as the manifest names it.
#ifndef GOLDEN_WALK_H
#define GOLDEN_WALK_H

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "td_handles.h"
#include "tensordict/td.h"

namespace golden {

using Json = nlohmann::json;
using Sizes = std::vector<std::int64_t>;

using handles::check;
using handles::Dict;
using handles::Keys;
using handles::made;
using handles::Refused;
using handles::Tensor;

struct Node {
  std::string type;         // the class as Python calls it
  std::string tensorclass;  // the name of a class that is a tensorclass
  Sizes batch;
  std::int64_t stack_dim = -1;
  std::vector<Json> names;  // of the batch dimensions; empty: none has a name
};

struct Leaf {
  std::string dtype;
  Sizes shape;
  std::string sha256;
  bool is_nested_tensor = false;
  std::vector<Sizes> parts;
};

// By path: a JSON list of names.
struct Content {
  std::map<std::string, Node> nodes;
  std::map<std::string, Leaf> leaves;
  std::map<std::string, Json> data;
  std::vector<std::string> empty_fields;  // of tensorclasses
};

Content content_of(const td_tensordict *root);

std::string text_of(const std::vector<std::string> &path);

// Texts of Python may hold NaN and Infinity, which are no JSON: {"float": "nan"}, as in manifests.
Json parse(const std::string &text);

std::string read_file(const std::string &path);

}  // namespace golden

#endif
