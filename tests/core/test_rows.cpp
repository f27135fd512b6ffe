// Moving rows of memory, against loops that nobody could get wrong. Sizes go around the one from which
// threads share the work.
#include "random_tree.h"

#include "core/tensor/rows.h"

#include <limits>

namespace td {
namespace {

using namespace test;

using Bytes = std::vector<char>;

Bytes noise(Random& random, std::size_t n) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; i += 8) {
    const std::int64_t word = random.below(std::numeric_limits<std::int64_t>::max());
    std::memcpy(&bytes[i], &word, std::min<std::size_t>(8, n - i));
  }
  return bytes;
}

// Row lengths for which the copy is specialised, and others.
constexpr std::size_t row_lengths[] = {1, 2, 3, 4, 7, 8, 12, 16, 17, 32, 48, 64, 100, 4096};

// Numbers of rows around the threshold, and small ones.
std::vector<std::size_t> counts(std::size_t row_bytes) {
  const std::size_t most = rows::parallel_bytes / row_bytes;
  std::vector<std::size_t> counts{0, 1, 2, 3, 17};
  // Long runs are worth one try each: the threshold is large.
  if (row_bytes >= 64) counts.insert(counts.end(), {most - 1, most, most + 1});
  return counts;
}

TEST(Rows, Copy) {
  Random random(1);
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{100}, rows::parallel_bytes - 1,
        rows::parallel_bytes, rows::parallel_bytes + 1}) {
    const Bytes source = noise(random, n);
    Bytes target(n + 1, 'x');
    rows::copy(target.data(), source.data(), n);
    EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin())) << n;
    EXPECT_EQ(target[n], 'x');
  }
}

TEST(Rows, Gather) {
  Random random(2);
  for (const std::size_t row : row_lengths) {
    const std::size_t step = row + (random.chance(50) ? 5 : 0);
    const Bytes source = noise(random, 50 * step);
    for (const std::size_t n : counts(row)) {
      std::vector<std::int64_t> positions(n);
      for (std::int64_t& position : positions) position = random.below(50);
      Bytes target(n * row + 1, 'x');
      rows::gather(target.data(), source.data(), positions.data(), n, row, step);
      bool same = target.back() == 'x';
      for (std::size_t i = 0; i < n; ++i) {
        same =
            same && std::memcmp(&target[i * row],
                                &source[static_cast<std::size_t>(positions[i]) * step], row) == 0;
      }
      EXPECT_TRUE(same) << n << " rows of " << row;
    }
  }
}

TEST(Rows, ScatterKeepsTheLast) {
  Random random(3);
  for (const std::size_t row : row_lengths) {
    const std::size_t step = row + (random.chance(50) ? 3 : 0);
    for (const std::size_t n : counts(row)) {
      const Bytes source = noise(random, n * row);
      std::vector<std::int64_t> positions(n);
      for (std::int64_t& position : positions) position = random.below(20);
      Bytes target(20 * step, 'x'), expected(20 * step, 'x');
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t b = 0; b < row; ++b)
          expected[static_cast<std::size_t>(positions[i]) * step + b] = source[i * row + b];
      }
      rows::scatter(target.data(), source.data(), positions.data(), n, row, step);
      EXPECT_EQ(target == expected, true) << n << " rows of " << row;
    }
  }
}

void check_interleave(Random& random, const std::vector<std::size_t>& lengths, std::size_t outer) {
  std::vector<Bytes> sources;
  std::vector<rows::Block> blocks;
  for (const std::size_t length : lengths) sources.push_back(noise(random, length * outer));
  for (std::size_t k = 0; k < lengths.size(); ++k)
    blocks.push_back({sources[k].data(), lengths[k]});
  Bytes expected;
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      const auto from = sources[k].begin() + static_cast<std::ptrdiff_t>(o * lengths[k]);
      expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(lengths[k]));
    }
  }
  Bytes target(expected.size() + 1, 'x');
  rows::interleave(target.data(), blocks, outer);
  EXPECT_EQ(target.back(), 'x');
  target.pop_back();
  EXPECT_TRUE(target == expected) << lengths.size() << " blocks, " << outer << " times";
}

