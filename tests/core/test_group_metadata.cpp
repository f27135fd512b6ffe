// The metadata that process groups send and receive: pickles as Python writes and reads them, and damaged ones.
#include "core/distributed/c10d_message.h"
#include "core/formats/json_text.h"
#include "core/pickle/pickle_write.h"
#include "core/pickle/pickled.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

namespace {

using td::distributed::pack;
using td::distributed::Packed;
using td::distributed::Unpacked;
using td::distributed::Way;

td::TensorDict dictionary() {
  td::TensorDict td(td::Sizes{2});
  const std::string_view a[] = {"a"}, nb[] = {"n", "b"}, text[] = {"text"};
  td.set(a, at::arange(6, at::kFloat).view({2, 3}));
  td.set(nb, at::arange(2, at::kLong));
  td.set_non_tensor(text, "[1,-2.5,\"é\",null,true,{\"k\":[]}]");
  return td;
}

TEST(GroupMetadata, ComesBack) {
  for (const Way way : {Way::remote, Way::broadcast, Way::gather}) {
    const Packed packed = pack(dictionary(), way, 1);
    const Unpacked unpacked(packed.pickle, {});
    EXPECT_EQ(unpacked.bytes(), static_cast<std::size_t>(packed.bytes.nbytes()));
    EXPECT_TRUE(unpacked.build(packed.bytes.storage()).equal(dictionary()));
  }
}

TEST(GroupMetadata, PlainValues) {
  const auto pickle_of = [](const char* json, td::pickled::PickleEvents::Members more) {
    td::pickled::PickleEvents pickle(std::move(more));
    send(td::read_value(json, "it"), pickle);
    return pickle.take();
  };
  const std::string pickle =
      pickle_of("{\"a\":[1,-1,null,true,2.5]}", {{"b", td::Plain::of_text("x")}});
  const td::pickled::Pickle read = td::pickled::read(pickle, "it", 1000);
  const std::string_view json = "{\"a\":[1,-1,null,true,2.5],\"b\":\"x\"}";
  std::size_t left = json.size() + 3;
  EXPECT_EQ(json_text(td::pickled::plain_of(read, read.root, left, "it")), json);
  EXPECT_LE(left, 3U);
  left = json.size() - 3;
  EXPECT_THROW(td::pickled::plain_of(read, read.root, left, "it"), td::Error);
  // Protocol 3, as pickle.loads() reads it.
  EXPECT_EQ(pickle_of("{\"k\":\"v\"}", {}),
            std::string("\x80\x03}(X\x01\0\0\0kX\x01\0\0\0vu.", 18));
  EXPECT_THROW(pickle_of("{\"a\":1}", {{"a", td::Plain()}}), td::Error);
  EXPECT_THROW(pickle_of("[]", {}), td::Error);
}

// What pickle.dumps(metadata, 5) of Python 3.11 gives for one tensor of two bytes, with tuples in it.
TEST(GroupMetadata, FromPython) {
  static const char text[] =
      "\200\005\225\307\000\000\000\000\000\000\000\175\224\050\214\003\143\154\163\224\214\012"
      "\124\145\156\163\157\162\104\151\143\164\224\214\013\156\157\156\137\164\145\156\163\157"
      "\162\163\224\175\224\214\006\154\145\141\166\145\163\224\175\224\214\001\170\224\050\214"
      "\013\164\157\162\143\150\056\165\151\156\164\070\224\135\224\113\002\141\113\000\113\010"
      "\113\006\164\224\163\214\014\143\154\163\137\155\145\164\141\144\141\164\141\224\175\224"
      "\050\214\006\144\145\166\151\143\145\224\116\214\005\156\141\155\145\163\224\135\224\116"
      "\141\214\012\142\141\164\143\150\137\163\151\172\145\224\135\224\113\002\141\214\011\151"
      "\163\137\154\157\143\153\145\144\224\211\165\214\014\137\164\157\164\141\154\137\142\171"
      "\164\145\163\224\113\010\214\021\137\164\145\156\163\157\162\143\154\141\163\163\137\164"
      "\171\160\145\224\214\003\155\056\103\224\165\056";
  const Unpacked unpacked(std::string_view(text, sizeof text - 1), {});
  EXPECT_EQ(unpacked.bytes(), 8U);
  const at::Tensor row = at::tensor({7, 9, 0, 0, 0, 0, 0, 0}, at::kByte);
  const std::string_view x[] = {"x"};
  EXPECT_TRUE(unpacked.build(row.storage()).get(x).equal(at::tensor({7, 9}, at::kByte)));
}

TEST(GroupMetadata, Damaged) {
  const Packed packed = pack(dictionary(), Way::broadcast, 1);
  std::mt19937 random(1);
  td::ReceiveOptions limits;
  limits.max_bytes = 1 << 16;
  for (int i = 0; i < 3000; ++i) {
    std::string text = packed.pickle;
    for (unsigned n = 1 + random() % 4; n > 0; --n)
      text[random() % text.size()] = static_cast<char>(random());
    if (i % 3 == 0) text.resize(random() % text.size());
    try {
      const Unpacked unpacked(text, limits);
      ASSERT_LE(unpacked.bytes(), limits.max_bytes);
      const at::Tensor row = at::zeros({static_cast<std::int64_t>(unpacked.bytes())}, at::kByte);
      unpacked.build(row.storage());
    } catch (const td::Error&) {
      // Told, whatever it is.
    } catch (const c10::Error&) {
    }
  }
}

TEST(GroupMetadata, Sizes) {
  td::ReceiveOptions limits;
  limits.max_bytes = 10;
  EXPECT_EQ(td::distributed::checked_size(10, limits, "a row"), 10U);
  for (const std::int64_t size :
       {std::int64_t{11}, std::int64_t{-1}, std::int64_t{1} << 31, INT64_MIN, INT64_MAX}) {
    EXPECT_THROW(td::distributed::checked_size(size, limits, "a row"), td::Error);
  }
}

}  // namespace
