// A random operation in two forms: on dictionaries, and on one leaf of each by libtorch alone.
#pragma once

#include "random_tree.h"

namespace td::test {

using Leaves = std::vector<at::Tensor>;
using Trees = std::vector<TensorDict>;

struct Operation {
  std::string name;
  std::vector<TensorDict> sources;
  std::function<std::vector<TensorDict>(const std::vector<TensorDict>&)> on_trees;
  std::function<Leaves(const Leaves&)> on_leaves;
  bool writes = false;   // the sources' values change; there is no result
  bool gathers = false;  // the result is new memory whose layout libtorch leaves open
  bool values = false;   // only values count, not where they lie
};

// An operation on one dictionary that gives one.
template <class OnTree, class OnLeaf>
Operation unary(std::string name, TensorDict td, OnTree on_tree, OnLeaf on_leaf) {
  return {std::move(name),
          {std::move(td)},
          [on_tree](const Trees& in) { return Trees{on_tree(in[0])}; },
          [on_leaf](const Leaves& in) { return Leaves{on_leaf(in[0])}; }};
}

// One that writes: to the first of the sources.
template <class OnTrees, class OnLeaves>
Operation writing(std::string name, Trees sources, OnTrees on_trees, OnLeaves on_leaves) {
  Operation made;
  made.name = std::move(name);
  made.sources = std::move(sources);
  made.on_trees = [on_trees](const Trees& in) {
    on_trees(in);
    return Trees{};
  };
  made.on_leaves = [on_leaves](const Leaves& in) {
    on_leaves(in);
    return Leaves{};
  };
  made.writes = true;
  return made;
}

// Index, shapes, joins and copies, and in half of the cases one of those below.
Operation random_operation(Random& random);

// Arithmetic, reductions, rows, masks, entries, operators by name, other kinds of dictionaries.
Operation random_leaf_operation(Random& random);

}  // namespace td::test
