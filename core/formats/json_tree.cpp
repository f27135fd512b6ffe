#include "core/formats/json_tree.h"

#include "core/formats/json_reader.h"

#include <algorithm>
#include <charconv>

namespace td::json {

namespace {

class TreeReader final : public Reader {
 public:
  TreeReader(const std::string& where, std::size_t max_depth, Twice twice)
      : Reader(where, max_depth), twice_(twice) {}
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
    if (twice_ == Twice::refused) require_once(done.names);
    put(std::move(done));
  }
  void require_once(const std::vector<std::string>& names) const {
    std::vector<std::string_view> sorted(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) fail_here(quote(*twice), " occurs twice");
  }
  void put(Tree value) {
    (open_.empty() ? root_ : open_.back().items.emplace_back()) = std::move(value);
  }

  Twice twice_;
  Tree root_;
  std::vector<Tree> open_;  // values not yet closed
};

// The parser bounds the depth.
void append(std::string& out, const Tree& tree) {
  switch (tree.kind) {
    case Tree::null: out += "null"; return;
    case Tree::boolean: out += tree.truth ? "true" : "false"; return;
    case Tree::text: append_quoted(out, tree.characters); return;
    case Tree::integer:
    case Tree::real: out += tree.characters; return;
    case Tree::list:
    case Tree::object: break;
  }
  const bool is_object = tree.kind == Tree::object;
  out += is_object ? '{' : '[';
  for (std::size_t i = 0; i < tree.items.size(); ++i) {
    if (i != 0) out += ',';
    if (is_object) {
      append_quoted(out, tree.names[i]);
      out += ':';
    }
    append(out, tree.items[i]);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

// Frees from the innermost item on, queueing the others in `above`.
Tree::~Tree() {
  while (!items.empty()) {
    Tree& last = items.back();
    if (!last.items.empty()) {
      std::vector<Tree> inner = std::move(last.items);
      inner.front().above = std::move(items);
      items = std::move(inner);
    } else if (items.size() > 1) {
      items.pop_back();
    } else {
      std::vector<Tree> waiting = std::move(last.above);
      items = std::move(waiting);
    }
  }
}

double Tree::number() const {
  double value = 0;
  const char* const end = characters.data() + characters.size();
  const auto read = std::from_chars(characters.data(), end, value);
  if (read.ec == std::errc() && read.ptr == end) return value;
  fail(Code::format, "the number ", characters, " is too large");
}

const Tree* Tree::find(std::string_view name) const noexcept {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? nullptr : &items[static_cast<std::size_t>(at - names.begin())];
}

Tree read_tree(std::string_view text, const std::string& where, std::size_t max_depth,
               Twice twice) {
  TreeReader reader(where, max_depth, twice);
  reader.run(text);
  return reader.take();
}

std::string text_of(const Tree& tree) {
  std::string result;
  append(result, tree);
  return result;
}

std::string unquoted(std::string_view json, const std::string& where) {
  Tree tree = read_tree(json, where, 0);
  if (tree.kind != Tree::text) fail(Code::format, where, " is no text");
  return std::move(tree.characters);
}

}  // namespace td::json
