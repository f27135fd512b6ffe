// The text of a dictionary is that of Python's tensordict.
#include "trees.h"

#include "core/formats/json_text.h"
#include "core/formats/python_text.h"
#include "core/inspect/print.h"

namespace td {
namespace {

using namespace test;

std::string detailed(const TensorDict& td) {
  return print(td, print_options(PrintForm::detailed, 0, 0, false));
}

TEST(Print, NestedDictionaries) {
  TensorDict td = sample();
  td.set_non_tensor({"s"}, "\"text\"");
  EXPECT_EQ(detailed(td),
            "TensorDict(\n"
            "    fields={\n"
            "        a: Tensor(shape=torch.Size([4, 3, 2]), device=cpu, dtype=torch.float32, "
            "is_shared=False),\n"
            "        n: TensorDict(\n"
            "            fields={\n"
            "                b: Tensor(shape=torch.Size([4, 3]), device=cpu, dtype=torch.int64, "
            "is_shared=False)},\n"
            "            batch_size=torch.Size([4, 3]),\n"
            "            device=None,\n"
            "            is_shared=False),\n"
            "        s: NonTensorData(data=text, batch_size=torch.Size([4, 3]), device=None)},\n"
            "    batch_size=torch.Size([4, 3]),\n"
            "    device=None,\n"
            "    is_shared=False)");
}

TEST(Print, WithoutEntries) {
  EXPECT_EQ(detailed(TensorDict(SizesView{}, c10::Device(at::kCPU))),
            "TensorDict(\n"
            "    fields={\n"
            "    },\n"
            "    batch_size=torch.Size([]),\n"
            "    device=cpu,\n"
            "    is_shared=False)");
}

TEST(Print, FieldsAreSortedByTheirText) {
  TensorDict td = dict({});
  for (const char* name : {"b", "B", "ab", "a", "a_"})
    td.set({std::string_view(name)}, at::ones({}));
  const std::string text = detailed(td);
  std::size_t last = 0;
  // ":" stands behind the digits and before the letters, so that "a:" comes before "a_:".
  for (const char* field :
       {"        B: ", "        a: ", "        a_: ", "        ab: ", "        b: "}) {
    const std::size_t at = text.find(field);
    ASSERT_NE(at, std::string::npos) << field;
    EXPECT_GT(at, last);
    last = at;
  }
}

TEST(Print, EveryDtypeHasItsPythonName) {
  const std::pair<c10::ScalarType, const char*> names[] = {
    {at::kByte, "torch.uint8"},
    {at::kChar, "torch.int8"},
    {at::kShort, "torch.int16"},
    {at::kInt, "torch.int32"},
    {at::kLong, "torch.int64"},
    {at::kHalf, "torch.float16"},
    {at::kFloat, "torch.float32"},
    {at::kDouble, "torch.float64"},
    {at::kComplexHalf, "torch.complex32"},
    {at::kComplexFloat, "torch.complex64"},
    {at::kComplexDouble, "torch.complex128"},
    {at::kBool, "torch.bool"},
    {at::kBFloat16, "torch.bfloat16"},
#if TD_TORCH_HAS_WIDE_UNSIGNED
    {c10::ScalarType::UInt16, "torch.uint16"},
    {c10::ScalarType::UInt32, "torch.uint32"},
    {c10::ScalarType::UInt64, "torch.uint64"},
    {c10::ScalarType::Float8_e4m3fn, "torch.float8_e4m3fn"},
    {c10::ScalarType::Float8_e5m2, "torch.float8_e5m2"},
#endif
  };
  for (const auto& [dtype, name] : names) EXPECT_EQ(dtype_name(dtype), name);
}

TEST(Print, DevicesAndShapes) {
  EXPECT_EQ(describe(at::empty({0, 7}, at::TensorOptions(at::kMeta).dtype(at::kBool))),
            "Tensor(shape=torch.Size([0, 7]), device=meta, dtype=torch.bool, is_shared=False)");
  EXPECT_EQ(describe(at::ones({})),
            "Tensor(shape=torch.Size([]), device=cpu, dtype=torch.float32, is_shared=False)");
}

TEST(Print, ValuesAsPythonWritesThem) {
  const std::pair<const char*, const char*> texts[] = {
      {"\"a\"", "a"},
      {"true", "True"},
      {"null", "None"},
      {"12", "12"},
      {"[1, \"two\", 3.0]", "[1, 'two', 3.0]"},
      {"{\"k\": {\"z\": [1, false]}}", "{'k': {'z': [1, False]}}"},
  };
  for (const auto& [json, text] : texts) EXPECT_EQ(python_text(read_value(json, "it")), text);
}

TEST(Print, ALongValueIsCut) {
  TensorDict td = dict({});
  td.set_non_tensor({"s"}, '"' + std::string(100, 'a') + std::string(101, 'b') + '"');
  const std::string expected =
      "data=" + std::string(20, 'a') + "  ...  " + std::string(20, 'b') + ",";
  EXPECT_NE(detailed(td).find(expected), std::string::npos) << detailed(td);
}

TEST(Print, EveryElementOfAnErrorIsOneLine) {
  TensorDict td = dict({});
  expect_error(Code::key_not_found, "nothing", [&] { td.get({"two", "names"}); });
  for (int i = 0; i < 20; ++i) {
    const std::string name = "k" + std::to_string(i);
    td.set(std::string_view(name), at::ones({}));
  }
  expect_error(Code::key_not_found, "(20 in all)", [&] { td.get({"q"}); });
}

}  // namespace
}  // namespace td
