#include "core/inspect/state_reader.h"

#include "core/inspect/state_dict.h"
#include "core/tree/engine.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <charconv>
#include <map>

namespace td {

namespace {

constexpr std::size_t no_number = static_cast<std::size_t>(-1);

// The number that a name is, below `n`.
std::size_t number_of(std::string_view name, std::size_t n) {
  std::size_t k = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), k);
  const bool whole = read.ec == std::errc() && read.ptr == name.data() + name.size();
  return whole && k < n && std::to_string(k) == name ? k : no_number;
}

at::Tensor part_of(const at::Tensor& tensor, Path path, std::size_t n, std::int64_t dim,
                   std::size_t k) {
  if (tensor.dim() <= dim || tensor.size(dim) != static_cast<std::int64_t>(n)) {
    fail(Code::shape, "cannot load shape ", show_sizes(tensor.sizes()), " into ", show_path(path),
         ", which is stacked of ", n, " along dimension ", dim);
  }
  return tensor.select(dim, static_cast<std::int64_t>(k));
}

// Tensors by joined name.
class FlatReader final : public StateReader {
 public:
  using Readers = std::vector<std::unique_ptr<StateReader>>;

  void add(std::string name, at::Tensor tensor) {
    tensors_.emplace(std::move(name), Leaf{std::move(tensor)});
  }

  void enter(std::string_view name) override {
    lengths_.push_back(prefix_.size());
    prefix_ += name;
    prefix_ += state_separator;
  }
  void leave() override {
    prefix_.resize(lengths_.back());
    lengths_.pop_back();
  }

  const at::Tensor* take(std::string_view name) override {
    const std::size_t length = prefix_.size();
    prefix_ += name;
    const auto found = tensors_.find(prefix_);
    prefix_.resize(length);
    if (found == tensors_.end()) return nullptr;
    use(found->second);
    return &found->second.tensor;
  }

  Readers split(std::size_t n, std::int64_t dim) override {
    const auto first = tensors_.lower_bound(prefix_);
    auto last = first;
    bool numbered = true;
    for (; last != tensors_.end() && last->first.compare(0, prefix_.size(), prefix_) == 0; ++last) {
      numbered = numbered && element(last->first, n) != no_number;
      use(last->second);
    }
    std::vector<std::unique_ptr<FlatReader>> parts(n);
    for (auto& part : parts) part = std::make_unique<FlatReader>();
    for (auto at = first; at != last; ++at) {
      const std::string rest = at->first.substr(prefix_.size());
      const at::Tensor& tensor = at->second.tensor;
      if (numbered) {
        parts[element(at->first, n)]->add(rest.substr(rest.find(state_separator) + 1), tensor);
      } else {
        for (std::size_t k = 0; k < n; ++k)
          parts[k]->add(rest, part_of(tensor, std::string_view(at->first), n, dim, k));
      }
    }
    return Readers(std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  }

  std::size_t unused() const override { return tensors_.size() - used_; }
  std::vector<std::string> unused_paths(const NodePtr&, std::size_t most) const override {
    std::vector<std::string> paths;
    for (const auto& [name, leaf] : tensors_) {
      if (!leaf.used && paths.size() < most) paths.push_back(show_path(std::string_view(name)));
    }
    return paths;
  }

 private:
  struct Leaf {
    at::Tensor tensor;
    bool used = false;
  };

  void use(Leaf& leaf) {
    used_ += leaf.used ? 0 : 1;
    leaf.used = true;
  }
  // The number after the prefix, before a separator.
  std::size_t element(std::string_view name, std::size_t n) const {
    name.remove_prefix(prefix_.size());
    const std::size_t end = name.find(state_separator);
    return end == std::string_view::npos ? no_number : number_of(name.substr(0, end), n);
  }

  std::map<std::string, Leaf> tensors_;
  std::size_t used_ = 0;
  std::string prefix_;
  std::vector<std::size_t> lengths_;
};

// The number of paths to tensors.
std::size_t count_tensors(const Node& node) {
  std::size_t count = 0;
  visit_paths(node, [&](Path, const Value& value) { count += value.is_node() ? 0 : 1; });
  return count;
}

// Takes each tensor apart, for `n` dictionaries.
class Splitting : public WalkSink<Take::whole> {
 public:
  Splitting(std::size_t n, std::int64_t dim) : n_(n), dim_(dim) {}

