// What is made of rows: the same as libtorch makes of each leaf, for any dtype and layout, on the path
// past the dispatcher and on the one through it.
#include "core/shape/pad.h"
#include "core/shape/select_rows.h"
#include "core/shape/shape.h"
#include "random_tree.h"

namespace td {
namespace {

using namespace test;

// What libtorch makes of the positions of a leaf says what becomes of its bytes, whatever its dtype.
template <class OnPositions>
void expect_rows(const TensorDict& source, const TensorDict& result, OnPositions&& on_positions) {
  visit_paths(*source.node(), [&](Path path, const Value& value) {
    if (value.is_node()) return;
    const at::Tensor& leaf = value.tensor();
    const at::Tensor positions =
        on_positions(at::arange(leaf.numel(), at::kLong).reshape(leaf.sizes())).contiguous();
    const at::Tensor found = result.get(path);
    ASSERT_EQ(list(found.sizes()), list(positions.sizes())) << show_path(path);
    const std::string before = content(leaf);
    const auto item = leaf.element_size();
    std::string expected;
    for (std::int64_t i = 0; i < positions.numel(); ++i) {
      const auto at = static_cast<std::size_t>(positions.data_ptr<std::int64_t>()[i]);
      expected.append(before, at * item, item);
    }
    EXPECT_EQ(content(found), expected) << show_path(path);
  });
}

std::vector<std::int64_t> with_ones(std::vector<std::int64_t> counts, std::int64_t dims) {
  counts.resize(static_cast<std::size_t>(dims), 1);
  return counts;
}

class SelectRows : public ::testing::TestWithParam<bool> {
 protected:
  at::AutoGradMode mode_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Modes, SelectRows, ::testing::Bool());

TEST_P(SelectRows, AreThoseOfLibtorch) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const auto dims = 1 + random.below(3);
    std::vector<std::int64_t> batch, counts, shifts, all;
    for (std::int64_t i = 0; i < dims; ++i) {
      batch.push_back(random.chance(5) ? 0 : 1 + random.below(4));
      counts.push_back(random.below(4));
      shifts.push_back(random.below(9) - 4);
      all.push_back(i);
    }
    const TensorDict td = random_tree(random, batch, 3);
    const auto dim = random.below(dims);
    const auto times = random.below(4);
    SCOPED_TRACE(show_sizes(batch));
    try {
      expect_rows(td, repeat(td, counts),
                  [&](const at::Tensor& x) { return x.repeat(with_ones(counts, x.dim())); });
      expect_rows(td, roll(td, shifts, SizesView(all)),
                  [&](const at::Tensor& x) { return x.roll(shifts, all); });
      expect_rows(td, flip(td, SizesView{dim}), [&](const at::Tensor& x) { return x.flip({dim}); });
      expect_rows(td, flip(td, all), [&](const at::Tensor& x) { return x.flip(all); });
      expect_rows(td, repeat_interleave(td, at::tensor(times), dim),
                  [&](const at::Tensor& x) { return x.repeat_interleave(times, dim); });
      if (dims > 1) {
        expect_rows(td, rot90(td, times - 5, 0, dims - 1), [&](const at::Tensor& x) {
          return x.rot90(times - 5, {0, dims - 1});
        });
      }
    } catch (const c10::Error& error) {
      // An old libtorch has no index for the newest dtypes.
      ASSERT_NE(std::string(error.what()).find("not implemented"), std::string::npos)
          << error.what();
    }
  }
}

TEST_P(SelectRows, GatherIsThatOfLibtorch) {
  const TensorDict td = sample();
  const at::Tensor index = at::tensor({2, 0, 1, 1, 0, 2, 2, 2}, at::kLong).view({4, 2});
  expect_rows(td, gather(td, 1, index), [&](const at::Tensor& x) {
    at::Tensor wide = index;
    while (wide.dim() < x.dim()) wide = wide.unsqueeze(-1);
    std::vector<std::int64_t> sizes = list(x.sizes());
    sizes[1] = 2;
    return x.gather(1, wide.expand(sizes));
  });
}

TEST_P(SelectRows, RecordGradientsWhenAsked) {
  TensorDict td = dict({2});
  const at::Tensor x = at::ones({2, 3}).requires_grad_(GetParam());
  td.set({"x"}, x);
  for (const TensorDict& result :
       {repeat(td, SizesView{2}), flip(td, SizesView{0}), roll(td, SizesView{1}, SizesView{0}),
        pad(td, SizesView{1, 1}, 0), gather(td, 0, at::tensor({1}, at::kLong)),
        flatten(td, 0, 0)}) {
    EXPECT_EQ(result.get({"x"}).requires_grad(), GetParam());
  }
}

}  // namespace
}  // namespace td
