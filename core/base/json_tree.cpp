#include "core/base/json_tree.h"

#include "core/base/json_reader.h"

#include <algorithm>

namespace td::json {

namespace {

class TreeReader final : public Reader {
 public:
  using Reader::Reader;
  Tree take() { return std::move(root_); }

 private:
  void on_key(std::string& key) override { open_.back().names.push_back(std::move(key)); }
  void on_scalar(const Scalar& value) override {
    static constexpr Tree::Kind kinds[] = {Tree::null, Tree::boolean, Tree::integer, Tree::real,
                                           Tree::text};
    Tree made;
    made.kind = kinds[value.kind];
    made.truth = value.truth;
    made.integral = value.integral;
    made.characters = value.characters;
    put(std::move(made));
  }
  void on_open(bool is_object) override {
    open_.emplace_back();
    open_.back().kind = is_object ? Tree::object : Tree::list;
  }
  void on_close(bool) override {
    Tree done = std::move(open_.back());
    open_.pop_back();
    std::vector<std::string_view> sorted(done.names.begin(), done.names.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) fail_here(quote(*twice), " stands there twice");
    put(std::move(done));
  }
  void put(Tree value) {
    (open_.empty() ? root_ : open_.back().items.emplace_back()) = std::move(value);
  }

  Tree root_;
  std::vector<Tree> open_;  // what is not yet closed
};

}  // namespace

const Tree* Tree::find(std::string_view name) const noexcept {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? nullptr : &items[static_cast<std::size_t>(at - names.begin())];
}

Tree read_tree(std::string_view text, const std::string& where, std::size_t max_depth) {
  TreeReader reader(where, max_depth);
  reader.run(text);
  return reader.take();
}

}  // namespace td::json
