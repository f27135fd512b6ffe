// Bags of ROS 2, which tests/data/bags/make.py wrote: values, rows, what is left out; cut and damaged files.
#include "core/bags/message_type.h"
#include "core/bags/topic_decoder.h"
#include "core/datasets/dataset.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"

#include "folders.h"

#include <ATen/ATen.h>

#include <cstring>

namespace td {
namespace {

constexpr std::int64_t start = 1'700'000'000'000'000'000, ms = 1'000'000;

std::string bag_path(const std::string& name) {
  return std::string(TD_TEST_DATA) + "/bags/" + name;
}

std::string file_of(const std::string& name) { return test::read_file(bag_path(name)); }

template <class F>
Code code_of(F&& f, std::string* message = nullptr) {
  try {
    f();
    return Code::ok;
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
}

// A library that is missing leaves nothing to test.
bool can_open(const std::string& name) {
  return code_of([&] { Dataset::open(bag_path(name), {})->rows(0, 1); }) != Code::unsupported;
}

std::string json(const TensorDict& td, Path path) { return values_of(td, path); }
std::string about(const TensorDict& td, const char* name) { return value_of(td, {name}); }

// The messages that rows at these times take.
void expect_rows(const TensorDict& td, const std::vector<std::int64_t>& times,
                 bool with_mixed = true) {
  const auto rows = static_cast<std::int64_t>(times.size());
  ASSERT_EQ(td.batch_size(), SizesView({rows}));
  const auto value = [&](Path path, std::int64_t row) { return td.get(path)[row]; };
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t t = times[static_cast<std::size_t>(row)];
    SCOPED_TRACE(t);
    const auto number = [&](std::int64_t first, std::int64_t step, std::int64_t count) {
      return std::min((t - first) / step, count - 1);
    };
    EXPECT_EQ(value({"timestamp"}, row).item<std::int64_t>(), start + t * ms);
    std::int64_t i = number(0, 100, 10);
    EXPECT_TRUE(at::equal(value({"robot", "joint_states", "position"}, row),
                          at::tensor({i + 0.0, i + 0.25}, at::kDouble)));
    EXPECT_TRUE(at::equal(value({"robot", "joint_states", "velocity"}, row),
                          at::tensor({-i + 0.0, i * 2.0}, at::kDouble)));
    EXPECT_EQ(value({"robot", "joint_states", "header", "stamp", "sec"}, row).item<std::int64_t>(),
              100 + i);
    i = number(20, 50, 20);
    EXPECT_EQ(value({"robot", "imu", "orientation", "z"}, row).item<double>(), i / 8.0);
    EXPECT_EQ(value({"robot", "imu", "linear_acceleration", "z"}, row).item<double>(), 9.75 + i);
    i = number(10, 200, 5);
    const at::Tensor picture = value({"camera", "image", "data"}, row);
    ASSERT_EQ(picture.sizes(), SizesView({4, 6, 3}));
    EXPECT_EQ(picture[3][5][2].item<std::int64_t>(), (i * 50 + 3 * 20 + 5 * 3 + 2) % 256);
    EXPECT_EQ(picture[1][0][0].item<std::int64_t>(), (i * 50 + 20) % 256);
    i = number(12, 200, 5);
    EXPECT_TRUE(at::equal(value({"camera", "depth", "data"}, row),
                          at::arange(6, at::kInt).reshape({2, 3}) + (60000 + i * 10)));
    i = number(30, 120, 8);
    EXPECT_EQ(value({"cmd_vel", "linear", "x"}, row).item<double>(), i);
    EXPECT_EQ(value({"cmd_vel", "angular", "z"}, row).item<double>(), i / 2.0);
    if (!with_mixed) continue;
    i = number(5, 150, 6);
    EXPECT_EQ(value({"mixed", "ok"}, row).item<bool>(), i % 2 == 1);
    EXPECT_EQ(value({"mixed", "s"}, row).item<std::int64_t>(), -i);
    EXPECT_EQ(value({"mixed", "u"}, row).item<std::int64_t>(), 65530 + i % 5);
    EXPECT_EQ(value({"mixed", "v"}, row).item<std::int64_t>(), 4294967290 + i % 5);
    EXPECT_EQ(value({"mixed", "w"}, row).item<std::int64_t>(), 5 * i);
    EXPECT_TRUE(at::equal(value({"mixed", "code"}, row), at::arange(i, i + 3, at::kByte)));
    EXPECT_TRUE(at::equal(value({"mixed", "corners", "y"}, row),
                          at::tensor({i + 0.25, i + 1.0}, at::kDouble)));
    EXPECT_EQ(text_in_row(td, {"mixed", "label"}, row), "label " + std::to_string(i));
    const Plain ranges = read_value(json(td, {"mixed", "ranges"}), "ranges");
    EXPECT_EQ(ranges.items()[static_cast<std::size_t>(row)].items().size(),
              static_cast<std::size_t>(i % 4));
    const Plain points =
        read_value(json(td, {"mixed", "points"}), "points").items()[static_cast<std::size_t>(row)];
    ASSERT_EQ(points.items().size(), static_cast<std::size_t>(i % 3));
    if (i % 3 == 2) {
      EXPECT_EQ(points.items()[1].find("z")->number(), 5.0);
    }
  }
}

std::vector<std::int64_t> imu_times() {
  std::vector<std::int64_t> times;
  for (std::int64_t i = 1; i < 20; ++i) times.push_back(20 + i * 50);
  return times;
}

TEST(Bags, EachFormHasTheSameRows) {
  for (const char* name : {"robot.mcap", "robot_plain.mcap", "robot_lz4.mcap", "robot_zstd.mcap",
                           "split", "robot.db3"}) {
    SCOPED_TRACE(name);
    if (!can_open(name)) continue;
    const auto set = Dataset::open(bag_path(name), {});
    EXPECT_EQ(set->kind(), DatasetKind::ros);
    EXPECT_EQ(set->episodes(), 1);
    EXPECT_EQ(set->lengths(), std::vector<std::int64_t>{19});
    const bool is_database = std::strcmp(name, "robot.db3") == 0;
    EXPECT_EQ(set->version(), is_database ? "" : "make.py 1");
    expect_rows(set->rows(0, 19), imu_times(), !is_database);
    const std::vector<std::int64_t> times = imu_times();
    expect_rows(set->rows(7, 4), {times.begin() + 7, times.begin() + 11}, !is_database);
    const TensorDict structure = set->structure();
    EXPECT_EQ(structure.batch_size(), SizesView({0}));
    EXPECT_EQ(structure.get({"camera", "image", "data"}).sizes(), SizesView({0, 4, 6, 3}));
    const TensorDict rows = set->rows(0, 19);
    EXPECT_EQ(rows.get({"robot", "joint_states", "effort"}).sizes(), SizesView({19, 0}));
    EXPECT_EQ(value_of(rows, {"robot", "joint_states", "name"}), "[\"hip\",\"knee\"]");
    EXPECT_EQ(rows.kind_of({"camera", "small", "data"}), EntryKind::non_tensor);
    const TensorDict metadata = set->metadata(0);
    EXPECT_EQ(about(metadata, "clock"), "\"/robot/imu\"");
    EXPECT_EQ(about(metadata, "skipped"), "1");
    const std::string left = about(metadata, "left_out");
    for (const char* topic : {"/json", "/idl", "/timestamp", "/silent"})
      EXPECT_NE(left.find(quote(topic)), std::string::npos) << left;
    EXPECT_EQ(left.find("/mixed") != std::string::npos, is_database) << left;
    EXPECT_EQ(metadata.kind_of({"cut"}), EntryKind::none);
    if (!is_database) {
      EXPECT_EQ(about(metadata, "metadata"), "{\"setup\":{\"robot\":\"arm\"}}");
    }
  }
}

TEST(Bags, RowsByAClockOrARate) {
  DatasetOptions options;
  options.clock = "/cmd_vel";
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < 8; ++i) times.push_back(30 + i * 120);
  expect_rows(Dataset::open(bag_path("robot.mcap"), options)->rows(0, 8), times);
  options.clock = "/none";
  EXPECT_EQ(code_of([&] { Dataset::open(bag_path("robot.mcap"), options); }), Code::key_not_found);
  options.rate = 10;
  EXPECT_EQ(code_of([&] { Dataset::open(bag_path("robot.mcap"), options); }),
            Code::invalid_argument);
  options.clock.clear();
  const auto set = Dataset::open(bag_path("robot.mcap"), options);
  times.clear();
  for (std::int64_t t = 30; t <= 970; t += 100) times.push_back(t);
  EXPECT_EQ(set->steps(), 10);
  expect_rows(set->rows(0, 10), times);
  for (const double rate : {-1.0, 1e300, std::nan("")}) {
    options.rate = rate;
    EXPECT_EQ(code_of([&] { Dataset::open(bag_path("robot.mcap"), options); }),
              Code::invalid_argument);
  }
}

TEST(Bags, PicturesInFilesAreDecoded) {
  DatasetOptions options;
  options.decode = true;
  const auto set = Dataset::open(bag_path("robot.mcap"), options);
  TensorDict rows;
  if (code_of([&] { rows = set->rows(0, 19); }) == Code::unsupported) GTEST_SKIP() << "no libspng";
  const at::Tensor pictures = set->rows(0, 19).get({"camera", "small", "data"});
  EXPECT_EQ(pictures.sizes(), SizesView({19, 4, 5, 3}));
  EXPECT_EQ(pictures[18][3][4][2].item<std::int64_t>(), (4 * 40 + 3 * 10 + 4 * 3 + 2) % 256);
}

TEST(Bags, AFolderOfBags) {
  if (!can_open("runs/run_2.mcap")) GTEST_SKIP() << "no libzstd";
  const auto set = Dataset::open(bag_path("runs"), {});
  EXPECT_EQ(set->episodes(), 2);
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{8, 3}));
  const TensorDict rows = set->rows(6, 4);
  EXPECT_TRUE(at::equal(rows.get({"episode"}), at::tensor({0, 0, 1, 1}, at::kLong)));
  EXPECT_TRUE(at::equal(rows.get({"cmd_vel", "linear", "x"}),
                        at::tensor({6.0, 7.0, 0.0, 1.0}, at::kDouble)));
  EXPECT_EQ(set->episodes(0, 2).batch_size(), SizesView({2, -1}));
  const test::TempFolder folder, other;
  EXPECT_EQ(code_of([&] { Dataset::open(folder.path(), {}); }), Code::format);
  // Episodes that differ are read one by one.
  test::write_file(other("a.mcap"), test::read_file(bag_path("runs/run_2.mcap")));
  test::write_file(other("b.mcap"), test::read_file(bag_path("robot_plain.mcap")));
  const auto mixed = Dataset::open(other.path(), {});
  EXPECT_EQ(mixed->lengths(), (std::vector<std::int64_t>{8, 8}));
  expect_rows(mixed->episode(1), {30, 150, 270, 390, 510, 630, 750, 870});
  std::string message;
  EXPECT_EQ(code_of([&] { mixed->rows(0, 16); }, &message), Code::format);
  EXPECT_NE(message.find("b.mcap"), std::string::npos) << message;
  DatasetOptions options;
  options.kind = DatasetKind::ros;
  EXPECT_EQ(code_of([&] { Dataset::open(folder.path(), options); }), Code::format);
}

