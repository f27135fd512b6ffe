#include "disk_node.h"

#include <algorithm>

namespace disk {

const Node *Node::find(const std::string &wanted) const {
  const auto found = places.find(wanted);
  return found == places.end() ? nullptr : inside[found->second].get();
}

bool begins_with(const Sizes &sizes, const Sizes &first) {
  return sizes.size() >= first.size() && std::equal(first.begin(), first.end(), sizes.begin());
}

std::uint64_t bytes_of(const Sizes &sizes, std::uint64_t item) {
  const auto bytes = td::checked_bytes(sizes, static_cast<std::size_t>(item));
  if (!bytes || sizes.size() > td::max_dims) throw NotPlain();
  return static_cast<std::uint64_t>(*bytes);
}

std::uint64_t item_of(td::DType dtype) {
  const td::DTypeRow *row = td::find_dtype(dtype);
  if (row == nullptr || dtype >= td::DType::uint16) throw NotPlain();
  return row->bytes;
}

Tree::Tree(const Sizes &batch) : root_(std::make_shared<Node>()) {
  bytes_of(batch, 1);
  root_->sizes = batch;
}

Node &Tree::add(Node &parent, const std::string &name) {
  const bool added = parent.places.emplace(name, parent.inside.size()).second;
  if (!added || ++count_ > max_nodes || name.find('\0') != std::string::npos) throw NotPlain();
  parent.inside.push_back(std::make_shared<Node>());
  Node &made = *parent.inside.back();
  made.name = name;
  made.sizes = parent.sizes;
  return made;
}

Node &Tree::put(const Path &path) {
  if (path.empty() || path.size() > max_levels) throw NotPlain();
  Node *at = root_.get();
  for (std::size_t level = 0; level < path.size(); ++level) {
    if (at->kind != TD_ENTRY_DICT) throw NotPlain();
    const auto found = at->places.find(path[level]);
    const bool there = found != at->places.end() && level + 1 < path.size();
    at = there ? at->inside[found->second].get() : &add(*at, path[level]);
  }
  return *at;
}

void Tree::dictionary(Node &made, const Sizes &batch) const {
  bytes_of(batch, 1);
  if (!begins_with(batch, made.sizes)) throw NotPlain();
  made.sizes = batch;
}

void Tree::tensor(Node &made, td::DType dtype, const Sizes &sizes,
                  std::function<Bytes()> bytes) const {
  bytes_of(sizes, item_of(dtype));
  if (!begins_with(sizes, made.sizes)) throw NotPlain();
  made.kind = TD_ENTRY_TENSOR;
  made.dtype = dtype;
  made.sizes = sizes;
  made.bytes = std::move(bytes);
}

}  // namespace disk
