// Small leaves computed in one call, against a call for each leaf: the bits are the same. While gradients are recorded
// each leaf is computed by itself.
#include "trees.h"

#include "core/inspect/owned_nbytes.h"
#include "core/math/call.h"
#include "core/math/math.h"
#include "core/math/together.h"
#include "core/tensor/dtype.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <random>
#include <set>

namespace td {
namespace {

using namespace test;

using Random = std::mt19937;

std::int64_t pick(Random& random, std::int64_t below) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(below));
}

at::Tensor random_leaf(Random& random, std::int64_t rows) {
  static const at::ScalarType dtypes[] = {at::kFloat, at::kFloat,       at::kDouble, at::kInt,
                                          at::kLong,  at::kShort,       at::kBool,   at::kByte,
                                          at::kHalf,  at::kComplexFloat};
  const at::ScalarType dtype = dtypes[pick(random, 3) == 0 ? pick(random, 10) : 0];
  Sizes sizes{rows};
  for (std::int64_t dims = pick(random, 3); dims > 0; --dims)
    sizes.push_back(pick(random, 12) == 0 ? 0 : 1 + pick(random, 70));
  at::Tensor values = at::randn(sizes).mul_(4);
  if (dtype == at::kByte) values = values.abs();
  values = values.to(dtype);
  if (values.dim() == 3 && pick(random, 4) == 0)
    values = values.transpose(1, 2).contiguous().transpose(1, 2);
  return values;
}

// Some leaves are the same tensor, or share memory with their neighbour.
TensorDict random_dict(Random& random, std::int64_t rows) {
  TensorDict td = dict({rows});
  const std::int64_t leaves = 1 + pick(random, 30);
  at::Tensor before;
  for (std::int64_t i = 0; i < leaves; ++i) {
    const std::string name = "k" + std::to_string(i);
    at::Tensor leaf = random_leaf(random, rows);
    if (before.defined() && pick(random, 12) == 0) leaf = before;
    if (before.defined() && before.dim() > 1 && before.size(1) > 1 && pick(random, 12) == 0)
      leaf = before.narrow(1, 0, before.size(1) - 1);
    pick(random, 3) == 0 ? td.set({"n", name}, leaf) : td.set({name}, leaf);
    before = leaf;
  }
  return td;
}

std::string bits(const TensorDict& td) {
  std::string all;
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (value.is_node()) return;
    const at::Tensor& leaf = value.tensor();
    const at::Tensor dense = leaf.contiguous();
    all += show_path(path) + dtype_name(leaf.scalar_type()) + show_sizes(leaf.sizes());
    all.append(static_cast<const char*>(dense.data_ptr()), dense.nbytes());
  });
  return all;
}

// What a function gives or says, with gradients recorded or not.
template <class F>
std::string outcome(bool recorded, F&& f) {
  const at::AutoGradMode mode(recorded);
  try {
    return bits(f());
  } catch (const std::exception& error) {
    const std::string said = std::string("! ") + error.what();
    return said.substr(0, said.find('\n'));  // libtorch adds a trace
  }
}

TensorDict copy(const TensorDict& td) {
  const at::NoGradGuard guard;
  TensorDict made = dict({td.batch_size()[0]});
  std::vector<std::pair<at::Tensor, at::Tensor>> known;  // what is shared stays shared
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (value.is_node()) return;
    const at::Tensor& leaf = value.tensor();
    at::Tensor storage;
    for (const auto& [from, to] : known) {
      if (from.storage().unsafeGetStorageImpl() == leaf.storage().unsafeGetStorageImpl())
        storage = to;
    }
    if (!storage.defined()) {
      const auto count = static_cast<std::int64_t>(leaf.storage().nbytes() / leaf.itemsize());
      storage = at::empty({count}, leaf.options());
      if (count != 0)
        std::memcpy(storage.data_ptr(), leaf.storage().data(), leaf.storage().nbytes());
      known.emplace_back(leaf, storage);
    }
    made.set(path, storage.as_strided(leaf.sizes(), leaf.strides(), leaf.storage_offset()));
  });
  return made;
}

constexpr int dictionaries = 12;

struct Operation {
  std::string name;
  std::function<TensorDict(const TensorDict&)> out;
  std::function<void(const TensorDict&)> in;
};

