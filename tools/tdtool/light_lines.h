// The lines of a tree as the light readers write them.
#ifndef TDTOOL_LIGHT_LINES_H
#define TDTOOL_LIGHT_LINES_H

#include <cstdint>
#include <string>
#include <vector>

#include "light_file.h"
#include "plain.h"

namespace light {

using Sizes = std::vector<std::int64_t>;

constexpr std::size_t max_lines = 200000, max_levels = 200, max_dims = 64;

bool begins_with(const Sizes &sizes, const Sizes &first);
// NotPlain when they are too many to count.
std::uint64_t bytes_of(const Sizes &sizes, std::uint64_t item);

struct Dtype {
  td_dtype number;
  std::uint64_t bytes;
};
// By its name in PyTorch; NotPlain for one that not every libtorch has.
Dtype dtype_named(const std::string &name);

// Lines come in the order in which they are printed; each is a dictionary until it is said to be something else.
class Lines {
 public:
  explicit Lines(tree *of) : tree_(of) {}

  void root(const Sizes &batch);
  std::size_t add(std::size_t parent, const std::string &name, bool last);
  void dictionary(std::size_t line, const Sizes &batch);
  void tensor(std::size_t line, const Dtype &dtype, const Sizes &sizes);
  void value(std::size_t line, const std::string &json);

  Sizes sizes_of(std::size_t line) const;
  // Leaves what `td_get_dict` or `td_select` would: a dictionary, or what leads to one entry and that entry.
  void keep(const key &wanted);

 private:
  entry &at(std::size_t line) { return tree_->entries[line]; }
  std::size_t new_line();
  void set_sizes(std::size_t line, const Sizes &sizes);
  void keep_range(std::size_t first, std::size_t past);
  void keep_way(std::size_t line);

  tree *tree_;
  std::size_t capacity_ = 0;
};

}  // namespace light

#endif