std::int64_t messages_of(const Dataset& set) {
  std::int64_t all = 0;
  for (const char* name : {"topics", "left_out"}) {
    const Plain list = read_value(value_of(set.metadata(0), {name}), name);
    for (const Plain& topic : list.items()) all += topic.find("messages")->integral();
  }
  return all;
}

TEST(Bags, DefinitionsInADatabase) {
  if (!can_open("defined.db3")) GTEST_SKIP() << "no SQLite";
  const TensorDict rows = Dataset::open(bag_path("defined.db3"), {})->rows(0, 8);
  EXPECT_EQ(text_in_row(rows, {"mixed", "label"}, 7), "label 5");
  EXPECT_EQ(rows.get({"mixed", "corners", "z"}).sizes(), SizesView({8, 2}));
}

// A summary that is not what its sum says is not used.
TEST(Bags, ADamagedSummary) {
  const test::TempFolder folder;
  std::string bytes = file_of("robot.mcap");
  bytes[bytes.size() - 9] ^= 1;
  test::write_file(folder("bag.mcap"), bytes);
  const auto set = Dataset::open(folder("bag.mcap"), {});
  expect_rows(set->rows(0, 19), imu_times());
  EXPECT_EQ(set->metadata(0).kind_of({"cut"}), EntryKind::none);
}