std::vector<Operation> operations(Random& random, const TensorDict& td) {
  std::vector<Operation> all;
#define TD_UNARY(number, NAME, name, doc)                                               \
  all.push_back({#name, [](const TensorDict& x) { return unary(x, Unary::name##_op); }, \
                 [](const TensorDict& x) { unary_(x, Unary::name##_op); }});
#define TD_PREDICATE(number, NAME, name, doc) \
  all.push_back({#name, [](const TensorDict& x) { return unary(x, Unary::name##_op); }, {}});
#include "core/math/ops.def"
  const std::int64_t rows = td.batch_size()[0];
  const TensorDict other = copy(td);
  const auto called = [&](const char* name, std::vector<CallArgument> arguments) {
    const std::string in = std::string("aten::") + name + "_";
    all.push_back(
        {std::string("call of ") + name,
         [=](const TensorDict& x) { return call(x, "aten::" + std::string(name), arguments); },
         [=](const TensorDict& x) { call_inplace(x, in, arguments); }});
  };
  using Kind = CallArgument::Kind;
  called("add", {CallArgument::of(other)});
  called("mul", {CallArgument::of(Kind::real, 0.25)});
  called("sub", {CallArgument::of(Kind::tensor, at::scalar_tensor(3))});
  called("add", {CallArgument::of(Kind::tensor, at::randn({rows}))});
  called("div", {CallArgument::of(other)});
  called("div", {CallArgument::of(Kind::integer, 0)});
  called("clamp", {CallArgument::of(Kind::real, -0.5), CallArgument::of(Kind::real, 1.5)});
  called("lerp", {CallArgument::of(other), CallArgument::of(Kind::real, 0.3)});
  called("addcmul", {CallArgument::of(other), CallArgument::of(td)});
  called("eq", {CallArgument::of(td)});
  called("remainder", {CallArgument::of(other)});
  called("sqrt", {});
  static const c10::Scalar numbers[] = {
      1,        3,   -2,    0.25,  300, true,  0.1,      -5e9, 1e300,
      16777217, 7e7, 1e-50, -1e39, 3e9, 1e-42, INFINITY, 0.7F, int64_t{9007199254740993}};
  const auto number = [&] { return numbers[pick(random, std::size(numbers))]; };
  for (const Operand& operand :
       {Operand(number()), Operand(number()), Operand(at::scalar_tensor(number())),
        Operand(at::randn({rows})), Operand(td), Operand(other)}) {
#define TD_BINARY(number, NAME, name, out, in, doc)                                          \
  all.push_back({#name,                                                                      \
                 [=](const TensorDict& x) { return binary(x, Binary::name##_op, operand); }, \
                 [=](const TensorDict& x) { binary_(x, Binary::name##_op, operand); }});
#define TD_BINARY_OUT(number, NAME, name, out, doc) \
  all.push_back(                                    \
      {#name, [=](const TensorDict& x) { return binary(x, Binary::name##_op, operand); }, {}});
#define TD_COMPARE(number, NAME, name, doc) \
  all.push_back(                            \
      {#name, [=](const TensorDict& x) { return binary(x, Binary::name##_op, operand); }, {}});
#include "core/math/ops.def"
    for (const Operand& third : {Operand(c10::Scalar(0.005)), Operand(td)}) {
#define TD_TERNARY(number, NAME, name, out, in, doc)                                               \
  all.push_back(                                                                                   \
      {#name, [=](const TensorDict& x) { return ternary(x, Ternary::name##_op, operand, third); }, \
       [=](const TensorDict& x) { ternary_(x, Ternary::name##_op, operand, third); }});
#include "core/math/ops.def"
    }
  }
  return all;
}

// One operand for neighbours of one shape and of others, which takes other forms in a buffer.
TEST(Together, OneOperandForManyLeaves) {
  const at::NoGradGuard guard;
  TensorDict td = dict({4});
  int next = 0;
  for (const std::int64_t features : {8, 8, 8, 3, 3, 8, 1, 1, 1}) {
    td.set({"k" + std::to_string(next++)}, at::randn({4, features}));
    td.set({"d" + std::to_string(next++)}, at::randn({4, features}, at::kDouble));
  }
  const at::Tensor factor = at::randn({4});
  const TensorDict made = binary(td, Binary::mul_op, Operand(factor));
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    const at::Tensor wanted = at::mul(value.tensor(), factor.unsqueeze(-1));
    EXPECT_TRUE(at::equal(made.get(path), wanted)) << show_path(path);
  });
}

// Its bits are left to libtorch, which gives several by the place of an element.
TEST(Together, ANumberThatIsNaN) {
  const at::NoGradGuard guard;
  TensorDict td = dict({4});
  for (int i = 0; i < 6; ++i) td.set({"k" + std::to_string(i)}, at::randn({4, 7}));
  const c10::Scalar nan(NAN);
  for (const Binary op : {Binary::add_op, Binary::mul_op, Binary::maximum_op, Binary::minimum_op,
                          Binary::clamp_min_op, Binary::clamp_max_op})
    EXPECT_TRUE(all(unary(binary(td, op, nan), Unary::isnan_op))) << static_cast<int>(op);
  EXPECT_TRUE(all(unary(ternary(td, Ternary::clamp_op, nan, c10::Scalar(1)), Unary::isnan_op)));
  EXPECT_FALSE(any(binary(td, Binary::eq_op, nan)));
}

TEST(Together, GivesTheBitsOfACallForEachLeaf) {
  at::manual_seed(5);
  Random random(5);
  int values = 0;
  for (int round = 0; round < dictionaries; ++round) {
    const at::NoGradGuard guard;
    const TensorDict td = random_dict(random, 1 + pick(random, 5));
    std::vector<Operation> all;
    try {
      all = operations(random, td);
    } catch (const std::exception&) {
      continue;  // a negative bool
    }
    for (const Operation& operation : all) {
      const std::string wanted = outcome(true, [&] { return operation.out(td); });
      ASSERT_EQ(outcome(false, [&] { return operation.out(td); }) == wanted, true)
          << operation.name << " in round " << round << ": " << wanted.substr(0, 200);
      values += wanted[0] != '!';
      if (!operation.in) continue;
      const auto in_place = [&] {
        const TensorDict target = copy(td);
        operation.in(target);
        return target;
      };
      const std::string written = outcome(true, in_place);
      ASSERT_EQ(outcome(false, in_place) == written, true)
          << operation.name << "_ in round " << round << ": " << written.substr(0, 200);
    }
  }
  EXPECT_GT(values, 300);
}

TensorDict floats(std::int64_t leaves, std::int64_t features) {
  TensorDict td = dict({4});
  for (std::int64_t i = 0; i < leaves; ++i)
    td.set({"k" + std::to_string(i)}, at::randn({4, features}));
  return td;
}

void expect_parts_of_buffers(const TensorDict& result, std::size_t leaves) {
  std::size_t shared = 0;
  visit_values(*result.node(), [&](const Value& value) {
    const std::size_t bytes = value.tensor().storage().nbytes();
    EXPECT_LE(bytes, Blocks::most_bytes);
    shared += bytes > value.tensor().nbytes();
  });
  EXPECT_EQ(shared, leaves);
}

TEST(Together, ACloneHasFewBlocks) {
  const at::NoGradGuard guard;
  TensorDict td = dict({4});
  for (int i = 0; i < 60; ++i) {
    const std::string name = std::to_string(i);
    const c10::ScalarType dtype = i % 3 == 0 ? at::kFloat : i % 3 == 1 ? at::kLong : at::kBool;
    td.set({i % 2 == 0 ? "n" : "m", name}, at::randint(0, 100, {4, i * 3}).to(dtype));
  }
  td.set({"alone"}, at::full({4}, 2, at::kShort));
  td.set({"large"}, at::randn({4, 2000}));
  td.set({"strided"}, at::randn({3, 4}).t());
  td.set({"half"}, at::randn({4}).to(at::kHalf));
  TensorDict copy = td.clone();
  std::set<const void*> blocks;
  std::size_t bytes = 0;
  visit_values(*copy.node(), [&](const Value& value) {
    if (value.is_node()) return;
    const c10::Storage& storage = value.tensor().storage();
    if (!blocks.insert(storage.data()).second) return;
    bytes += storage.nbytes();
    EXPECT_LE(storage.nbytes(), Blocks::most_bytes);
  });
  EXPECT_LE(blocks.size(), 12u);
  EXPECT_EQ(owned_nbytes(copy), bytes);
  EXPECT_TRUE(copy.equal(td));
  // Each place is written with another number: nobody else's changes.
  double number = 0;
  visit_values(*copy.node(), [&](const Value& value) {
    if (!value.is_node()) value.tensor().fill_(static_cast<int>(number++) % 2);
  });
  number = 0;
  visit_values(*copy.node(), [&](const Value& value) {
    if (value.is_node()) return;
    EXPECT_TRUE(value.tensor().eq(static_cast<int>(number++) % 2).all().item<bool>());
    EXPECT_EQ(value.tensor()._version(), 1);
  });
}

TEST(Together, ALeafKeepsLittleAlive) {
  const at::NoGradGuard guard;
  const TensorDict td = floats(40, 500);
  expect_parts_of_buffers(binary(td, Binary::add_op, c10::Scalar(1)), 40);
  expect_parts_of_buffers(binary(td, Binary::mul_op, at::randn({4})), 40);
  expect_parts_of_buffers(binary(td, Binary::mul_op, td), 40);
  expect_parts_of_buffers(ternary(td, Ternary::lerp_op, td, c10::Scalar(0.5)), 40);
}

TEST(Together, ResultsHaveVersionsOfTheirOwn) {
  TensorDict sum;
  {
    const at::NoGradGuard guard;
    sum = binary(floats(5, 3), Binary::mul_op, c10::Scalar(2));
  }
  const at::AutoGradMode recorded(true);
  const at::Tensor weight = at::ones({4, 3}).requires_grad_();
  const at::Tensor loss = (weight * sum.get({"k0"})).sum();
  sum.get({"k1"}).add_(1);  // another part of the same memory
  loss.backward();
  EXPECT_TRUE(at::equal(weight.grad(), sum.get({"k0"})));
}

TEST(Together, WritesTellAutograd) {
  TensorDict td = floats(5, 3);
  const at::Tensor weight = at::ones({4, 3}).requires_grad_();
  const at::Tensor loss = (weight * td.get({"k2"})).sum();
  {
    const at::NoGradGuard guard;
    binary_(td, Binary::add_op, c10::Scalar(1));
  }
  EXPECT_THROW(loss.backward(), std::exception);
}

}  // namespace
}  // namespace td
