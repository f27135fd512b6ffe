// Pictures of PNG and JPEG: the values that Pillow reads; damaged ones; PNG there and back.
#include "core/base/sha256.h"
#include "core/formats/json_text.h"
#include "core/pictures/decode.h"
#include "core/tensor/dtype.h"

#include "trees.h"

#include <ATen/ATen.h>

namespace td {
namespace {

std::string file(const std::string& name) {
  return test::read_file(std::string(TD_TEST_DATA) + "/pictures/" + name);
}

class Pictures : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"gray.png", "gray.jpg"}) {
      if (test::code_of([&] { decode_picture(file(name), name); }) == Code::unsupported)
        GTEST_SKIP() << "a library is missing";
    }
  }
};

TEST_F(Pictures, HaveTheValuesOfPillow) {
  const Plain all = read_value(file("pictures.json"), "pictures.json");
  ASSERT_EQ(all.items().size(), 10u);
  for (const Plain& wanted : all.items()) {
    const std::string name(wanted.find("name")->characters());
    SCOPED_TRACE(name);
    const at::Tensor picture = decode_picture(file(name), name);
    EXPECT_EQ(dtype_name(picture.scalar_type()),
              "torch." + std::string(wanted.find("dtype")->characters()));
    std::vector<std::int64_t> sizes;
    for (const Plain& size : wanted.find("shape")->items()) sizes.push_back(size.integral());
    EXPECT_EQ(picture.sizes(), SizesView(sizes));
    const std::string_view bytes(static_cast<const char*>(picture.data_ptr()), picture.nbytes());
    EXPECT_EQ(sha256(bytes), wanted.find("sha256")->characters());
    EXPECT_TRUE(at::equal(decode_picture(file(name) + std::string(100, '\0'), name), picture));
    EXPECT_TRUE(is_picture(file(name)));
  }
}

TEST_F(Pictures, ThatAreCutOrDamaged) {
  for (const char* name :
       {"colours.png", "palette.png", "gray16.png", "gray.jpg", "progressive.jpg"}) {
    const std::string whole = file(name);
    SCOPED_TRACE(name);
    for (std::size_t size = 0; size + 20 < whole.size(); ++size) {
      EXPECT_EQ(test::code_of([&] { decode_picture(whole.substr(0, size), name); }), Code::format)
          << size;
    }
    std::uint32_t random = 1;
    for (int i = 0; i < 2000; ++i) {
      std::string changed = whole;
      for (int n = 0; n < 3; ++n) {
        random = random * 1664525 + 1013904223;
        changed[(random >> 8) % changed.size()] = static_cast<char>(random >> 24);
      }
      const Code code = test::code_of([&] { decode_picture(changed, name, 1 << 20); });
      EXPECT_TRUE(code == Code::ok || code == Code::format || code == Code::unsupported);
    }
  }
  EXPECT_EQ(test::code_of([] { decode_picture("GIF89a", "x"); }), Code::format);
  EXPECT_EQ(test::code_of([] { decode_picture("", "x"); }), Code::format);
  EXPECT_EQ(test::code_of([] { decode_picture(file("cmyk.jpg"), "x"); }), Code::unsupported);
}

TEST_F(Pictures, ThatAreTooLarge) {
  EXPECT_EQ(test::code_of([] { decode_picture(file("gray.png"), "x", 33 * 45); }), Code::ok);
  EXPECT_EQ(test::code_of([] { decode_picture(file("gray.png"), "x", 33 * 45 - 1); }),
            Code::format);
  EXPECT_EQ(test::code_of([] { decode_picture(file("gray16.png"), "x", 33 * 45 * 4 - 1); }),
            Code::format);
  // A JPEG that says it has 65,280 x 65,280 pixels.
  std::string large = file("gray.jpg");
  const std::size_t frame = large.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  for (std::size_t i = 5; i < 9; ++i) large[frame + i] = i % 2 == 1 ? '\xff' : '\0';
  try {
    decode_picture(large, "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::format);
    EXPECT_NE(std::string(error.what()).find("[65280, 65280]"), std::string::npos) << error.what();
  }
}

TEST_F(Pictures, AsRowsOfOneTensor) {
  std::vector<std::string> files = {file("colours.png"), file("colours.jpg"),
                                    file("progressive.jpg")};
  const auto bytes = [&](std::size_t row) { return std::string_view(files[row]); };
  const auto where = [](std::size_t row) { return "row " + std::to_string(row); };
  const at::Tensor rows = decode_pictures(3, bytes, where);
  EXPECT_EQ(rows.sizes(), SizesView({3, 33, 45, 3}));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(rows[i], decode_picture(files[i], "x")));
  files[2] = file("gray.png");
  try {
    decode_pictures(3, bytes, where);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::format);
    EXPECT_STREQ(error.what(), "row 2: the picture is [33, 45], the one of row 0 is [33, 45, 3]");
  }
}

TEST_F(Pictures, PngThereAndBack) {
  for (const auto& sizes :
       std::vector<std::vector<std::int64_t>>{{5, 7}, {5, 7, 2}, {5, 7, 3}, {1, 1, 4}}) {
    const at::Tensor picture = at::randint(0, 256, sizes, at::kByte);
    EXPECT_TRUE(at::equal(decode_picture(encode_png(picture), "x"), picture));
  }
  const at::Tensor turned = at::randint(0, 256, {4, 3, 6}, at::kByte).permute({0, 2, 1});
  EXPECT_TRUE(at::equal(decode_picture(encode_png(turned), "x"), turned));
  EXPECT_EQ(test::code_of([] { encode_png(at::zeros({4, 3, 5}, at::kByte)); }), Code::shape);
  EXPECT_EQ(test::code_of([] { encode_png(at::zeros({4}, at::kByte)); }), Code::shape);
  EXPECT_EQ(test::code_of([] { encode_png(at::zeros({0, 3}, at::kByte)); }), Code::shape);
  EXPECT_EQ(test::code_of([] { encode_png(at::zeros({4, 3})); }), Code::dtype);
}

}  // namespace
}  // namespace td