// What is whole before the cut is read.
TEST(Bags, CutAtEveryByte) {
  if (!can_open("small.mcap")) GTEST_SKIP() << "no libzstd";
  const test::TempFolder folder;
  for (const char* name : {"small.mcap", "robot_plain.mcap"}) {
    const std::string whole = file_of(name);
    const std::size_t step = whole.size() > 5000 ? 397 : 1;
    std::int64_t most = 0;
    for (std::size_t size = 8; size < whole.size(); size += step) {
      SCOPED_TRACE(size);
      test::write_file(folder("cut.mcap"), whole.substr(0, size));
      const auto set = Dataset::open(folder("cut.mcap"), {});
      const std::int64_t found = messages_of(*set);
      EXPECT_GE(found, most);
      most = std::max(most, found);
      const std::int64_t steps = set->steps();
      set->rows(0, steps);
      const bool in_the_end = whole.size() - size < 1500;
      EXPECT_TRUE(in_the_end || set->metadata(0).kind_of({"cut"}) == EntryKind::non_tensor);
    }
    EXPECT_EQ(most, messages_of(*Dataset::open(bag_path(name), {})));
    for (std::size_t size = 0; size < 8; ++size) {
      test::write_file(folder("cut.mcap"), whole.substr(0, size));
      EXPECT_NE(code_of([&] { Dataset::open(folder("cut.mcap"), {}); }), Code::ok);
    }
  }
  const std::string base = file_of("robot.db3");
  if (!can_open("robot.db3")) return;
  for (std::size_t size = 0; size < base.size(); size += 509) {
    test::write_file(folder("cut.db3"), base.substr(0, size));
    const Code code = code_of([&] {
      const auto set = Dataset::open(folder("cut.db3"), {});
      set->rows(0, set->steps());
    });
    EXPECT_TRUE(code == Code::format || code == Code::ok) << size;
  }
}

