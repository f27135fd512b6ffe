// Stack and cat: several dictionaries of the same keys become one.
#include "td/fast_path.h"
#include "td/record.h"
#include "td/rows.h"
#include "td/tensordict.h"
#include "td/walk.h"

#include <ATen/ATen.h>

namespace td {

namespace {

enum class JoinKind { stack, cat };

// One operation in two forms: a new dimension (stack), or a longer one (cat).
class Join {
 public:
  Join(JoinKind kind, std::int64_t dim) : kind_(kind), dim_(dim), fast_(fast::thread_at_rest()) {}

  NodePtr run(c10::ArrayRef<TensorDict> sources) {
    Level root;
    for (const TensorDict& source : sources) {
      const DenseNode* node = as_dense(source.node().get());
      if (node == nullptr)
        fail(Code::unsupported, "values that are no dictionaries cannot be joined");
      root.sources.push_back(node);
    }
    NodePtr result = begin(std::move(root));
    while (!pending_.empty()) {
      const Level level = std::move(pending_.back());
      pending_.pop_back();
      fill(level);
    }
    return result;
  }

 private:
  struct Level {
    c10::SmallVector<const DenseNode*, 8> sources;
    DenseNode* target = nullptr;
  };

  const char* name() const { return kind_ == JoinKind::stack ? "stack" : "cat"; }

