#include "light_flat.h"

namespace light {

Path split_name(const std::string &name) {
  Path path;
  for (std::size_t at = 0;;) {
    const std::size_t end = name.find('.', at);
    path.push_back(name.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) return path;
    at = end + 1;
  }
}

FlatTree::FlatTree(const Sizes &batch) : nodes_(1) {
  bytes_of(batch, 1);
  nodes_[0].sizes = batch;
}

std::size_t FlatTree::add(std::size_t parent, const std::string &name) {
  if (nodes_.size() == max_lines || name.find('\0') != std::string::npos) throw NotPlain();
  const std::size_t made = nodes_.size();
  nodes_.emplace_back();
  nodes_[made].name = name;
  nodes_[made].sizes = nodes_[parent].sizes;
  nodes_[parent].inside.push_back(made);
  return made;
}

// A new entry, with the batch size of the dictionary in which it lies.
FlatTree::Node &FlatTree::put(const Path &path) {
  if (path.empty() || path.size() > max_levels) throw NotPlain();
  std::size_t at = 0;
  for (std::size_t level = 0; level < path.size(); ++level) {
    if (nodes_[at].kind != TD_ENTRY_DICT) throw NotPlain();
    std::size_t &place = places_[std::to_string(at) + '/' + path[level]];
    if (place != 0 && level + 1 == path.size()) throw NotPlain();
    if (place == 0) place = add(at, path[level]);
    at = place;
  }
  return nodes_[at];
}

void FlatTree::dictionary(const Path &path, const Sizes &batch) {
  bytes_of(batch, 1);
  Node &made = put(path);
  if (!begins_with(batch, made.sizes)) throw NotPlain();
  made.sizes = batch;
}

void FlatTree::tensor(const Path &path, const Dtype &dtype, const Sizes &sizes) {
  Node &made = put(path);
  if (!begins_with(sizes, made.sizes)) throw NotPlain();
  made.kind = TD_ENTRY_TENSOR;
  made.dtype = dtype;
  made.sizes = sizes;
}

// It has the batch size of the root; where the dictionary around it has more dimensions, the library decides.
void FlatTree::value(const Path &path, const std::string &json) {
  Node &made = put(path);
  if (made.sizes != nodes_[0].sizes) throw NotPlain();
  made.kind = TD_ENTRY_NON_TENSOR;
  made.json = json;
}

void FlatTree::write(Lines &to) const {
  struct Work {
    std::size_t node, parent;
    bool last;
  };
  std::vector<Work> todo;
  const auto push = [&](std::size_t node, std::size_t line) {
    const std::vector<std::size_t> &inside = nodes_[node].inside;
    for (std::size_t i = inside.size(); i-- > 0;)
      todo.push_back({inside[i], line, i + 1 == inside.size()});
  };
  to.root(nodes_[0].sizes);
  push(0, 0);
  while (!todo.empty()) {
    const Work now = todo.back();
    todo.pop_back();
    const Node &node = nodes_[now.node];
    const std::size_t line = to.add(now.parent, node.name, now.last);
    if (node.kind == TD_ENTRY_TENSOR) {
      to.tensor(line, node.dtype, node.sizes);
    } else if (node.kind == TD_ENTRY_NON_TENSOR) {
      to.value(line, node.json);
    } else {
      to.dictionary(line, node.sizes);
      push(now.node, line);
    }
  }
}

}  // namespace light