TEST(Bags, BytesThatAreChanged) {
  const test::TempFolder folder;
  std::uint32_t random = 7;
  for (const char* name : {"small.mcap", "robot_lz4.mcap", "robot.db3", "robot_plain.mcap"}) {
    if (!can_open(name)) continue;
    const std::string whole = file_of(name);
    const std::string path = folder(std::string("changed.") + (whole[0] == 'S' ? "db3" : "mcap"));
    DatasetOptions options;
    options.max_bytes = 1 << 20;
    for (int round = 0; round < 100; ++round) {
      std::string changed = whole;
      for (int n = 0; n < 1 + round % 3; ++n) {
        random = random * 1664525 + 1013904223;
        changed[(random >> 8) % changed.size()] = static_cast<char>(random >> 24);
      }
      test::write_file(path, changed);
      const Code code = code_of([&] {
        const auto set = Dataset::open(path, options);
        for (std::int64_t i = 0; i < set->episodes(); ++i) set->episode(i);
        set->metadata(0);
      });
      EXPECT_TRUE(code == Code::ok || code == Code::format || code == Code::unsupported ||
                  code == Code::key_not_found)
          << static_cast<int>(code);
    }
  }
}

// A chunk whose CRC is not that of its bytes, and lengths that lie.
TEST(Bags, LiesAreFound) {
  const test::TempFolder folder;
  std::string bytes = file_of("robot.mcap");
  const std::size_t chunk = bytes.find("\x06", 8 + 9 + 20);
  std::string message;
  bytes[bytes.find("imu", chunk) + 2] = 'x';
  test::write_file(folder("crc.mcap"), bytes);
  EXPECT_EQ(code_of([&] { Dataset::open(folder("crc.mcap"), {})->rows(0, 1); }, &message),
            Code::format);
  EXPECT_NE(message.find("CRC"), std::string::npos) << message;

  const auto mcap = [](const std::string& records) { return "\x89MCAP0\r\n" + records; };
  const auto record = [](char opcode, const std::string& content) {
    std::string text(1, opcode);
    const std::uint64_t size = content.size();
    text.append(reinterpret_cast<const char*>(&size), sizeof size);
    return text + content;
  };
  const auto u64 = [](std::uint64_t number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof number);
  };
  const std::string packing("\4\0\0\0zstd", 8);
  const std::string large = record(
      6, u64(0) + u64(0) + u64(UINT64_MAX / 2) + std::string(4, '\0') + packing + u64(1) + "x");
  test::write_file(folder("large.mcap"), mcap(large));
  EXPECT_EQ(code_of([&] { Dataset::open(folder("large.mcap"), {}); }, &message), Code::format);
  EXPECT_NE(message.find("more than the limit"), std::string::npos) << message;
  test::write_file(folder("packing.mcap"),
                   mcap(record(6, u64(0) + u64(0) + u64(1) + std::string(4, '\0') +
                                      std::string("\2\0\0\0xz", 6) + u64(1) + "x")));
  EXPECT_EQ(code_of([&] { Dataset::open(folder("packing.mcap"), {}); }), Code::unsupported);
  test::write_file(folder("message.mcap"), mcap(record(5, std::string(30, '\0'))));
  EXPECT_EQ(code_of([&] { Dataset::open(folder("message.mcap"), {}); }), Code::format);
}