  // Whether sizes agree, but for the dimension that cat makes longer.
  bool agree(SizesView a, SizesView b) const noexcept {
    if (a.size() != b.size()) return false;
    const std::size_t open = kind_ == JoinKind::cat ? static_cast<std::size_t>(dim_) : a.size();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i] && i != open) return false;
    }
    return true;
  }

  [[noreturn]] void fail_sizes(SizesView a, SizesView b, const char* what,
                               std::string_view key) const {
    const std::string entry = key.empty() ? "" : ", entry \"" + std::string(key) + "\"";
    fail(Code::shape, name(), " needs ", what, " that agree", entry, ": found ", show_sizes(a),
         " and ", show_sizes(b));
  }

  // Sizes of the result. `size_of(k)` gives those of source k.
  template <class SizeOf>
  Sizes joined(std::size_t n, SizeOf&& size_of, const char* what, std::string_view key) const {
    const SizesView first = size_of(0);
    const auto at = static_cast<std::size_t>(dim_);
    Sizes result(first.begin(), first.end());
    for (std::size_t k = 1; k < n; ++k) {
      const SizesView sizes = size_of(k);
      if (!agree(first, sizes)) fail_sizes(first, sizes, what, key);
      if (kind_ == JoinKind::cat && __builtin_add_overflow(result[at], sizes[at], &result[at])) {
        fail_sizes(first, sizes, "lengths that can be added up", key);
      }
    }
    if (kind_ == JoinKind::stack)
      result.insert(result.begin() + dim_, static_cast<std::int64_t>(n));
    return result;
  }

  static RecordTypePtr common_type(c10::ArrayRef<const DenseNode*> sources) {
    RecordTypePtr type = sources[0]->record();
    for (const DenseNode* source : sources) {
      if (source->record() != type) type = common_record(type, source->record());
    }
    return type;
  }

  NodePtr begin(Level level, std::string_view key = {}) {
    const DenseNode& first = *level.sources[0];
    std::optional<c10::Device> device = first.device();
    for (const DenseNode* source : level.sources) {
      if (source->device() != device) device = std::nullopt;  // common, or none
      if (source->size() != first.size()) fail_keys(first, *source);
    }
    const Sizes batch = joined(
        level.sources.size(), [&](std::size_t k) { return level.sources[k]->batch(); },
        "batch sizes", key);
    auto target = c10::make_intrusive<DenseNode>(first.schema(), batch, device);
    target->reserve(first.size());
    if (first.record()) target->set_record(common_type(level.sources));
    level.target = target.get();
    pending_.push_back(std::move(level));
    return target;
  }

  [[noreturn]] void fail_keys(const DenseNode& a, const DenseNode& b) const {
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      for (std::size_t i = 0; i < one->size(); ++i) {
        if (other->find(one->name(i)) == nullptr) {
          fail(Code::key_not_found, name(), " needs dictionaries of the same keys: \"",
               one->name(i), "\" is not in all of them");
        }
      }
    }
    fail(Code::internal, "keys that differ in number do not differ");
  }

  void fill(const Level& level) {
    const DenseNode& first = *level.sources[0];
    const std::size_t n = level.sources.size();
    c10::SmallVector<const Value*, 8> values(n);
    for (std::size_t i = 0; i < first.size(); ++i) {
      std::size_t nodes = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t at = Alignment(first, *level.sources[k])(i);
        if (at == Schema::npos) fail_keys(first, *level.sources[k]);
        values[k] = &level.sources[k]->value(at);
        nodes += values[k]->is_node() ? 1 : 0;
      }
      if (nodes == 0) {
        level.target->push_value(leaf(first.name(i), values));
      } else if (nodes == n) {
        level.target->push_value(node(first.name(i), values));
      } else {
        fail(Code::wrong_entry, name(), ": \"", first.name(i),
             "\" is a dictionary in one place and a tensor in another");
      }
    }
  }

  Value node(std::string_view key, c10::ArrayRef<const Value*> values) {
    Level level;
    for (const Value* value : values) {
      if (const DenseNode* inner = as_dense(value->node().get())) level.sources.push_back(inner);
    }
    if (level.sources.size() == values.size()) return begin(std::move(level), key);
    return data(key, values);
  }

  // Values that are no tensors: the same everywhere, for now.
  Value data(std::string_view key, c10::ArrayRef<const Value*> values) const {
    const std::string* json = nullptr;
    for (const Value* value : values) {
      const auto* one = value->node()->kind() == NodeKind::data
                            ? static_cast<const DataNode*>(value->node().get())
                            : nullptr;
      if (one == nullptr || (json != nullptr && *json != one->json())) {
        fail(Code::unsupported, name(), ": the values of \"", key, "\" that are no tensors differ");
      }
      json = &one->json();
    }
    const Sizes batch = joined(
        values.size(), [&](std::size_t k) { return values[k]->node()->batch(); }, "batch sizes",
        key);
    return NodePtr(c10::make_intrusive<DataNode>(*json, batch, values[0]->node()->device()));
  }

  Value leaf(std::string_view key, c10::ArrayRef<const Value*> values) const {
    const at::Tensor& first = values[0]->tensor();
    bool rows = fast_;
    for (const Value* value : values) {
      const at::Tensor& tensor = value->tensor();
      rows = rows && fast::plain_cpu(tensor) && tensor.dtype() == first.dtype() &&
             tensor.is_contiguous();
    }
    const Sizes sizes = joined(
        values.size(), [&](std::size_t k) { return values[k]->tensor().sizes(); }, "shapes", key);
    if (rows) return by_rows(sizes, values);
    std::vector<at::Tensor> tensors;
    for (const Value* value : values) tensors.push_back(value->tensor());
    return kind_ == JoinKind::stack ? at::stack(tensors, dim_) : at::cat(tensors, dim_);
  }

  at::Tensor by_rows(SizesView sizes, c10::ArrayRef<const Value*> values) const {
    at::Tensor result = fast::make_dense(sizes, values[0]->tensor().scalar_type());
    if (result.numel() == 0) return result;
    const std::size_t item = result.element_size();
    std::size_t outer = 1;
    for (std::int64_t i = 0; i < dim_; ++i) outer *= static_cast<std::size_t>(sizes[i]);
    c10::SmallVector<rows::Block, 8> blocks;
    for (const Value* value : values) {
      const at::Tensor& tensor = value->tensor();
      blocks.push_back({static_cast<const char*>(tensor.data_ptr()),
                        static_cast<std::size_t>(tensor.numel()) * item / outer});
    }
    rows::interleave(static_cast<char*>(result.data_ptr()), blocks, outer);
    return result;
  }

  JoinKind kind_;
  std::int64_t dim_;
  bool fast_;
  std::vector<Level> pending_;
};

TensorDict join(JoinKind kind, c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  const char* name = kind == JoinKind::stack ? "stack" : "cat";
  if (sources.empty()) fail(Code::invalid_argument, name, " needs at least one dictionary");
  const SizesView batch = sources[0].batch_size();
  const auto dims = static_cast<std::int64_t>(batch.size()) + (kind == JoinKind::stack ? 1 : 0);
  if (dim < -dims || dim >= dims) {
    fail(Code::index, name, ": dimension ", dim, " is out of range for batch size ",
         show_sizes(batch));
  }
  return TensorDict(Join(kind, dim < 0 ? dim + dims : dim).run(sources));
}

}  // namespace

TensorDict TensorDict::stack(c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  return join(JoinKind::stack, sources, dim);
}

TensorDict TensorDict::cat(c10::ArrayRef<TensorDict> sources, std::int64_t dim) {
  return join(JoinKind::cat, sources, dim);
}

}  // namespace td
