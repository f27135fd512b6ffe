// Tensors whose joined names make a tree, as most files have them.
#ifndef TDTOOL_LIGHT_FLAT_H
#define TDTOOL_LIGHT_FLAT_H

#include <string>
#include <unordered_map>
#include <vector>

#include "light_lines.h"

namespace light {

using Path = std::vector<std::string>;

Path split_name(const std::string &name);  // at the dots

// Entries stand where they were first named, and dictionaries are made on the way, with the batch size of those around
// them. NotPlain when one entry is in the way of another, or does not begin with the batch size.
class FlatTree {
 public:
  explicit FlatTree(const Sizes &batch);

  void dictionary(const Path &path, const Sizes &batch);
  void tensor(const Path &path, const Dtype &dtype, const Sizes &sizes);
  void value(const Path &path, const std::string &json);

  void write(Lines &to) const;

 private:
  struct Node {
    std::string name;
    td_entry_kind kind = TD_ENTRY_DICT;
    Dtype dtype{TD_DTYPE_OTHER, 0};
    Sizes sizes;
    std::string json;
    std::vector<std::size_t> inside;
  };

  std::size_t add(std::size_t parent, const std::string &name);
  Node &put(const Path &path);

  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::size_t> places_;  // of a name in a dictionary
};

// safetensors: light_safetensors.cpp. What the library adds to the names: light_extras.cpp.
void read_safetensors(const File &file, Lines &to);
struct Extras {
  struct Dict {
    Path path;
    Sizes batch;
  };
  struct Value {
    Path path;
    std::string json;
  };
  std::vector<Dict> dicts;  // the first is the root
  std::vector<Value> values;
  std::unordered_map<std::string, Path> paths;  // of names that would be split into others
};
Extras parse_extras(const std::string &text);

}  // namespace light

#endif
