// What this libtorch writes by torch::save and torch::pickle_save is read by our own reader.
#include "core/files/other_files.h"

#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <cstring>
#include <sstream>

namespace {

// Memory that begins at a multiple of 64, as a mapping does.
td::FileBytes bytes_of(const char* data, std::size_t size) {
  auto memory = std::make_shared<std::vector<char>>(size + 64);
  char* at = memory->data() + (64 - reinterpret_cast<std::uintptr_t>(memory->data()) % 64) % 64;
  std::memcpy(at, data, size);
  return td::FileBytes(at, size, memory, "\"memory\"");
}

template <class T>
td::FileBytes saved(const T& value) {
  std::ostringstream out;
  torch::save(value, out);
  const std::string text = out.str();
  return bytes_of(text.data(), text.size());
}

td::FileBytes pickled(const c10::IValue& value) {
  const std::vector<char> data = torch::pickle_save(value);
  return bytes_of(data.data(), data.size());
}

td::Path path(const std::vector<std::string_view>& names) { return names; }

at::Tensor get(const td::TensorDict& td, std::vector<std::string_view> names) {
  return td.get(path(names));
}

}  // namespace

TEST(Pickled, OneTensor) {
  for (const auto dtype :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
        at::kChar, at::kByte, at::kBool, at::kComplexFloat, at::kComplexDouble}) {
    const at::Tensor tensor = at::arange(6).view({2, 3}).to(dtype);
    EXPECT_TRUE(td::equal_tensors(td::load_tensor(saved(tensor), {}), tensor)) << dtype;
    EXPECT_TRUE(td::equal_tensors(td::load_tensor(pickled(tensor), {}), tensor)) << dtype;
  }
}

TEST(Pickled, SeveralTensors) {
  const at::Tensor a = at::arange(6, at::kFloat).view({2, 3});
  const td::TensorDict td = td::load_file(saved(std::vector<at::Tensor>{a, a.t(), a[1]}), {});
  EXPECT_TRUE(td::equal_tensors(get(td, {"0"}), a));
  EXPECT_TRUE(td::equal_tensors(get(td, {"1"}), a.t()));
  EXPECT_TRUE(td::equal_tensors(get(td, {"2"}), a[1]));
  EXPECT_THROW(td::load_tensor(saved(std::vector<at::Tensor>{a, a}), {}), td::Error);
}

TEST(Pickled, DictsAndLists) {
  c10::Dict<std::string, at::Tensor> dict;
  const at::Tensor a = at::arange(6, at::kFloat).view({2, 3});
  dict.insert("a", a);
  dict.insert("b", a.select(1, 1));
  const td::TensorDict td = td::load_file(pickled(dict), {});
  EXPECT_TRUE(td::equal_tensors(get(td, {"a"}), a));
  EXPECT_TRUE(td::equal_tensors(get(td, {"b"}), a.select(1, 1)));
  // They share memory as they did.
  EXPECT_EQ(get(td, {"a"}).storage().data(), get(td, {"b"}).storage().data());
  const td::TensorDict list = td::load_file(pickled(c10::List<at::Tensor>({a, a})), {});
  EXPECT_TRUE(td::equal_tensors(get(list, {"1"}), a));
  const td::TensorDict tuple =
      td::load_file(pickled(c10::ivalue::Tuple::create(
                        {a, 3, std::string("x"), 1.5, true, std::vector<std::int64_t>{1, 2}})),
                    {});
  const auto data = [&](std::string_view name) { return tuple.get_non_tensor(name); };
  EXPECT_EQ(data("1"), "3");
  EXPECT_EQ(data("2"), "\"x\"");
  EXPECT_EQ(data("3"), "1.5");
  EXPECT_EQ(data("4"), "true");
  EXPECT_EQ(data("5"), "[1,2]");
}

TEST(Pickled, Modules) {
  torch::serialize::OutputArchive archive, inner;
  const at::Tensor a = at::arange(6, at::kFloat);
  archive.write("a", a);
  inner.write("b", a.narrow(0, 2, 2), /*is_buffer=*/true);
  archive.write("inner", inner);
  std::ostringstream out;
  archive.save_to(out);
  const std::string text = out.str();
  const td::TensorDict td = td::load_file(bytes_of(text.data(), text.size()), {});
  EXPECT_TRUE(td::equal_tensors(get(td, {"a"}), a));
  EXPECT_TRUE(td::equal_tensors(get(td, {"inner", "b"}), a.narrow(0, 2, 2)));
}
