// What is found in data sets that are wrong, and nothing in those that their libraries wrote.
#include "core/datasets/lerobot_stats.h"
#include "core/datasets/save.h"
#include "core/datasets/source.h"
#include "core/datasets/verify.h"
#include "core/datasets/verify_lerobot.h"
#include "core/datasets/verify_space.h"
#include "core/datasets/verify_stats.h"
#include "core/formats/json_text.h"
#include "core/hdf5/hdf5.h"

#include "dataset_files.h"
#include "folders.h"

#include <ATen/ATen.h>

#include <fstream>
#include <sstream>

namespace td {
namespace {

using test::TempFolder;
using Lines = std::vector<std::string>;

std::string line_of(const DatasetProblem& one) {
  std::string line = one.file;
  if (one.episode >= 0)
    line += (line.empty() ? "episode " : ", episode ") + std::to_string(one.episode);
  if (one.row >= 0) line += ", row " + std::to_string(one.row);
  return line + (line.empty() ? "" : ": ") + one.text;
}

// Problems without the notes.
std::vector<std::string> problems_of(const std::string& path,
                                     std::vector<std::string>* notes = nullptr) {
  std::vector<std::string> lines;
  verify_dataset(path, [&](const DatasetProblem& one) {
    if (!one.is_note) lines.push_back(line_of(one));
    if (one.is_note && notes != nullptr) notes->push_back(line_of(one));
  });
  return lines;
}

// A copy of a file whose groups and attributes a test changes.
class Copy {
 public:
  Copy(const std::string& from, const std::string& to) : to_(to) {
    hdf5::Options options;
    const auto reader = hdf5::Reader::open(from, options);
    td = reader->read({});
    save_.attributes = reader->attributes();
    save_.marks = false;
  }
  void attributes(const std::string& json) { save_.attributes = read_json(json, "attributes"); }
  std::string attributes() const { return json_text(save_.attributes); }
  std::string write() const {
    hdf5::save(td, to_, save_);
    return to_;
  }
  void put(Path path, at::Tensor value) { td.set(path, std::move(value)); }

  TensorDict td;

