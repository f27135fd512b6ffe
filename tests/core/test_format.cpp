// The text and the names of a folder, without any folder.
#include "core/formats/format.h"
#include "core/tensor/dtype.h"

#include "folders.h"

#include <limits>

namespace td::format {
namespace {

using test::expect_error;
using test::golden;
using test::read_file;

constexpr Limits limits{50, 1000};

NodeText read(const std::string& text) { return read_node(text, "here", limits); }

void refuse(const std::string& text, const std::string& why, Code code = Code::format) {
  SCOPED_TRACE(text.substr(0, 100));
  expect_error(code, "here: ", [&] { read(text); });
  expect_error(code, why, [&] { read(text); });
}

// A node with these fields.
std::string node(const std::string& fields) {
  return "{" + fields +
         R"("shape":[4],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"})";
}

TEST(Format, EscapesNames) {
  const std::pair<std::string, const char*> names[] = {
      {"plain", "plain"},
      {"", "%"},
      {".", "%2E"},
      {"..", "%2E%2E"},
      {"...", "..."},
      {"dot.ted", "dot.ted"},
      {"a/b", "a%2Fb"},
      {"with space", "with%20space"},
      {"per%cent", "per%25cent"},
      {"colon:", "colon%3A"},
      {"tab\t", "tab%09"},
      {"star*?", "star%2A%3F"},
      {"quote\"", "quote%22"},
      {"back\\slash", "back%5Cslash"},
      {"pipe|<>", "pipe%7C%3C%3E"},
      {"\x7f\x1f", "%7F%1F"},
      {std::string(1, '\0'), "%00"},
      {"üñí", "üñí"},
  };
  for (const auto& [key, name] : names) EXPECT_EQ(escape(key), name);
}

TEST(Format, KnowsNamesThatLeadElsewhere) {
  for (const char* key : {"a/b", "/a", "../a", "a\\b", "c:a", "C:"}) {
    EXPECT_FALSE(safe_verbatim(key, false)) << key;
    EXPECT_FALSE(safe_verbatim(key, true)) << key;
  }
  for (const char* key : {"", ".", ".."}) {
    EXPECT_TRUE(safe_verbatim(key, false)) << key;  // as files they have a suffix
    EXPECT_FALSE(safe_verbatim(key, true)) << key;
  }
  for (const char* key : {"a", "with space", "ab:c", "1:", "ü", "...", "%"}) {
    EXPECT_TRUE(safe_verbatim(key, true)) << key;
  }
  EXPECT_FALSE(safe_verbatim(std::string_view("a\0b", 3), false));
}

TEST(Format, NamesDTypesBothWays) {
  const std::pair<c10::ScalarType, const char*> names[] = {
      {c10::ScalarType::BFloat16, "torch.bfloat16"},
      {c10::ScalarType::Bool, "torch.bool"},
      {c10::ScalarType::ComplexDouble, "torch.complex128"},
      {c10::ScalarType::ComplexHalf, "torch.complex32"},
      {c10::ScalarType::ComplexFloat, "torch.complex64"},
      {c10::ScalarType::Half, "torch.float16"},
      {c10::ScalarType::Float, "torch.float32"},
      {c10::ScalarType::Double, "torch.float64"},
      {c10::ScalarType::Char, "torch.int8"},
      {c10::ScalarType::Short, "torch.int16"},
      {c10::ScalarType::Int, "torch.int32"},
      {c10::ScalarType::Long, "torch.int64"},
      {c10::ScalarType::Byte, "torch.uint8"},
  };
  for (const auto& [dtype, name] : names) {
    EXPECT_EQ(stored_name(dtype), name);
    EXPECT_EQ(td::parse_dtype(name, "here"), dtype);
  }
  EXPECT_EQ(stored_name(c10::ScalarType::QInt8), "");
  for (const char* name : {"torch.uint16", "torch.uint32", "torch.uint64"}) {
#if TD_TORCH_HAS_WIDE_UNSIGNED
    EXPECT_EQ(stored_name(td::parse_dtype(name, "here")), name);
#else
    expect_error(Code::dtype, "needs libtorch 2.3", [&] { td::parse_dtype(name, "here"); });
#endif
  }
  expect_error(Code::unsupported, "torch.qint8", [] { td::parse_dtype("torch.qint8", "here"); });
  expect_error(Code::format, "here: no dtype is called \"float32\"",
               [] { td::parse_dtype("float32", "here"); });
}

