// Recording without tensors. The program is linked with the rooms below libtorch only.
#include "core/record/recorder.h"
#include "core/record/resize.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace td::record {
namespace {

class Record : public ::testing::Test {
 protected:
  Record() {
    std::string name = (std::filesystem::temp_directory_path() / "td_record_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~Record() override { std::filesystem::remove_all(root_); }

  std::string here(const std::string& name) const { return root_ + "/" + name; }

 private:
  std::string root_;
};

const std::vector<FieldForm> fields = {{{"agent", "position"}, DType::float64, {2, 1}},
                                       {{"step"}, DType::int64, {}}};

Options by_call() {
  Options options;
  options.background = false;
  options.publish_rows = -1;
  options.buffer_bytes = 64;
  return options;
}

void write(Recorder& recorder, std::int64_t first, std::int64_t count) {
  const std::string_view position[] = {"agent", "position"};
  const std::string_view step[] = {"step"};
  const std::int32_t a = recorder.field(position, Shape{2, 1}, DType::float64);
  const std::int32_t b = recorder.field(step, {}, DType::int64);
  for (std::int64_t row = first; row < first + count; ++row) {
    const double values[2] = {static_cast<double>(row), -static_cast<double>(row)};
    recorder.put(a, values, sizeof values);
    recorder.put(b, &row, sizeof row);
    recorder.next();
  }
}

Length length(const std::string& dir) { return length_of(Layout::glance(dir)); }

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_steps(const std::string& dir, std::int64_t count) {
  const std::string bytes = content(dir + "/step.memmap");
  ASSERT_EQ(bytes.size(), static_cast<std::size_t>(count) * 8);
  for (std::int64_t row = 0; row < count; ++row) {
    std::int64_t found = -1;
    std::memcpy(&found, bytes.data() + row * 8, 8);
    ASSERT_EQ(found, row);
  }
}

TEST_F(Record, MakesTheFolderThatPythonLoads) {
  const auto recorder = Recorder::open(here("m"), fields);
  write(*recorder, 0, 3);
  recorder->close();
  EXPECT_EQ(
      content(here("m/meta.json")),
      R"({"agent":{"type":"TensorDict"},"step":{"device":"cpu","shape":[3],"dtype":"torch.int64",)"
      R"("is_nested":false},"shape":[3],"device":"None","_type":"<class 'tensordict._td.TensorDict'>"})");
  EXPECT_EQ(
      content(here("m/agent/meta.json")),
      R"({"position":{"device":"cpu","shape":[3,2,1],"dtype":"torch.float64","is_nested":false},)"
      R"("shape":[3],"device":"None","_type":"<class 'tensordict._td.TensorDict'>"})");
  EXPECT_EQ(std::filesystem::file_size(here("m/agent/position.memmap")), 48U);
  EXPECT_FALSE(std::filesystem::exists(here("m/.%rows")));
  expect_steps(here("m"), 3);
}

TEST_F(Record, GoesOnBehindTheRows) {
  for (std::int64_t first = 0; first < 50; first += 10) {
    const auto recorder = Recorder::open(here("m"), first < 30 ? fields : std::vector<FieldForm>());
    write(*recorder, first, 10);
    EXPECT_EQ(recorder->rows(), 10);
    recorder->flush();
    EXPECT_EQ(length(here("m")).rows, first + 10);
  }
  expect_steps(here("m"), 50);
}

TEST_F(Record, PublishesWithoutACall) {
  const auto recorder = Recorder::open(here("m"), fields);
  write(*recorder, 0, 5);
  for (int i = 0; i < 30000 && length(here("m")).rows < 5; ++i) ::usleep(1000);
  EXPECT_EQ(length(here("m")).rows, 5);
  write(*recorder, 5, 5);
  for (int i = 0; i < 30000 && length(here("m")).rows < 10; ++i) ::usleep(1000);
  EXPECT_EQ(length(here("m")).rows, 10);
}

TEST_F(Record, ResumesAfterWhatAKilledProcessLeft) {
  const ::pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto recorder = Recorder::open(here("m"), fields, by_call());
    write(*recorder, 0, 4);
    recorder->flush();
    write(*recorder, 4, 9);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const Length left = length(here("m"));
  EXPECT_EQ(left.rows, 4);
  EXPECT_GE(left.stored, 10);
  std::filesystem::copy(here("m"), here("c"), std::filesystem::copy_options::recursive);
  const auto recorder = Recorder::open(here("m"), fields, by_call());
  EXPECT_EQ(length(here("m")).rows, left.stored);
  write(*recorder, left.stored, 2);
  recorder->close();
  expect_steps(here("m"), left.stored + 2);

  files::FolderLock lock(here("c"));
  Layout folder(here("c"), lock);
  EXPECT_THROW(truncate(folder, lock, left.stored + 1, {}), Error);
  truncate(folder, lock, left.stored - 1, {});
  expect_steps(here("c"), left.stored - 1);
}

// A longer list would be written into a meta.json that nobody reads.
TEST_F(Record, AListOfTextsEndsBeforeTheLargestMeta) {
  Recorder::open(here("m"), fields)->close();
  files::FolderLock lock(here("m"));
  Layout folder(here("m"), lock);
  std::string list(format::max_meta_bytes - 5000, ' ');
  list.front() = '[';
  list.back() = ']';
  folder.set_non_tensor(0, format::NodeType::non_tensor_stack, std::move(list));
  folder.add_listed(0, "[\"fits\"]", 7);
  const std::size_t bytes = folder.nodes()[0].text.data.size();
  try {
    folder.add_listed(0, "[\"" + std::string(1000, 'x') + "\"]", 8);
    ADD_FAILURE() << "added";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::capacity) << error.what();
  }
  EXPECT_EQ(folder.nodes()[0].text.data.size(), bytes);
  EXPECT_EQ(folder.nodes()[0].listed, 7);
}

TEST_F(Record, SaysWhatDoesNotFit) {
  const auto fails = [](const std::vector<FieldForm>& wrong, const std::string& dir, Code code) {
    try {
      Recorder::open(dir, wrong);
      ADD_FAILURE() << "opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
    }
  };
  fails({}, here("none"), Code::io);
  fails({{{"a"}, DType::int8, {}}, {{"a"}, DType::int8, {}}}, here("m"), Code::key_exists);
  fails({{{"a"}, DType::int8, {}}, {{"a", "b"}, DType::int8, {}}}, here("m"), Code::key_exists);
  fails({{{"a", "b"}, DType::int8, {}}, {{"a"}, DType::int8, {}}}, here("m"), Code::key_exists);
  fails({{{}, DType::int8, {}}}, here("m"), Code::key_invalid);
  fails({{{"a"}, DType::other, {}}}, here("m"), Code::dtype);
  EXPECT_FALSE(std::filesystem::exists(here("m")));
  Recorder::open(here("m"), fields)->close();
  std::vector<FieldForm> other = fields;
  other[1].dtype = DType::int32;
  fails(other, here("m"), Code::dtype);
  other[1] = {{"step"}, DType::int64, {1}};
  fails(other, here("m"), Code::shape);
  other.pop_back();
  fails(other, here("m"), Code::key_not_found);
  const auto writer = Recorder::open(here("m"), fields);
  fails(fields, here("m"), Code::busy);
}

}  // namespace
}  // namespace td::record