 private:
  std::string to_;
  hdf5::SaveOptions save_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text.substr(0, 400);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(DatasetsVerify, NothingIsWrongWithWhatTheLibrariesWrote) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  for (const char* name : {"minari/cartpole", "minari/mixed", "minari/rawimage",
                           "minari/attributes", "robomimic/low_dim.hdf5", "robomimic/image.hdf5",
                           "robomimic/raw.hdf5", "d4rl/hop-medium-v2.hdf5", "d4rl/maze-v0.hdf5",
                           "d4rl/writer-v0.hdf5", "d4rl/chunks.hdf5"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(problems_of(path_of(name)), Lines{});
  }
}

TEST(DatasetsVerify, KindsByTheirLooks) {
  EXPECT_EQ(kind_of_dataset(path_of("minari/cartpole")), DatasetKind::minari);
  EXPECT_EQ(kind_of_dataset(path_of("lerobot/arm")), DatasetKind::lerobot);
  EXPECT_EQ(kind_of_dataset(std::string(TD_TEST_DATA) + "/golden/basic"), DatasetKind::detect);
  TempFolder folder;
  write_text(folder("text"), "nothing of the sort");
  EXPECT_EQ(kind_of_dataset(folder("text")), DatasetKind::detect);
  test::expect_error(Code::io, "missing", [&] { kind_of_dataset(folder("missing")); });
}

TEST(DatasetsVerify, RobomimicThatContradictsItself) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  TempFolder folder;
  const std::string from = path_of("robomimic/low_dim.hdf5");
  {
    Copy copy(from, folder("actions.hdf5"));
    at::Tensor actions = copy.td.get({"data", "demo_1", "actions"}).clone();
    actions[2][0] = 1.5;
    copy.put({"data", "demo_1", "actions"}, actions);
    EXPECT_EQ(problems_of(copy.write()),
              (Lines{"episode 1, row 2: the action is not between -1 and 1"}));
  }
  {
    Copy copy(from, folder("next.hdf5"));
    at::Tensor next = copy.td.get({"data", "demo_1", "next_obs", "object"}).clone();
    next[1][0] += 1;
    copy.put({"data", "demo_1", "next_obs", "object"}, next);
    EXPECT_EQ(problems_of(copy.write()),
              (Lines{"episode 1, row 1: \"next_obs\" is not what the next row of \"obs\" has"}));
  }
  {
    Copy copy(from, folder("attributes.hdf5"));
    std::string text = replaced(copy.attributes(), "\"num_samples\"", "\"samples\"");
    copy.attributes(replaced(text, "\"env_name\\\"", "\"name\\\""));
    const Lines found = problems_of(copy.write());
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0], "env_args has no \"env_name\"");
    EXPECT_EQ(found[1].substr(found[1].size() - 53),
              "has no attribute \"num_samples\", which robomimic needs");
    EXPECT_EQ(found[2].substr(0, 8), "\"total\" ");
  }
  {
    Copy copy(from, folder("keys.hdf5"));
    copy.td.remove({"data", "demo_2", "obs", "object"});
    EXPECT_EQ(
        problems_of(copy.write()),
        (Lines{"episode 2: \"observation\"/\"object\" is missing, and the episodes before have it",
               "episode 2: \"obs\" has no \"object\", which \"next_obs\" has"}));
  }
  {
    Copy copy(from, folder("deep.hdf5"));
    for (const char* demo : {"demo_0", "demo_1", "demo_2"}) {
      for (const char* group : {"obs", "next_obs"}) {
        at::Tensor object = copy.td.get({"data", demo, group, "object"}).clone();
        copy.td.remove({"data", demo, group, "object"});
        if (demo == std::string("demo_1") && group == std::string("next_obs")) object[1][0] += 1;
        copy.put({"data", demo, group, "seen", "object"}, object);
      }
    }
    copy.td.remove({"data", "demo_2", "next_obs", "seen"});
    Lines notes;
    EXPECT_EQ(problems_of(copy.write(), &notes),
              (Lines{"episode 1, row 1: \"next_obs\" is not what the next row of \"obs\" has",
                     "episode 2: \"next\"/\"observation\"/\"seen\"/\"object\" is missing, and the "
                     "episodes before have it",
                     "episode 2: \"next_obs\" has no \"seen/object\", which \"obs\" has"}));
    EXPECT_NE(std::find(notes.begin(), notes.end(),
                        "\"obs\" has \"seen/object\", which robomimic 0.3 reads as \"seen\": one "
                        "entry of a group at a time"),
              notes.end());
  }
}

TEST(DatasetsVerify, MetadataOfMinari) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  TempFolder folder;
  std::filesystem::copy(path_of("minari/cartpole"), folder("set"),
                        std::filesystem::copy_options::recursive);
  const std::string json = folder("set/data/metadata.json"), whole = text_in(json);
  std::vector<std::string> notes;
  EXPECT_EQ(problems_of(folder("set"), &notes), Lines{});
  EXPECT_EQ(notes,
            (Lines{"data/metadata.json: \"observation_space/low\" has -Infinity, which Python "
                   "writes and strict readers of JSON refuse",
                   "data/metadata.json: \"dataset_id\" is \"cartpole/random-v0\", and the "
                   "folder has another name: Minari does not list it"}));
  const struct {
    const char *from, *to, *problem;
  } cases[] = {
      {"\"total_steps\": 113", "\"total_steps\": 113.0",
       "data/metadata.json: \"total_steps\" is 113.0; it should be an integer"},
      {"\"minari_version\": \"0.5.4\"", "\"minari_version\": \"0.6.0\"",
       "data/metadata.json: \"minari_version\" is \"0.6.0\"; Minari opens 0.4.0 to 0.5.4"},
      {"\"total_steps\": 113", "\"total_steps\": 112",
       "\"data/metadata.json\": total_steps is 112, and the episodes have 113 steps"},
      {"\"total_episodes\": 5", "\"total_episodes\": 6",
       "\"data/metadata.json\": total_episodes is 6, and \"data/main_data.hdf5\" has 5 episodes"},
      {"\"author\": [\"C. Dee\", \"A. Bee\"]", "\"author\": \"A. Bee\"",
       "data/metadata.json: \"author\" is \"A. Bee\"; it should be a list"},
      {"\\\"n\\\": 2", "\\\"n\\\": 1", "data/main_data.hdf5, episode 0, row "},
      {"\\\"shape\\\": [4]", "\\\"shape\\\": [5]",
       "data/metadata.json: observation_space has a \"low\" that does not have its shape, [5]"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.to);
    write_text(json, replaced(whole, one.from, one.to));
    const std::vector<std::string> found = problems_of(folder("set"));
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].substr(0, std::string(one.problem).size()), one.problem);
  }
}

