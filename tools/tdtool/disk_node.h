// The tree that readers of files build: dictionaries, tensors and values.
#ifndef TDTOOL_DISK_NODE_H
#define TDTOOL_DISK_NODE_H

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/owned_path.h"
#include "core/base/sizes.h"
#include "core/formats/dtypes.h"
#include "plain.h"

namespace disk {

using Path = td::OwnedPath;
using Sizes = td::Shape;
using Bytes = std::shared_ptr<const char>;  // keeps the mapping or buffer alive

// Thrown for content that is left to the library.
struct NotPlain : std::exception {};

constexpr std::size_t max_nodes = 200000, max_levels = 200;

struct Node {
  std::string name;
  td_entry_kind kind = TD_ENTRY_DICT;
  Sizes sizes;  // for a dictionary: its batch size
  td::DType dtype = td::DType::other;
  std::function<Bytes()> bytes;  // row-major values of a tensor; may throw NotPlain
  std::string json;              // of a non-tensor value
  std::vector<std::shared_ptr<Node>> inside;
  std::unordered_map<std::string, std::size_t> places;  // index into `inside`

  const Node *find(const std::string &name) const;
};

bool begins_with(const Sizes &sizes, const Sizes &first);
// NotPlain on overflow.
std::uint64_t bytes_of(const Sizes &sizes, std::uint64_t item);
// Bytes of an element; NotPlain for a dtype that some versions of libtorch lack.
std::uint64_t item_of(td::DType dtype);

// Builds a tree; entries are in display order. NotPlain if one does not start with its parent's batch size,
// or clashes with another.
class Tree {
 public:
  explicit Tree(const Sizes &batch);
  Node &root() noexcept { return *root_; }
  std::shared_ptr<const Node> take() noexcept { return std::move(root_); }

  Node &add(Node &parent,
            const std::string &name);  // a dictionary, with the batch size of its parent
  // An entry at a path, with dictionaries on the way.
  Node &put(const Path &path);
  void dictionary(Node &made, const Sizes &batch) const;
  void tensor(Node &made, td::DType dtype, const Sizes &sizes, std::function<Bytes()> bytes) const;

 private:
  std::shared_ptr<Node> root_;
  std::size_t count_ = 1;
};

}  // namespace disk

#endif
