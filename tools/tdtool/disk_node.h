// What the readers of files make: a tree of dictionaries, tensors and values.
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
using Bytes = std::shared_ptr<const char>;  // keeps what it lies in

// Something that is left to the library.
struct NotPlain : std::exception {};

constexpr std::size_t max_nodes = 200000, max_levels = 200;

struct Node {
  std::string name;
  td_entry_kind kind = TD_ENTRY_DICT;
  Sizes sizes;  // of a dictionary its batch size
  td::DType dtype = td::DType::other;
  std::function<Bytes()> bytes;  // row-major values of a tensor; NotPlain where they are not
  std::string json;              // of a value
  std::vector<std::shared_ptr<Node>> inside;
  std::unordered_map<std::string, std::size_t> places;  // in `inside`

  const Node *find(const std::string &name) const;
};

bool begins_with(const Sizes &sizes, const Sizes &first);
// NotPlain when they are too many to count.
std::uint64_t bytes_of(const Sizes &sizes, std::uint64_t item);
// Bytes of an element; NotPlain for a dtype that not every libtorch has.
std::uint64_t item_of(td::DType dtype);

// Entries come in the order in which they are shown. NotPlain when one does not begin with the batch size around it, or
// is in the way of another.
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