TEST(DatasetsVerify, SpacesOfUnsignedNumbersAndOfBool) {
  const auto found = [](const at::Tensor& values, const std::string& json) {
    std::vector<std::string> lines;
    const ProblemFn take = [&](const DatasetProblem& one) { lines.push_back(line_of(one)); };
    datasets::Problems problems("/set", take);
    TensorDict rows(Sizes{values.size(0)});
    rows.set({"observation"}, values);
    const Plain space = read_json(json, "space");
    datasets::check_form(problems, "file", space, "observation_space");
    datasets::check_space(problems, {"file"}, rows, {"observation"}, space, 0);
    return lines.size();
  };
  const auto box = [](const std::string& dtype) {
    return R"({"type": "Box", "dtype": ")" + dtype + R"(", "shape": [1], "low": [0], "high": [9]})";
  };
  const at::Tensor narrow = at::tensor({3, 9}, at::kInt).reshape({2, 1});
  EXPECT_EQ(found(narrow, box("uint16")), 0u);
  EXPECT_EQ(found(narrow.to(at::kLong), box("uint32")), 0u);
  EXPECT_EQ(found(narrow.to(at::kLong), box("uint64")), 0u);
  EXPECT_EQ(found(narrow, box("uint32")), 1u);
  EXPECT_EQ(found(narrow, box("int16")), 1u);
  const char* flags = R"({"type": "Box", "dtype": "bool", "shape": [2], "low": [false, false],
                          "high": [true, true]})";
  EXPECT_EQ(found(at::ones({3, 2}, at::kBool), flags), 0u);
}

TEST(DatasetsVerify, StatisticsAreThoseOfTheValues) {
  datasets::SeenStats seen, more;
  more.add("a", at::tensor({1.0, 2.0, 6.0}).reshape({3, 1}));
  seen.add("a", at::tensor({3.0, 8.0}).reshape({2, 1}));
  seen.add(more);
  seen.add("m", at::arange(12, at::kDouble).reshape({2, 2, 3}));
  const auto compared = [&](const std::string& json) {
    std::vector<std::string> lines;
    const ProblemFn take = [&](const DatasetProblem& one) { lines.push_back(line_of(one)); };
    datasets::Problems problems("/set", take);
    seen.compare(problems, {"meta/stats.json"}, read_json(json, "stats"));
    return lines;
  };
  EXPECT_EQ(
      compared(R"({"a": {"min": [1], "max": [8], "mean": [4], "std": [2.6076809], "count": [5]}})"),
      Lines{});
  EXPECT_EQ(
      compared(R"({"a": {"min": [1], "max": [8], "mean": [4], "std": [0], "count": [5]}})"),
      (Lines{"meta/stats.json: \"std\" of \"a\" is 0 in the statistics, and 2.60768 in the data"}));
  EXPECT_EQ(compared(R"({"a": {"min": [1], "max": [8], "mean": [4, 4], "std": [2.6076809]}})"),
            (Lines{"meta/stats.json: \"mean\" of \"a\" has 2 numbers, and a row of it 1",
                   "meta/stats.json: the statistics of \"a\" have no \"count\""}));
  EXPECT_EQ(compared(R"({"m": {"min": [0, 1, 2], "max": [9, 10, 11], "mean": [4.5, 5.5, 6.5],
                                 "std": [3.3541020, 3.3541020, 3.3541020], "count": [2]}})"),
            Lines{});
}

