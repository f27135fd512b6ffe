// Values that are no tensors, from and to JSON. The program is linked with the rooms below libtorch only.
#include "core/base/error.h"
#include "core/formats/events.h"
#include "core/formats/json_text.h"

#include <gtest/gtest.h>

#include <thread>

namespace td {
namespace {

Plain value(std::string_view json) { return read_value(json, "it"); }

// Lists around lists.
std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(Plain, KeepsWhatWasWritten) {
  EXPECT_EQ(sizeof(Plain), 16U);
  for (const char* json : {"null",
                           "true",
                           "false",
                           "0",
                           "-7",
                           "9223372036854775807",
                           "-9223372036854775808",
                           "9223372036854775808",
                           "123456789012345678901234567890",
                           "1.10",
                           "1e5",
                           "-0.0",
                           "3.14159265358979323846264338327950288",
                           "\"\"",
                           "\"fifteen letters\"",
                           "\"sixteen letters!\"",
                           "\"\\\"\\\\\\n\\u0001\xC3\xA9\"",
                           "[]",
                           "{}",
                           "[[],{},[1,\"a\"]]",
                           "{\"b\":1,\"a\":2,\"b\":3}",
                           "{\"$bytes\":\"AAECAwQF\"}"}) {
    EXPECT_EQ(json_text(value(json)), json);
  }
  EXPECT_EQ(json_text(value(" { \"a\" : [ 1 , \"\\u00e9\" ] } ")), "{\"a\":[1,\"\xC3\xA9\"]}");
}

TEST(Plain, TellsWhatItIs) {
  EXPECT_TRUE(Plain().is(Plain::null));
  EXPECT_EQ(value("true").truth(), true);
  EXPECT_EQ(value("1").truth(), false);
  EXPECT_EQ(value("-12").integral(), -12);
  EXPECT_EQ(value("9223372036854775808").kind(), Plain::real);
  EXPECT_EQ(value("9223372036854775808").number(), 9223372036854775808.0);
  EXPECT_EQ(value("1e-400").number(), 0);
  EXPECT_EQ(value("2.50").characters(), "2.50");
  EXPECT_EQ(value("\"text\"").characters(), "text");
  EXPECT_EQ(value("[1,2,3]").items().size(), 3U);
  EXPECT_TRUE(value("\"text\"").items().empty());
  const Plain object = value("{\"b\":1,\"a\":[2],\"b\":3}");
  EXPECT_EQ(object.name(2), "b");
  EXPECT_EQ(object.find("b")->integral(), 1);
  EXPECT_EQ(object.find("a", Plain::list)->items()[0].integral(), 2);
  EXPECT_EQ(object.find("a", Plain::text), nullptr);
  EXPECT_EQ(object.find("c"), nullptr);
}

TEST(Plain, IsEqualIfTheTextIs) {
  const char* texts[] = {"null",
                         "false",
                         "0",
                         "0.0",
                         "1",
                         "1.0",
                         "1.00",
                         "\"1\"",
                         "\"\"",
                         "[]",
                         "{}",
                         "[1]",
                         "[1,1]",
                         "{\"a\":1}",
                         "{\"b\":1}",
                         "[null]",
                         "{\"a\":1.0}",
                         "\"sixteen letters!\"",
                         "\"sixteen letters?\""};
  for (const char* a : texts) {
    for (const char* b : texts) {
      EXPECT_EQ(value(a) == value(b), std::string_view(a) == b) << a << " and " << b;
    }
  }
  EXPECT_NE(value("{\"a\":1,\"b\":2}"), value("{\"b\":2,\"a\":1}"));
}

TEST(Plain, IsShared) {
  const Plain list = value("[\"a text that needs memory of its own\",[1,2]]");
  const Plain copy = list;
  EXPECT_EQ(copy.items().data(), list.items().data());
  Plain inner = list.items()[0];
  EXPECT_EQ(inner.characters().data(), list.items()[0].characters().data());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&list] {
      for (int k = 0; k < 10000; ++k) {
        const Plain mine = list, item = mine.items()[0];
        ASSERT_EQ(item.characters().substr(0, 6), "a text");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(json_text(copy), json_text(list));
}

TEST(Plain, NestsAsDeepAsItsReaderAllows) {
  EXPECT_EQ(json_text(value(nested(max_json_depth))), nested(max_json_depth));
  EXPECT_THROW(value(nested(max_json_depth + 1)), Error);
  // Freeing does not recurse.
  const std::size_t deep = 1000000;
  const Plain made = read_json(nested(deep), "it", deep);
  EXPECT_TRUE(is_deeper(made, deep - 1));
  EXPECT_FALSE(is_deeper(made, deep));
  EXPECT_THROW(json_text(made, "it"), Error);
}

TEST(Plain, RepeatedMembersMayBeRefused) {
  EXPECT_THROW(read_json("[{\"a\":1,\"b\":2,\"a\":3}]", "it"), Error);
  EXPECT_EQ(json_text(read_json("[{\"a\":{\"a\":1}}]", "it")), "[{\"a\":{\"a\":1}}]");
}

TEST(Plain, HeadsOfLists) {
  const Plain list = value("[1,[2],3]");
  EXPECT_EQ(json_text(head_of_list(list, 0)), "[]");
  EXPECT_EQ(json_text(head_of_list(list, 2)), "[1,[2]]");
  EXPECT_EQ(json_text(head_of_list(list, 9)), "[1,[2],3]");
  EXPECT_EQ(json_text(head_of_list(value("\"abc\""), 1)), "\"abc\"");
}

TEST(Plain, IsSpelledAsPythonDoes) {
  EXPECT_EQ(python_json(value(R"({"a":[1,{"b":null}],"":"x y"})")),
            R"({"a": [1, {"b": null}], "": "x y"})");
  EXPECT_EQ(python_json(value("[\"~\x7f\u00e9\u20ac\",[],{}]")),
            R"(["~\u007f\u00e9\u20ac", [], {}])");
  EXPECT_EQ(python_json(value("\"\xf0\x9f\x98\x80\"")), R"("\ud83d\ude00")");
}

TEST(Plain, RealsHaveTheShortestDigits) {
  EXPECT_EQ(json_text(Plain::of_real(1)), "1.0");
  EXPECT_EQ(json_text(Plain::of_real(0.1)), "0.1");
  EXPECT_EQ(json_text(Plain::of_real(1e300)), "1e+300");
  EXPECT_EQ(json_text(Plain::of_real(-1.0 / 0.0)), "-Infinity");
}

}  // namespace
}  // namespace td
