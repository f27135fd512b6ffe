#include "core/math/together.h"

#include "core/math/bounds.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/memory_ranges.h"

#include <cstring>

namespace td::math {

namespace {

constexpr std::size_t alignment = 64, few = 3;

// What libtorch computes element by element in one way, wherever in a tensor the element is.
bool rounds_alone(const Kernel& kernel) noexcept {
  static constexpr std::string_view names[] = {
      "abs",         "add",  "addcdiv", "addcmul",     "bitwise_and", "bitwise_not", "bitwise_or",
      "bitwise_xor", "ceil", "clamp",   "clamp_max",   "clamp_min",   "div",         "eq",
      "floor",       "frac", "ge",      "gt",          "isfinite",    "isnan",       "isneginf",
      "isposinf",    "le",   "lerp",    "logical_and", "logical_not", "lt",          "maximum",
      "minimum",     "mul",  "ne",      "neg",         "rdiv",        "reciprocal",  "round",
      "rsub",        "sign", "sqrt",    "sub",         "trunc"};
  return std::binary_search(std::begin(names), std::end(names), std::string_view(kernel.name));
}

bool suits(c10::ScalarType dtype) noexcept {
  switch (dtype) {
    case at::kFloat:
    case at::kDouble:
    case at::kLong:
    case at::kInt:
    case at::kShort:
    case at::kChar:
    case at::kByte:
    case at::kBool: return true;
    default: return false;
  }
}

// Whether a tensor is one block of a few bytes.
bool small(const at::Tensor& tensor) noexcept {
  return fast::plain_cpu(tensor) && tensor.dim() != 0 && tensor.is_contiguous() &&
         tensor.numel() != 0 && tensor.nbytes() <= Together::leaf_bytes;
}

// One leaf with its operands. A constant operand has no dimensions and is the same for all leaves of a group; another
// has the leaf's sizes, or 1 in its last dimensions.
struct Leaf {
  at::Tensor operands[3];
  std::size_t number;  // in the order of the walk
};

enum class Form : std::uint8_t { none, constant, like_leaf, rows, other };

Form form_of(const at::Tensor& leaf, const at::Tensor& operand) noexcept {
  if (!operand.defined()) return Form::none;
  if (operand.dim() == 0) return operand.is_cpu() ? Form::constant : Form::other;
  if (!small(operand) || operand.scalar_type() != leaf.scalar_type()) return Form::other;
  const SizesView sizes = operand.sizes(), wanted = leaf.sizes();
  if (sizes == wanted) return Form::like_leaf;
  if (sizes.size() != wanted.size()) return Form::other;
  std::size_t same = 0;
  while (same < sizes.size() && sizes[same] == wanted[same]) ++same;
  for (std::size_t i = same; i < sizes.size(); ++i) {
    if (sizes[i] != 1) return Form::other;
  }
  return Form::rows;
}

// Repeats each of `count` elements until `bytes` are filled.
template <class Item>
void spread(void* to, const void* source, std::size_t count, std::size_t bytes) {
  const std::size_t times = bytes / (sizeof(Item) * count);
  Item* next = static_cast<Item*>(to);
  for (std::size_t i = 0; i < count; ++i)
    next = std::fill_n(next, times, static_cast<const Item*>(source)[i]);
}
void spread(void* to, const at::Tensor& source, std::size_t bytes) {
  const auto count = static_cast<std::size_t>(source.numel());
  switch (source.itemsize()) {
    case 1: return spread<std::uint8_t>(to, source.data_ptr(), count, bytes);
    case 2: return spread<std::uint16_t>(to, source.data_ptr(), count, bytes);
    case 4: return spread<std::uint32_t>(to, source.data_ptr(), count, bytes);
    default: return spread<std::uint64_t>(to, source.data_ptr(), count, bytes);
  }
}

// Leaves that go together: one dtype, the same constants.
class Group {
 public:
  explicit Group(const Leaf& first, const Form (&forms)[2]) {
    std::copy(std::begin(first.operands), std::end(first.operands), first_);
    std::copy(std::begin(forms), std::end(forms), forms_);
  }

  bool takes(const Leaf& leaf, const Form (&forms)[2]) const noexcept {
    if (leaf.operands[0].scalar_type() != first_[0].scalar_type()) return false;
    if (bytes_ + leaf.operands[0].nbytes() > Together::buffer_bytes) return false;
    for (std::size_t k = 0; k < 2; ++k) {
      if (by_leaf(forms[k]) != by_leaf(forms_[k])) return false;
      if (by_leaf(forms[k])) continue;
      if (forms[k] != forms_[k]) return false;
      if (forms[k] == Form::constant && !leaf.operands[k + 1].is_same(first_[k + 1])) return false;
    }
    return true;
  }
  void add(Leaf leaf) {
    const std::size_t offset = bytes_;
    bytes_ += (leaf.operands[0].nbytes() + alignment - 1) / alignment * alignment;
    leaves_.push_back({std::move(leaf), offset});
  }

  struct Part {
    Leaf leaf;
    std::size_t offset;  // in bytes of the operands
  };
  c10::ArrayRef<Part> parts() const noexcept { return leaves_; }
  std::size_t item() const { return first_[0].itemsize(); }