TEST(DatasetsVerify, PicturesThatStatisticsLookAt) {
  EXPECT_EQ(datasets::sampled_pictures(1), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(datasets::sampled_pictures(100).back(), 99);
  const struct {
    std::int64_t all;
    std::size_t chosen;
  } cases[] = {{99, 99}, {300, 100}, {10000, 1000}, {100000000, 10000}};
  for (const auto& one : cases) {
    const std::vector<std::int64_t> places = datasets::sampled_pictures(one.all);
    EXPECT_EQ(places.size(), one.chosen);
    EXPECT_EQ(places.front(), 0);
    EXPECT_EQ(places.back(), one.all - 1);
  }
}

TEST(DatasetsVerify, InfoOfLeRobot) {
  TempFolder folder;
  std::filesystem::copy(path_of("lerobot/arm"), folder("set"),
                        std::filesystem::copy_options::recursive);
  const std::string json = folder("set/meta/info.json"), whole = text_in(json);
  const auto found = [&] {
    std::vector<std::string> lines;
    const ProblemFn take = [&](const DatasetProblem& one) {
      if (!one.is_note) lines.push_back(line_of(one));
    };
    datasets::Problems problems(folder("set"), take);
    datasets::check_info(problems, datasets::SetFolder(folder("set")));
    return lines;
  };
  EXPECT_EQ(found(), Lines{});
  write_text(json, replaced(whole, "\"fps\": 10", "\"fps\": 0"));
  EXPECT_EQ(found(), (Lines{"meta/info.json: \"fps\" is 0; it should be a number above 0"}));
  write_text(json, replaced(whole, "\"frame_index\"", "\"frame\""));
  EXPECT_EQ(found(), (Lines{"meta/info.json: there is no feature \"frame_index\""}));
  write_text(json, replaced(whole, "\"total_frames\": 14", "\"total_frames\": \"14\""));
  EXPECT_EQ(found(),
            (Lines{"meta/info.json: \"total_frames\" is \"14\"; it should be an integer"}));
  write_text(json, "{");
  EXPECT_EQ(found().size(), 1U);
}

// Episodes of LeRobot as its tables would have them.
class Frames final : public datasets::Source {
 public:
  Frames() {
    kind = DatasetKind::lerobot;
    episodes = 3;
  }
  std::string where() const override { return "\"set\""; }
  std::vector<std::int64_t> lengths() const override { return {3, 3, 3}; }
  std::int64_t length(std::int64_t) const override { return 3; }
  TensorDict read(const std::vector<datasets::Steps>&) const override { return TensorDict(); }
  TensorDict metadata() const override {
    TensorDict about;
    about.set_non_tensor({"tasks"}, read_json(tasks, "tasks"));
    return about;
  }
  std::string tasks = R"(["push the cube", "lift the cube"])";
  TensorDict metadata(std::int64_t) const override {
    TensorDict about;
    about.set_non_tensor({"tasks"}, read_json(R"(["push the cube"])", "tasks"));
    about.set_non_tensor({"stats"},
                         read_json(R"({"action": {"min": [0, 0], "max": [2, 2], "mean": [1, 1],
                                                  "std": [0.8164966, 0.8164966], "count": [3]}})",
                                   "stats"));
    about.set_non_tensor({"data"}, read_json(R"({"chunk_index": 0, "file_index": 1})", "data"));
    return about;
  }
  static TensorDict rows(std::int64_t first) {
    TensorDict td(Sizes{3});
    const at::Tensor numbers = at::arange(3, at::kLong);
    td.set({"frame"}, numbers.unsqueeze(1));
    td.set({"timestamp"}, (numbers.to(at::kFloat) / 10).unsqueeze(1));
    td.set({"index"}, (numbers + first).unsqueeze(1));
    td.set({"action"}, numbers.to(at::kFloat).unsqueeze(1).expand({3, 2}).contiguous());
    td.set_non_tensor({"language_instruction"}, Plain::of_text("push the cube"));
    return td;
  }
};

