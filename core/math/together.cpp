#include "core/math/together.h"

#include <c10/util/MaybeOwned.h>

#include <algorithm>
#include <new>

namespace td::math {

namespace {

// What libtorch computes element by element in one way, wherever in a tensor the element is; but for the bits of a NaN, and
// the sign of a zero that is bounded by the other zero.
bool rounds_alone(std::string_view name) noexcept {
  static constexpr std::string_view names[] = {
      "abs",         "add",  "addcdiv", "addcmul",     "bitwise_and", "bitwise_not", "bitwise_or",
      "bitwise_xor", "ceil", "clamp",   "clamp_max",   "clamp_min",   "div",         "eq",
      "floor",       "frac", "ge",      "gt",          "isfinite",    "isnan",       "isneginf",
      "isposinf",    "le",   "lerp",    "logical_and", "logical_not", "lt",          "maximum",
      "minimum",     "mul",  "ne",      "neg",         "rdiv",        "reciprocal",  "round",
      "rsub",        "sign", "sqrt",    "sub",         "trunc"};
  return std::binary_search(std::begin(names), std::end(names), name);
}

enum class Form : std::uint8_t { none, constant, like_leaf, rows, other };

// A constant operand has no dimensions and is the same for all leaves of a group; another has the leaf's sizes, or 1 in its
// last dimensions.
Form form_of(const at::Tensor& leaf, const at::Tensor& operand) noexcept {
  if (!operand.defined()) return Form::none;
  if (operand.dim() == 0) return operand.is_cpu() ? Form::constant : Form::other;
  if (!Bundle::suits(operand) || operand.scalar_type() != leaf.scalar_type() ||
      operand.device() != leaf.device())
    return Form::other;
  const SizesView sizes = operand.sizes(), wanted = leaf.sizes();
  if (sizes == wanted) return Form::like_leaf;
  if (sizes.size() != wanted.size()) return Form::other;
  std::size_t same = 0;
  while (same < sizes.size() && sizes[same] == wanted[same]) ++same;
  for (std::size_t i = same; i < sizes.size(); ++i) {
    if (sizes[i] != 1) return Form::other;
  }
  return leaf.is_cpu() ? Form::rows : Form::other;
}

struct Forms {
  Form of[2];  // of the operands
  bool by_leaf(std::size_t k) const noexcept {
    return of[k] == Form::like_leaf || of[k] == Form::rows;
  }
};

using Held = c10::MaybeOwned<at::Tensor>;

struct Leaf {
  Held operands[3];
  std::size_t number;
};

}  // namespace

// Leaves that go together: one dtype, the same constants.
class Together::Group {
 public:
  Group(const at::Tensor& leaf, const Forms& forms) : forms_(forms), bundle_(leaf) {
    leaves_.reserve(Bundle::usual);
  }

  bool takes(const Leaf& leaf, const Forms& forms) const noexcept {
    if (!bundle_.has_room(*leaf.operands[0])) return false;
    for (std::size_t k = 0; k < 2; ++k) {
      if (forms.by_leaf(k) != forms_.by_leaf(k)) return false;
      if (forms.by_leaf(k)) continue;
      if (forms.of[k] != forms_.of[k]) return false;
      if (forms.of[k] == Form::constant &&
          !leaf.operands[k + 1]->is_same(*leaves_[0].operands[k + 1]))
        return false;
    }
    return true;
  }
  void add(Leaf leaf) {
    bundle_.add(*leaf.operands[0]);
    leaves_.push_back(std::move(leaf));
  }

  // Leaves no result if libtorch refuses the operation, which the call for each leaf then says.
  void compute(Compute f) {
    if (leaves_.size() < Bundle::few) return;
    try {
      const at::Tensor a = operand(0), b = operand(1), c = operand(2);
      at::Tensor result = f(a, b, c);
      if (result.sizes() == a.sizes() && result.is_contiguous()) result_ = std::move(result);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
    }
  }

  bool has_result() const noexcept { return result_.defined(); }
  const std::vector<Leaf>& leaves() const noexcept { return leaves_; }
  at::Tensor part(std::size_t place) const {
    return bundle_.part(result_, place, leaves_[place].operands[0]->sizes());
  }
  void write() const {
    bundle_.scatter(result_,
                    [&](std::size_t i) -> const at::Tensor& { return *leaves_[i].operands[0]; });
  }

 private:
  // The leaves' own values, or an operand's, one after the other; a constant as it is.
  at::Tensor operand(std::size_t k) const {
    if (k != 0 && !forms_.by_leaf(k - 1)) return *leaves_[0].operands[k];
    return bundle_.gather(
        [&](std::size_t i) -> const at::Tensor& { return *leaves_[i].operands[k]; });
  }

  Forms forms_;
  Bundle bundle_;
  std::vector<Leaf> leaves_;
  at::Tensor result_;
};

Together::Together(Hold hold) : hold_(hold) {}
Together::~Together() = default;
Together::Together(Together&&) noexcept = default;
Together& Together::operator=(Together&&) noexcept = default;

bool Together::may(std::string_view name) noexcept {
  return rounds_alone(name) && fast::can_skip_dispatcher();
}

void Together::add(const at::Tensor& leaf, const at::Tensor& b, const at::Tensor& c) {
  const std::size_t number = count_++;
  if (!Bundle::suits(leaf)) return;
  const Forms forms{{form_of(leaf, b), form_of(leaf, c)}};
  if (forms.of[0] == Form::other || forms.of[1] == Form::other) return;
  const auto hold = [this](const at::Tensor& tensor) {
    return hold_ == Hold::owns ? Held::owned(at::Tensor(tensor)) : Held::borrowed(tensor);
  };
  Leaf one{{hold(leaf), hold(b), hold(c)}, number};
  for (std::size_t i = groups_.size(); i-- != 0;) {
    if (groups_[i].takes(one, forms)) return groups_[i].add(std::move(one));
  }
  groups_.emplace_back(leaf, forms);
  groups_.back().add(std::move(one));
}

void Together::compute(Compute f) {
  for (Group& group : groups_) {
    group.compute(f);
    if (!group.has_result()) continue;
    if (made_.empty()) made_.resize(count_);
    for (std::size_t i = 0; i < group.leaves().size(); ++i)
      made_[group.leaves()[i].number] = {&group, i};
  }
}

at::Tensor Together::take(const at::Tensor& leaf) const {
  if (next_ >= made_.size()) return {};
  const Made& made = made_[next_++];
  if (made.group == nullptr || !made.group->leaves()[made.place].operands[0]->is_same(leaf))
    return {};
  return made.group->part(made.place);
}

bool Together::has(std::size_t number) const noexcept {
  return number < made_.size() && made_[number].group != nullptr;
}

void Together::write() const {
  for (const Group& group : groups_)
    if (group.has_result()) group.write();
}

}  // namespace td::math