TEST(Format, ChecksProductsOfSizes) {
  const auto bytes = [](std::initializer_list<std::int64_t> sizes, std::size_t item) {
    return checked_bytes(c10::IntArrayRef(sizes.begin(), sizes.size()), item);
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bytes({}, 8), 8);
  EXPECT_EQ(bytes({2, 3}, 4), 24);
  EXPECT_EQ(bytes({2, 0, 3}, 4), 0);
  EXPECT_EQ(bytes({most}, 1), most);
  EXPECT_EQ(bytes({most}, 2), std::nullopt);
  EXPECT_EQ(bytes({1LL << 32, 1LL << 32}, 1), std::nullopt);
  EXPECT_EQ(bytes({0, 1LL << 62, 4}, 1), std::nullopt);  // the strides would not fit
  EXPECT_EQ(bytes({-1}, 1), std::nullopt);
}

TEST(Format, WritesAsPythonDoes) {
  DenseText text;
  text.leaf("a", "cpu", {4, 3}, "torch.float32");
  text.node("b", NodeType::dense);
  const Sizes batch{4};
  EXPECT_EQ(std::move(text).finish(batch, "cpu"), read_file(golden("basic/meta.json")));
  EXPECT_EQ(DenseText().finish({}, "cpu"),
            R"({"shape":[],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"})");
  EXPECT_EQ(non_tensor_text("\"hello wörld\""), read_file(golden("nontensor/str/meta.json")));
  EXPECT_EQ(quote("tab\t quote\" back\\ \n\r\b\f \x01\x1f \x7f ü/"),
            "\"tab\\t quote\\\" back\\\\ \\n\\r\\b\\f \\u0001\\u001f \x7f ü/\"");
}

TEST(Format, ReadsADictionary) {
  const NodeText text = read(read_file(golden("basic/meta.json")));
  EXPECT_EQ(text.type, NodeType::dense);
  EXPECT_EQ(text.batch, Shape({4}));
  EXPECT_EQ(text.device, "cpu");
  ASSERT_EQ(text.entries.size(), 2U);
  EXPECT_EQ(text.entries[0].key, "a");
  EXPECT_FALSE(text.entries[0].is_node);
  EXPECT_FALSE(text.entries[0].nested_tensor);
  EXPECT_TRUE(text.entries[0].has_is_nested);
  EXPECT_EQ(text.entries[0].dtype, "torch.float32");
  EXPECT_EQ(text.entries[0].shape, Shape({4, 3}));
  EXPECT_EQ(text.entries[1].key, "b");
  EXPECT_TRUE(text.entries[1].is_node);
}

TEST(Format, ReadsOtherWritersToo) {
  // Python's own writer: spaces and escapes. Any order; what is not known is no harm.
  const NodeText text = read(
      "{ \"_type\": \"<class 'tensordict._td.TensorDict'>\",\n \"version\": 2, \"extra\": [[1], "
      "{}],\n"
      " \"\\u00fc\\u00f1\": {\"shape\": [2, 1], \"more\": {\"dtype\": 1, \"shape\": 2},"
      " \"dtype\": \"torch.int8\"}, \"n\": {\"type\": 7},\n"
      " \"l\": {\"type\": null, \"dtype\": \"torch.bool\", \"shape\": []}, \"device\": \"None\" "
      "}\n");
  EXPECT_TRUE(text.batch.empty());
  EXPECT_EQ(text.device, std::nullopt);
  ASSERT_EQ(text.entries.size(), 3U);
  EXPECT_EQ(text.entries[0].key, "üñ");
  EXPECT_EQ(text.entries[0].shape, Shape({2, 1}));
  EXPECT_EQ(text.entries[0].dtype, "torch.int8");
  EXPECT_FALSE(text.entries[0].has_is_nested);
  EXPECT_TRUE(text.entries[1].is_node);
  EXPECT_FALSE(text.entries[2].is_node);
  EXPECT_TRUE(text.entries[2].has_shape);
  EXPECT_EQ(read(R"({"device":null,"_type":"<class 'tensordict._td.TensorDict'>"})").device,
            std::nullopt);
  EXPECT_TRUE(read(node(R"("r":{"shape":[3,2],"dtype":"torch.int8","is_nested":true},)"))
                  .entries[0]
                  .nested_tensor);
}