TEST(DatasetsVerify, RowsOfLeRobot) {
  const Frames frames;
  const auto found = [&](std::int64_t first, const std::function<void(TensorDict&)>& change) {
    Lines lines;
    const ProblemFn take = [&](const DatasetProblem& one) {
      if (!one.is_note) lines.push_back(line_of(one));
    };
    datasets::Problems problems(path_of("lerobot/arm"), take);
    const auto checker = datasets::lerobot_checker(problems);
    try {
      checker->look();
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), Code::unsupported);  // a build without Arrow
    }
    checker->begin(frames);
    TensorDict rows = Frames::rows(first);
    change(rows);
    checker->episode(frames, 0, rows);
    return lines;
  };
  const std::string where = "data/chunk-000/file-001.parquet, episode 0";
  EXPECT_EQ(found(0, [](TensorDict&) {}), Lines{});
  EXPECT_EQ(
      found(4, [](TensorDict&) {}),
      (Lines{where +
             ", row 0: \"index\" is not the number of the row in the whole set; 2 rows more"}));
  EXPECT_EQ(found(0,
                  [](TensorDict& td) {
                    td.set({"timestamp"}, at::tensor({0.0F, 0.1F, 0.21F}));
                  }),
            (Lines{where + ", row 2: \"timestamp\" is not frame_index divided by fps"}));
  EXPECT_EQ(found(0,
                  [](TensorDict& td) {
                    td.set({"frame"}, at::tensor({0, 2, 1}));
                  }),
            (Lines{where + ", row 1: \"frame_index\" does not count from 0 on; 1 row more"}));
  EXPECT_EQ(
      found(0,
            [](TensorDict& td) {
              td.set({"action"}, at::ones({3, 2}));
            }),
      (Lines{where + ": \"min\" of \"action\" is 0 in the statistics, and 1 in the data",
             where + ": \"max\" of \"action\" is 2 in the statistics, and 1 in the data",
             where + ": \"std\" of \"action\" is 0.816497 in the statistics, and 0 in the data"}));
  EXPECT_EQ(found(0,
                  [](TensorDict& td) {
                    td.set_non_tensor({"language_instruction"}, Plain::of_text("lift"));
                  }),
            (Lines{where + ": its rows have the task \"lift\", which is not in its list of tasks",
                   where + ": its list of tasks has \"push the cube\", and no row of it"}));
}

TEST(DatasetsVerify, TotalsOfLeRobot) {
  Frames frames;
  frames.episodes = 2;
  frames.tasks = R"(["push the cube"])";
  Lines lines;
  const ProblemFn take = [&](const DatasetProblem& one) {
    if (!one.is_note) lines.push_back(line_of(one));
  };
  datasets::Problems problems(path_of("lerobot/arm"), take);
  const auto checker = datasets::lerobot_checker(problems);
  try {
    checker->look();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), Code::unsupported);
  }
  checker->begin(frames);
  EXPECT_EQ(lines,
            (Lines{"meta/info.json: \"total_tasks\" is 2, and there are 1 tasks",
                   "meta/info.json: the split \"train\" is \"0:3\", and there are 2 episodes"}));
}

TEST(DatasetsVerify, TablesWithoutAnEnd) {
  TempFolder folder;
  std::filesystem::copy(path_of("lerobot/arm"), folder("set"),
                        std::filesystem::copy_options::recursive);
  const std::string table = folder("set/data/chunk-000/file-000.parquet");
  std::filesystem::resize_file(table, std::filesystem::file_size(table) - 4);
  std::vector<std::string> lines;
  try {
    lines = problems_of(folder("set"));
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), Code::unsupported);  // a build without Arrow says so behind it
  }
  const ProblemFn take = [&](const DatasetProblem& one) { lines.push_back(line_of(one)); };
  datasets::Problems problems(folder("set"), take);
  try {
    const datasets::SetFolder opened(folder("set"));
    datasets::check_tables(problems, opened, opened.json("meta/info.json"));
  } catch (const Error&) {
  }
  EXPECT_NE(
      std::find(lines.begin(), lines.end(),
                "data/chunk-000/file-000.parquet: has no footer: the program that wrote it has "
                "ended before it closed the file, or it was cut"),
      lines.end());
}

TEST(DatasetsVerify, BagsThatWereCut) {
  TempFolder folder;
  const std::string from = std::string(TD_TEST_DATA) + "/bags/robot_plain.mcap";
  EXPECT_EQ(problems_of(from), Lines{});
  std::filesystem::copy(from, folder("cut.mcap"));
  std::filesystem::resize_file(folder("cut.mcap"), std::filesystem::file_size(from) - 200);
  EXPECT_EQ(problems_of(folder("cut.mcap")).size(), 1U);
}

}  // namespace
}  // namespace td
