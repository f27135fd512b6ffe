// Rows of plain memory into tensors: where they arrive, what is refused, what it costs.
#include "core/append/tensor_writer.h"

#include "core/memmap/memmap.h"

#include "folders.h"

#include <ATen/ATen.h>

#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TD_OWN_ALLOCATIONS  // TSan has operators of its own, all in one object
#endif
#endif

// Counts allocations of this program, for the promise that put() makes none. GCC takes the pair for a
// mistake where it inlines one half.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
static std::size_t allocations = 0;
#ifndef TD_OWN_ALLOCATIONS
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace td {
namespace {

using test::dict;
using test::expect_error;
using test::TempFolder;

Path key(const std::string_view& name) { return name; }

TensorDict target(std::initializer_list<std::int64_t> batch, const at::Tensor& leaf) {
  TensorDict td = dict(batch);
  td.set(key("a"), leaf);
  return td;
}

// Puts 1, 2, 3 … as rows until the capacity ends.
template <class T>
void count_up(const TensorDict& td, std::int64_t rows, std::size_t row) {
  TensorWriter writer(td);
  const std::int32_t a = writer.bind(key("a"));
  ASSERT_EQ(writer.row_bytes(a), row * sizeof(T));
  std::vector<T> values(row);
  T next = 1;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (T& value : values) value = next++;
    writer.put(a, values.data(), row * sizeof(T));
    writer.next();
  }
  EXPECT_EQ(writer.rows(), rows);
  writer.close();
}

TEST(Writer, RowsOfEveryLength) {
  for (const std::int64_t row : {1, 2, 3, 4, 5, 8, 9, 16, 33}) {
    const at::Tensor leaf = at::zeros({6, row}, at::kByte);
    count_up<std::uint8_t>(target({6}, leaf), 6, static_cast<std::size_t>(row));
    EXPECT_TRUE(leaf.view(-1).equal(at::arange(1, 6 * row + 1, at::kByte))) << row;
  }
}

TEST(Writer, BatchDimensionsInRowMajorOrder) {
  const at::Tensor leaf = at::zeros({2, 3, 2}, at::kDouble);
  count_up<double>(target({2, 3}, leaf), 6, 2);
  EXPECT_TRUE(leaf.equal(at::arange(1, 13, at::kDouble).view({2, 3, 2})));
  const at::Tensor flat = at::zeros({2, 1, 3}, at::kFloat);
  count_up<float>(target({2, 1, 3}, flat), 6, 1);
  EXPECT_TRUE(flat.equal(at::arange(1, 7, at::kFloat).view({2, 1, 3})));
}

TEST(Writer, RowsWithGapsBetweenThem) {
  const at::Tensor whole = at::zeros({4, 5}, at::kInt);
  count_up<std::int32_t>(target({4}, whole.slice(1, 1, 3)), 4, 2);
  EXPECT_TRUE(whole.slice(1, 1, 3).equal(at::arange(1, 9, at::kInt).view({4, 2})));
  EXPECT_EQ(whole.sum().item<std::int64_t>(), 36);  // and nothing beside them
}

TEST(Writer, RefusesRowsThatDoNotLieDensely) {
  const auto refuse = [](TensorDict td, const char* why) {
    TensorWriter writer(td);
    expect_error(Code::shape, why, [&] { writer.bind(key("a")); });
  };
  refuse(target({4}, at::zeros({4, 6}).slice(1, 0, 6, 2)), "rows that are not contiguous");
  refuse(target({2, 3}, at::zeros({3, 2}).t()), "no constant step from row to row");
  refuse(target({2, 3}, at::zeros({2, 5}).slice(1, 0, 3)), "no constant step from row to row");
  refuse(target({4}, at::zeros({1, 3}).expand({4, 3})), "rows that overlap");
}

TEST(Writer, RowsWithoutElements) {
  const TensorDict td = target({3}, at::zeros({3, 0}));
  TensorWriter writer(td);
  EXPECT_EQ(writer.row_bytes(writer.bind(key("a"))), 0U);
  for (int i = 0; i < 3; ++i) {
    writer.put(0, nullptr, 0);
    writer.next();
  }
  expect_error(Code::capacity, "no row left", [&] { writer.put(0, nullptr, 0); });
  const TensorDict none = target({0}, at::zeros({0, 2}));
  TensorWriter empty(none);
  EXPECT_EQ(empty.row_bytes(empty.bind(key("a"))), 8U);
  const float row[2] = {1, 2};
  expect_error(Code::capacity, "no row left", [&] { empty.put(0, row, 8); });
}

TEST(Writer, FirstRowAndCapacity) {
  const at::Tensor leaf = at::zeros({6}, at::kLong);
  const TensorDict td = target({6}, leaf);
  TensorWriter writer(td, {2, 3});
  writer.bind(key("a"));
  for (std::int64_t value : {7, 8, 9}) {
    writer.put(0, &value, 8);
    writer.next();
  }
  const std::int64_t more = 10;
  expect_error(Code::capacity, "rows 2 to 5", [&] { writer.put(0, &more, 8); });
  expect_error(Code::capacity, "rows 2 to 5", [&] { writer.next(); });
  EXPECT_EQ(writer.rows(), 3);
  EXPECT_TRUE(leaf.equal(at::tensor({0, 0, 7, 8, 9, 0}, at::kLong)));
  expect_error(Code::index, "first row 7", [&] { TensorWriter(td, {7, 0}); });
  expect_error(Code::index, "first row -1", [&] { TensorWriter(td, {-1, 0}); });
  expect_error(Code::index, "capacity 5 from row 2", [&] { TensorWriter(td, {2, 5}); });
  expect_error(Code::index, "capacity -1", [&] { TensorWriter(td, {2, -1}); });
  expect_error(Code::shape, "batch dimension", [] { TensorWriter(dict({})); });
}

TEST(Writer, RefusesWhatDoesNotFit) {
  TensorDict td = target({2}, at::zeros({2, 3}));
  td.set(key("m"), at::zeros({2}, at::kMeta));
  td.set(key("c"), at::zeros({2}, at::kComplexFloat).conj());
  TensorWriter writer(td);
  const float row[3] = {1, 2, 3};
  writer.bind(key("a"));
  expect_error(Code::shape, "takes 12 bytes, 8 were given", [&] { writer.put(0, row, 8); });
  expect_error(Code::index, "no field 1", [&] { writer.put(1, row, 12); });
  expect_error(Code::index, "no field -1", [&] { writer.put(-1, row, 12); });
  expect_error(Code::index, "no field 7", [&] { writer.row_bytes(7); });
  expect_error(Code::key_not_found, "\"b\"", [&] { writer.bind(key("b")); });
  expect_error(Code::device, "meta", [&] { writer.bind(key("m")); });
  expect_error(Code::unsupported, "\"c\"", [&] { writer.bind(key("c")); });
  EXPECT_EQ(writer.bind(key("a")), 1);  // a failed bind takes no number
}

TEST(Writer, TellsAutograd) {
  const at::Tensor leaf = at::zeros({3});
  const TensorDict td = target({3}, leaf);
  const float value = 1;
  const auto before = leaf._version();
  {
    TensorWriter writer(td);
    writer.bind(key("a"));
    writer.put(0, &value, 4);
    EXPECT_EQ(leaf._version(), before);
    writer.flush();
    EXPECT_EQ(leaf._version(), before + 1);
    writer.close();
    EXPECT_EQ(leaf._version(), before + 2);
  }
  EXPECT_EQ(leaf._version(), before + 2);  // closed: nothing is left to tell
  {
    TensorWriter writer(td);
    writer.bind(key("a"));
  }
  EXPECT_EQ(leaf._version(), before + 3);
}

TEST(Writer, ClosedTakesNothing) {
  const at::Tensor leaf = at::zeros({3});
  const TensorDict td = target({3}, leaf);
  TensorWriter writer(td);
  const float value = 1;
  writer.bind(key("a"));
  writer.put(0, &value, 4);
  writer.next();
  writer.close();
  writer.close();
  EXPECT_EQ(writer.rows(), 1);
  EXPECT_EQ(leaf.use_count(), 2U);  // this one and the dictionary's
  expect_error(Code::invalid_argument, "closed", [&] { writer.put(0, &value, 4); });
  expect_error(Code::invalid_argument, "closed", [&] { writer.next(); });
  expect_error(Code::invalid_argument, "closed", [&] { writer.bind(key("a")); });
}

TEST(Writer, ReachesFiles) {
  const TempFolder folder;
  const std::string dir = folder("m");
  {
    const TensorDict mapped = memmap_like(target({3}, at::ones({3, 2})), dir);
    count_up<float>(mapped, 2, 2);
  }
  const TensorDict loaded = load_memmap(dir);
  EXPECT_TRUE(loaded.get(key("a")).equal(at::tensor({1.F, 2.F, 3.F, 4.F, 0.F, 0.F}).view({3, 2})));
}

TEST(Writer, AllocatesNothingForARow) {
  const TensorDict td = target({100}, at::zeros({100, 3}));
  TensorWriter writer(td);
  writer.bind(key("a"));
  const float row[3] = {1, 2, 3};
  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i) {
    writer.put(0, row, sizeof row);
    writer.next();
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace td
