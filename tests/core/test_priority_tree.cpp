// The tree of priorities against a plain sum over all rows.
#include "core/replay/priority_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using Numbers = std::vector<double>;

// Whole numbers, whose sums are exact, so that the border between two rows is known.
Numbers random_values(std::size_t rows, std::mt19937_64& random) {
  Numbers values(rows);
  for (double& value : values) {
    const std::uint64_t number = random();
    value = number % 3 == 0 ? 0 : static_cast<double>(number % 1000);
  }
  values[random() % rows] = 7;
  return values;
}

td::PriorityTree tree_of(const Numbers& values) {
  td::PriorityTree tree(static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) tree.put(static_cast<std::int64_t>(i), values[i]);
  tree.refresh_all();
  return tree;
}

TEST(PriorityTree, EveryMassFallsOnItsRow) {
  std::mt19937_64 random(3);
  for (const std::size_t rows : {1, 2, 15, 16, 17, 255, 256, 257, 5000}) {
    const Numbers values = random_values(rows, random);
    const td::PriorityTree tree = tree_of(values);
    Numbers masses, used;
    std::vector<std::int64_t> want;
    double before = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      if (values[i] == 0) continue;
      for (const double mass : {before, before + values[i] / 2, before + values[i] - 0.25}) {
        masses.push_back(mass);
        want.push_back(static_cast<std::int64_t>(i));
      }
      before += values[i];
    }
    ASSERT_EQ(tree.sum(), before);
    std::vector<std::int64_t> found(masses.size(), -1);
    tree.find(masses.data(), masses.size(), found.data());
    EXPECT_EQ(found, want) << rows;
  }
}

TEST(PriorityTree, RoundingNeverFindsARowWithoutPriority) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Numbers values(1 + random() % 600);
    for (double& value : values) {
      const double part = static_cast<double>(random() >> 11) * 0x1p-53;
      value = random() % 4 == 0 ? 0 : part * (random() % 2 == 0 ? 1 : 1e-12);
    }
    values.front() = 0.1;
    const td::PriorityTree tree = tree_of(values);
    // What is on the border or, by rounding, behind it.
    Numbers masses = {0, tree.sum(), std::nextafter(tree.sum(), 0.0), tree.sum() * (1 + 1e-12)};
    std::vector<std::int64_t> found(masses.size(), -1);
    tree.find(masses.data(), masses.size(), found.data());
    for (const std::int64_t row : found) {
      ASSERT_GE(row, 0);
      ASSERT_LT(row, tree.rows());
      EXPECT_GT(tree.value(row), 0);
    }
  }
}

TEST(PriorityTree, RefreshGivesWhatAllWouldGive) {
  std::mt19937_64 random(9);
  Numbers values = random_values(3000, random);
  td::PriorityTree tree = tree_of(values);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::int64_t> rows;
    for (int k = 0; k < 20; ++k) {
      const std::size_t row = random() % values.size();
      values[row] = static_cast<double>(random() % 100);
      tree.put(static_cast<std::int64_t>(row), values[row]);
      rows.push_back(static_cast<std::int64_t>(row));
    }
    tree.refresh(rows);
    const td::PriorityTree whole = tree_of(values);
    ASSERT_EQ(tree.sum(), whole.sum());
    ASSERT_EQ(tree.smallest(), whole.smallest());
  }
}

}  // namespace