TEST(Bags, Definitions) {
  const auto parse = [](const std::string& text) {
    return bags::parse_schema("a/msg/Top", text, "x");
  };
  const bags::Schema schema =
      parse("Header h\nuint8 X=3\nfloat64[<=4] v # v\nTime[2] t\n===\nMSG: a/Time\nbyte b\n");
  ASSERT_EQ(schema[0].fields.size(), 3u);
  EXPECT_EQ(schema[0].fields[1].many, bags::Field::sequence);
  EXPECT_EQ(schema[0].fields[2].count, 2u);
  EXPECT_EQ(schema[schema[0].fields[2].type].name, "a/Time");
  EXPECT_EQ(schema[schema[0].fields[0].type].name, "std_msgs/Header");
  EXPECT_EQ(parse("\n# nothing\n")[0].fields.size(), 1u);  // as ROS sends it
  for (const char* text : {"Top t", "int32", "int32 1a", "int32[x] a", "int32[0] a", "int32[ a",
                           "int32<=3 a", "int32 a\nint32 a", "B b\n===\nMSG: a/B\nTop t\n"})
    EXPECT_EQ(code_of([&] { parse(text); }), Code::format) << text;
  for (const char* text : {"wstring w", "b/Unknown u"})
    EXPECT_EQ(code_of([&] { parse(text); }), Code::unsupported) << text;
  // Types in types, which a message would have without end.
  std::string nested = "T0 a\nT0 b\n";
  for (int i = 0; i < 40; ++i) {
    nested += "===\nMSG: a/T" + std::to_string(i) + "\nT" + std::to_string(i + 1) + " a\nT" +
              std::to_string(i + 1) + " b\n";
  }
  EXPECT_EQ(code_of([&] { parse(nested + "===\nMSG: a/T40\nint8 x\n"); }), Code::format);
  bags::Topic topic{"/t", "a/Top", "cdr", "ros2msg", {}, {}};
  nested = "T0 a\nT0 b\n";
  for (int i = 0; i < 25; ++i) {
    nested += "===\nMSG: a/T" + std::to_string(i) + "\nT" + std::to_string(i + 1) + " a\nT" +
              std::to_string(i + 1) + " b\n";
  }
  topic.schema = nested + "===\nMSG: a/T25\nint8 x\n";
  EXPECT_EQ(code_of([&] { bags::TopicDecoder(topic, "x", false, 1000, 0); }), Code::format);
}

TEST(Bags, MessagesThatLie) {
  const auto decode = [](const std::string& definition, const std::string& message) {
    const bags::Topic topic{"/t", "a/Top", "cdr", "ros2msg", definition, {}};
    bags::TopicDecoder decoder(topic, "x", false, 1000, 0);
    decoder.look(message);
    decoder.settle();
    auto rows = decoder.make_rows(1);
    decoder.decode(message, rows, 0);
  };
  const std::string little("\0\1\0\0", 4);
  EXPECT_EQ(code_of([&] { decode("int32 a", little + std::string(4, '\1')); }), Code::ok);
  EXPECT_EQ(code_of([&] { decode("int32 a", little + std::string(3, '\1')); }), Code::format);
  EXPECT_EQ(code_of([&] { decode("float64[4000000000] a", little + std::string(30, '\1')); }),
            Code::format);
  EXPECT_EQ(code_of([&] { decode("float64[] a", little + std::string(30, '\xff')); }),
            Code::format);
  EXPECT_EQ(code_of([&] { decode("string[] a", little + std::string(30, '\xff')); }), Code::format);
  EXPECT_EQ(code_of([&] { decode("string a", little + std::string(4, '\0')); }), Code::ok);
  EXPECT_EQ(code_of([&] {
              decode("B[] a\n===\nMSG: a/B\nB2[] b\n===\nMSG: a/B2\nstring c\n",
                     little + std::string(30, '\xff'));
            }),
            Code::format);
  EXPECT_EQ(code_of([&] { decode("int32 a", std::string("\0\7\0\0\0\0\0\0", 8)); }),
            Code::unsupported);
  EXPECT_EQ(code_of([&] { decode("int32 a", "\1"); }), Code::format);
}

}  // namespace
}  // namespace td