TEST(Format, ReadsValues) {
  const auto data = [](const std::string& json) {
    const NodeText text = read(R"({"data" : )" + json +
                               R"(, "_type":"<class 'tensordict.tensorclass.NonTensorData'>"})");
    EXPECT_EQ(text.type, NodeType::non_tensor);
    return text.data;
  };
  EXPECT_EQ(data(" null"), "null");
  EXPECT_EQ(data("-7"), "-7");
  EXPECT_EQ(data("2.50"), "2.50");  // numbers stay as they stand
  EXPECT_EQ(data("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(data("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(data(R"("w\u00f6rld \/ \u0001")"), R"("wörld / \u0001")");
  EXPECT_EQ(data(R"({ "k" : { "z" : [ 1 , 2 , { } , [ ] ] } , "data" : true })"),
            R"({"k":{"z":[1,2,{},[]]},"data":true})");
  for (const char* name : {"bool", "dict", "float", "int", "list", "none", "str"}) {
    const std::string text = read_file(golden(std::string("nontensor/") + name + "/meta.json"));
    EXPECT_EQ(non_tensor_text(read(text).data), text);
  }
}

TEST(Format, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "not json", "{\"a\":}", "{\"a\":1}}", "{\"a\" 1}", "{'a':1}",
                           "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "{\"a\":1e1000}", "\xff\xfe",
                           "{\"a\":1NaN}", "{\"a\":NaN1}", "{\"a\":-NaN}", "{NaN:1}"}) {
    refuse(text, "no JSON at byte ");
  }
  refuse("[1,2]", "not an object");
  refuse("7", "not an object");
  refuse("null", "not an object");
  refuse("{}", "the field \"_type\" is missing");
  refuse("{\"_type\":7}", "\"_type\" is not a text");
  refuse("{\"_type\":{}}", "\"_type\" is not a text");
}

TEST(Format, RefusesFieldsOfAnotherKind) {
  const auto leaf = [](const std::string& fields) { return node("\"a\":{" + fields + "},"); };
  refuse(leaf(R"("shape":[2,-1],"dtype":"torch.int8")"), "the shape of \"a\"");
  refuse(leaf(R"("shape":[2.5])"), "the shape of \"a\"");
  refuse(leaf(R"("shape":["2"])"), "the shape of \"a\"");
  refuse(leaf(R"("shape":[[2]])"), "the shape of \"a\"");
  refuse(leaf(R"("shape":[9223372036854775808])"), "the shape of \"a\"");
  refuse(leaf(R"("shape":2)"), "the shape of \"a\"");
  refuse(leaf(R"("dtype":2)"), "the dtype of \"a\"");
  refuse(leaf(R"("is_nested":0)"), "\"is_nested\" of \"a\"");
  refuse(R"({"shape":4,"_type":"<class 'tensordict._td.TensorDict'>"})", "\"shape\"");
  refuse(R"({"shape":[[1]],"_type":"<class 'tensordict._td.TensorDict'>"})", "the batch size");
  refuse(R"({"shape":{},"_type":"<class 'tensordict._td.TensorDict'>"})", "\"shape\"");
  refuse(R"({"device":7,"_type":"<class 'tensordict._td.TensorDict'>"})", "\"device\"");
  refuse(node(R"("a":{"type":"x"},"a":{"type":"x"},)"), "two entries are called \"a\"");
  refuse(node(R"("a\u0000b":{"type":"x"},)"), "holds a NUL");
  refuse(R"({"data":1,"data":2,"_type":"<class 'tensordict.tensorclass.NonTensorData'>"})",
         "two fields");
}

TEST(Format, RefusesKindsThatAreNotKnown) {
  refuse(read_file(golden("tensorclass/s/meta.json")), "__main__.Sample", Code::unsupported);
  refuse(R"({"_type":"Sample"})", "\"Sample\"", Code::unsupported);
}

TEST(Format, HasLimits) {
  std::string deep(100000, '[');
  refuse(deep, "not an object");
  refuse("{\"a\":" + deep, "nested deeper than 50 levels");
  std::string wide;
  for (int i = 0; i < 1001; ++i) wide += "\"" + std::to_string(i) + "\":{\"type\":\"x\"},";
  refuse(node(wide), "more entries than allowed");
  std::string dims = "0";
  for (int i = 0; i < 2000; ++i) dims += ",0";
  refuse(node("\"a\":{\"shape\":[" + dims + "]},"), "dimensions");
}

TEST(Format, KeepsWordsForNumbers) {
  const auto again = [](const std::string& text) { return json_text(read_json(text, "here", 5)); };
  for (const char* text : {"NaN", "[NaN,-Infinity,Infinity]", R"({"NaN":"a NaN, \"Infinity"})",
                           R"([0.00e1,0.0e0,NaN,"0.000e0"])", "[-0.0,1180591620717411303424]",
                           "[1e999,-1e999,Infinity,\"1e999\",0.0e3]"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again("[ NaN , Infinity ]"), "[NaN,Infinity]");
}

TEST(Format, Compacts) {
  EXPECT_EQ(json_text(read_json(" { \"a\" : [ 1 , \"x y\" , null ] } ", "here", 5)),
            R"({"a":[1,"x y",null]})");
  EXPECT_EQ(json_text(read_json("\"\\u00fc\"", "here", 5)), "\"ü\"");
  expect_error(Code::format, "here", [] { read_json("{", "here", 5); });
  expect_error(Code::format, "here", [] { read_json("[[[1]]]", "here", 2); });
}

}  // namespace
}  // namespace td::format
