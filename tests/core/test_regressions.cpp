// What once went wrong and cannot be seen through the C interface.
#include "trees.h"

#include "core/tensor/foreign.h"
#include "core/tree/schema.h"

#include <random>

namespace td {
namespace {

using namespace test;

// The bits of a conjugate view lie in memory as they were.
TEST(Regressions, CopiesOutWhatAConjugateViewShows) {
  const at::Tensor values = at::complex(at::ones({2}), at::full({2}, 3.0F));
  float out[4] = {};
  copy_out(values.conj(), out, sizeof out);
  EXPECT_EQ(out[1], -3);
  float imaginary[2] = {};
  copy_out(at::imag(values.conj()), imaginary, sizeof imaginary);
  EXPECT_EQ(imaginary[1], -3);
}

// Ended the process: a sparse tensor has no storage, and the question may not throw.
TEST(Regressions, ASparseTensorIsNotUniquelyOwned) {
  EXPECT_FALSE(uniquely_owned(at::eye(2).to_sparse(), 1));
}

// Against a list: names that differ in their last letters only, taken out from everywhere.
TEST(Regressions, NamesComeAndGo) {
  for (const char* stem : {"observation_", "k", "abcd"}) {
    std::mt19937 random(1);
    Schema schema;
    std::vector<std::string> want;
    const auto check = [&] {
      ASSERT_EQ(schema.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(schema.name(i), want[i]);
        ASSERT_EQ(schema.find(want[i]), i);
      }
      ASSERT_EQ(schema.find("nowhere"), Schema::npos);
    };
    for (int i = 0; i < 700; ++i) {
      want.push_back(stem + std::to_string(1000 + i));
      schema.append(want.back());
    }
    check();
    while (!want.empty()) {
      const std::size_t i = random() % 3 == 0 ? want.size() - 1 : random() % want.size();
      const std::string gone = want[i];
      want.erase(want.begin() + static_cast<std::ptrdiff_t>(i));
      schema.prepare_erase();
      schema.erase(i);
      if (schema.has_many_gaps()) schema.close_gaps();
      ASSERT_EQ(schema.find(gone), Schema::npos);
      if (random() % 4 == 0) {
        want.push_back(gone + "again");
        schema.append(want.back());
      }
      if (want.size() % 50 < 2 || want.size() < 20) check();
    }
  }
}

}  // namespace
}  // namespace td