  void enter(const Here& here, Dicts) {
    std::vector<DenseNode*> made;
    for (std::size_t k = 0; k < n_; ++k) {
      auto part = c10::make_intrusive<DenseNode>(SizesView(), std::nullopt);
      made.push_back(part.get());
      if (here.is_root()) {
        parts.push_back(std::move(part));
      } else {
        open_.back()[k]->put(here.name(), NodePtr(std::move(part)));
      }
    }
    open_.push_back(std::move(made));
  }
  Made leave(const Here&, bool) {
    open_.pop_back();
    return {};
  }
  void leaf(const Here& here, Tensors tensors) {
    for (std::size_t k = 0; k < n_; ++k)
      open_.back()[k]->put(here.name(), part_of(*tensors[0], here.path(), n_, dim_, k));
  }

  std::vector<NodePtr> parts;

 private:
  const std::size_t n_;
  const std::int64_t dim_;
  std::vector<std::vector<DenseNode*>> open_;  // held by `parts`
};

// Whether what is read in step with a dictionary takes the tensor at a path.
bool takes(NodePtr td, Path path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!is_dict(*td)) return false;
    if (stack_dim_of(*td)) return true;  // it takes all that is below it
    const Value* found = entries_of(td).find(path[i]);
    if (found == nullptr) return false;
    if (!found->is_node()) return i + 1 == path.size();
    td = found->node();
  }
  return false;
}

// Nested dictionaries.
class NestedReader final : public StateReader {
 public:
  explicit NestedReader(NodePtr root)
      : root_(std::move(root)), open_{&entries_of(root_)}, unused_(count_tensors(*root_)) {}

  void enter(std::string_view name) override { open_.push_back(below(name)); }
  void leave() override { open_.pop_back(); }

  const at::Tensor* take(std::string_view name) override {
    const Value* found = open_.back() == nullptr ? nullptr : open_.back()->find(name);
    if (found == nullptr || found->is_node()) return nullptr;
    --unused_;
    return &found->tensor();
  }

  std::vector<std::unique_ptr<StateReader>> split(std::size_t n, std::int64_t dim) override {
    std::vector<NodePtr> parts(n, TensorDict().node());
    if (const DenseNode* dict = open_.back()) {
      bool numbered = true;
      visit_paths(*dict, [&](Path path, const Value& value) {
        if (value.is_node()) return;
        --unused_;
        const std::size_t k = path.size() > 1 ? number_of(path[0], n) : no_number;
        numbered = numbered && k != no_number;
        if (numbered) parts[k] = dict->find(path[0])->node();
      });
      if (!numbered) {
        Splitting splitting(n, dim);
        walk(retain(*dict), splitting, all_paths());
        parts = std::move(splitting.parts);
      }
    }
    std::vector<std::unique_ptr<StateReader>> readers;
    for (NodePtr& part : parts) readers.push_back(read_nested(part));
    return readers;
  }

  std::size_t unused() const override { return unused_; }
  std::vector<std::string> unused_paths(const NodePtr& td, std::size_t most) const override {
    std::vector<std::string> paths;
    visit_paths(*root_, [&](Path path, const Value& value) {
      if (paths.size() < most && !value.is_node() && !takes(td, path))
        paths.push_back(show_path(path));
    });
    return paths;
  }

 private:
  const DenseNode* below(std::string_view name) const {
    const Value* found = open_.back() == nullptr ? nullptr : open_.back()->find(name);
    return found != nullptr && is_dict(*found) ? &entries_of(found->node()) : nullptr;
  }

  const NodePtr root_;
  std::vector<const DenseNode*> open_;  // nullptr where the state lacks it
  std::size_t unused_;
};

}  // namespace

std::unique_ptr<StateReader> read_flat(const NodePtr& state) {
  auto reader = std::make_unique<FlatReader>();
  visit_paths(*state, [&](Path path, const Value& value) {
    if (value.is_node()) return;
    std::string name(path[0]);
    for (const std::string_view one : path.slice(1)) (name += state_separator) += one;
    reader->add(std::move(name), value.tensor());
  });
  return reader;
}

std::unique_ptr<StateReader> read_nested(const NodePtr& state) {
  return std::make_unique<NestedReader>(state);
}

}  // namespace td