TEST(Rows, Interleave) {
  Random random(4);
  check_interleave(random, {3}, 1);
  check_interleave(random, {3, 0, 5}, 1);
  check_interleave(random, {3, 0, 5}, 4);
  check_interleave(random, {8, 8, 8}, 0);
  const std::size_t half = rows::parallel_bytes / 2;
  check_interleave(random, {half, half}, 1);
  check_interleave(random, {half, half - 1}, 1);
  check_interleave(random, {half / 2, 0, half}, 3);
  check_interleave(random, {100, 28}, rows::parallel_bytes / 128 + 1);
}

struct Strided {
  std::vector<std::int64_t> sizes, target, source;
  std::size_t item;
};

std::size_t extent(const Strided& strided, const std::vector<std::int64_t>& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) last += (strided.sizes[i] - 1) * strides[i];
  return static_cast<std::size_t>(last + 1) * strided.item;
}

void check_strided(Random& random, const Strided& strided) {
  std::int64_t n = 1;
  for (const std::int64_t size : strided.sizes) n *= size;
  const bool empty = n == 0;
  const Bytes source = noise(random, empty ? 1 : extent(strided, strided.source));
  Bytes target(empty ? 1 : extent(strided, strided.target), 'x');
  Bytes expected = target;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t left = i, to = 0, from = 0;
    for (std::size_t d = strided.sizes.size(); d-- > 0;) {
      to += left % strided.sizes[d] * strided.target[d];
      from += left % strided.sizes[d] * strided.source[d];
      left /= strided.sizes[d];
    }
    std::memcpy(&expected[static_cast<std::size_t>(to) * strided.item],
                &source[static_cast<std::size_t>(from) * strided.item], strided.item);
  }
  rows::copy_strided(target.data(), strided.target, source.data(), strided.source, strided.sizes,
                     strided.item);
  EXPECT_TRUE(target == expected) << "sizes " << show_sizes(strided.sizes) << " to "
                                  << show_sizes(strided.target) << " from "
                                  << show_sizes(strided.source) << " items of " << strided.item;
}

// Strides that put no two elements into one place, in a random order of the dimensions; of a source
// some may be 0.
std::vector<std::int64_t> random_strides(Random& random, const std::vector<std::int64_t>& sizes,
                                         bool source) {
  std::vector<std::int64_t> order = random.order(sizes.size());
  if (random.chance(60)) std::sort(order.begin(), order.end());
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t k = sizes.size(); k-- > 0;) {
    const auto i = static_cast<std::size_t>(order[k]);
    if (random.chance(20)) stride *= 1 + random.below(3);
    strides[i] = stride;
    stride *= std::max<std::int64_t>(sizes[i], 1);
    if (source && random.chance(10)) strides[i] = 0;
  }
  return strides;
}

TEST(Rows, CopyStrided) {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    Strided strided;
    strided.sizes = random.sizes(5);
    strided.item = row_lengths[static_cast<std::size_t>(random.below(10))];
    strided.target = random_strides(random, strided.sizes, false);
    strided.source = random_strides(random, strided.sizes, true);
    check_strided(random, strided);
  }
}

TEST(Rows, CopyStridedAcrossThreads) {
  Random random(6);
  const auto n = static_cast<std::int64_t>(rows::parallel_bytes / 8);
  for (const std::int64_t by : {-1, 0, 1}) {
    check_strided(random, {{n + by}, {1}, {2}, 8});
    check_strided(random, {{n / 64 + by, 64}, {64, 1}, {1, n / 64 + by}, 8});
    check_strided(random, {{3, n / 128 + by, 16}, {16, 48, 1}, {(n / 128 + by) * 16, 16, 1}, 8});
  }
}

}  // namespace
}  // namespace td