  // The leaves' own values, or an operand's, one after the other; a constant as it is.
  at::Tensor gather(std::size_t k) const {
    if (k != 0 && !by_leaf(forms_[k - 1])) return first_[k];
    const auto count = static_cast<std::int64_t>(bytes_ / item());
    at::Tensor all = fast::make_dense({count}, first_[0].scalar_type());
    char* const to = static_cast<char*>(all.data_ptr());
    for (const Part& part : leaves_) {
      const at::Tensor& source = part.leaf.operands[k];
      const std::size_t bytes = part.leaf.operands[0].nbytes();
      char* const here = to + part.offset;
      if (source.nbytes() == bytes) {
        std::memcpy(here, source.data_ptr(), bytes);
      } else {
        spread(here, source, bytes);
      }
      const std::size_t gap = (alignment - bytes % alignment) % alignment;
      std::memset(here + bytes, 0, gap);
    }
    return all;
  }

 private:
  static bool by_leaf(Form form) noexcept { return form == Form::like_leaf || form == Form::rows; }

  at::Tensor first_[3];
  Form forms_[2];
  std::size_t bytes_ = 0;
  c10::SmallVector<Part, 16> leaves_;
};

// Sorts leaves into groups.
class Groups {
 public:
  void add(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
    const std::size_t number = count_++;
    if (!suits(a.scalar_type()) || !small(a)) return;
    const Form forms[2] = {form_of(a, b), form_of(a, c)};
    if (forms[0] == Form::other || forms[1] == Form::other) return;
    Leaf leaf{{a, b, c}, number};
    for (std::size_t i = groups_.size(); i-- != 0;) {
      if (groups_[i].takes(leaf, forms)) return groups_[i].add(std::move(leaf));
    }
    groups_.emplace_back(leaf, forms);
    groups_.back().add(std::move(leaf));
  }
  std::size_t count() const noexcept { return count_; }
  std::vector<Group>& all() noexcept { return groups_; }

 private:
  std::vector<Group> groups_;
  std::size_t count_ = 0;
};

// A part of a result as a tensor that knows nothing of the others: it has a version of its own.
at::Tensor part_of(const at::Tensor& result, SizesView sizes, std::int64_t offset) {
  c10::TensorImpl* const whole = result.unsafeGetTensorImpl();
  auto impl = c10::make_intrusive<fast::Impl>(c10::Storage(whole->unsafe_storage()),
                                              whole->key_set(), whole->dtype());
  impl->set_sizes_contiguous(sizes);
  impl->set_storage_offset(offset);
  return at::Tensor(
      c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(impl.release()));
}

// The operation on a group; undefined if libtorch refuses it, which the call for each leaf then says.
template <class F>
at::Tensor compute(const Group& group, F&& f) {
  try {
    const at::Tensor a = group.gather(0), b = group.gather(1), c = group.gather(2);
    at::Tensor result = f(a, b, c);
    return result.sizes() == a.sizes() && result.is_contiguous() ? result : at::Tensor();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

Together::Together(const Kernel& kernel, const Operands& operands, const WalkRules& rules) {
  if (!rounds_alone(kernel) || !fast::can_skip_dispatcher()) return;
  Groups groups;
  try {
    visit_zip<Take::elements>(
        operands.trees(),
        [&](const Here&, Tensors tensors) {
          groups.add(operands.at(0, tensors), operands.at(1, tensors), operands.at(2, tensors));
        },
        rules);
  } catch (const Error&) {
    return;  // the walk that asks for the results says it, unless a leaf before it has another fault
  }
  for (const Group& group : groups.all()) {
    if (group.parts().size() < few) continue;
    const at::Tensor result =
        compute(group, [&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
          const FittingBounds fit(kernel, a, b, c);
          return kernel.out(a, fit.b(), fit.c(), operands.extra());
        });
    if (!result.defined()) continue;
    if (made_.empty()) made_.resize(groups.count());
    for (const Group::Part& part : group.parts()) {
      const at::Tensor& leaf = part.leaf.operands[0];
      made_[part.leaf.number] = {
          leaf,
          part_of(result, leaf.sizes(), static_cast<std::int64_t>(part.offset / group.item()))};
    }
  }
}

at::Tensor Together::take(const at::Tensor& leaf) const {
  if (next_ >= made_.size()) return {};
  const Made& made = made_[next_++];
  return made.leaf.is_same(leaf) ? made.result : at::Tensor();
}

std::vector<bool> written_together(const Kernel& kernel, const Extra& extra, Writes& writes) {
  std::vector<bool> done;
  if (!rounds_alone(kernel) || !fast::can_skip_dispatcher() || writes.all().size() < few)
    return done;
  Groups groups;
  MemoryRanges targets;
  for (const Writes::Write& write : writes.all()) {
    groups.add(*write.target, *write.sources[0], *write.sources[1]);
    targets.add(range_of(*write.target));
  }
  targets.sort();
  for (std::size_t i = 0; i < writes.all().size(); ++i) {
    if (targets.meet_others(i)) return done;  // a write has to see what the one before has written
  }
  std::vector<at::Tensor> results;
  for (const Group& group : groups.all()) {
    results.push_back(
        group.parts().size() < few
            ? at::Tensor()
            : compute(group, [&](at::Tensor a, const at::Tensor& b, const at::Tensor& c) {
                kernel.in(a, b, c, extra);
                return a;
              }));
  }
  done.resize(groups.count());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) continue;
    const char* const from = static_cast<const char*>(results[i].data_ptr());
    for (const Group::Part& part : groups.all()[i].parts()) {
      const at::Tensor& target = part.leaf.operands[0];
      std::memcpy(target.data_ptr(), from + part.offset, target.nbytes());
      fast::bump_version(target);
      done[part.leaf.number] = true;
    }
  }
  return done;
}

}  // namespace td::math
