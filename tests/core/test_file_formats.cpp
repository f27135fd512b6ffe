// The table of file formats, and that the core does what each of its rows says.
#include "trees.h"

#include "core/files/other_files.h"
#include "core/formats/dtypes.h"

#include <set>

namespace td {
namespace {

using test::expect_error;
using test::ramp;
using test::TempFolder;

TensorDict all_forms() {
  TensorDict td = test::dict({3});
  td.set({"a"}, ramp({3, 2}));
  td.set({"n", "b"}, ramp({3}, at::kLong));
  return td;
}

// Runs `body`; false if this build lacks the library that the format needs.
template <class Body>
bool can_run(const FormatRow& row, Body body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == Code::unsupported && !row.needs.empty()) << error.what();
    return false;
  }
}

TEST(FileFormats, EachRowFindsItself) {
  std::set<FileFormat> numbers;
  std::set<std::string_view> names;
  std::set<std::string> suffixes;
  for (const FormatRow& row : format_rows) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(numbers.insert(row.format).second);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_EQ(find_format(row.format), &row);
    EXPECT_EQ(find_format(row.name), &row);
    each_suffix(row, [&](std::string_view suffix) {
      EXPECT_TRUE(suffixes.insert(std::string(suffix)).second);
      EXPECT_EQ(format_of_name("folder.npz/name" + std::string(suffix)), row.format);
      EXPECT_EQ(format_of_name(suffix), FileFormat::detect) << "a hidden file without a suffix";
    });
    if (!row.magic.empty()) {
      EXPECT_EQ(format_of_content(row.magic), row.format);
    }
    EXPECT_FALSE(row.title.empty() || row.about.empty());
    EXPECT_EQ(row.loses.empty(), (row.can & can_save) == 0)
        << "only what is written loses something";
  }
  EXPECT_EQ(find_format("none"), nullptr);
  EXPECT_EQ(format_of_name("name"), FileFormat::detect);
  EXPECT_EQ(suffixes_of(can_save | one_tensor), ".pt, .pth, .ckpt, .npy");
}

TEST(FileFormats, ContentsThatNoFixedBytesTell) {
  EXPECT_EQ(format_of_content(std::string("\2\0\0\0\0\0\0\0{}", 10)), FileFormat::safetensors);
  EXPECT_EQ(format_of_content(std::string(512, '.') + "\x89HDF\r\n\x1a\n"), FileFormat::hdf5);
  EXPECT_EQ(format_of_content(std::string("values{}\2\0\0\0\0\0\0\0", 16)),
            FileFormat::consolidated);
  EXPECT_EQ(format_of_content("PK\3\4 and no directory"), FileFormat::npz);
  for (const char* text : {"", "P", "PK,name\n1,2\n", "\x93NUMP", "{\"a\": 1}", "hello, world"}) {
    EXPECT_EQ(format_of_content(text), FileFormat::detect) << text;
  }
  EXPECT_EQ(format_of_content(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{", 9)),
            FileFormat::detect);
}

TEST(FileFormats, SavesAndLoadsByTheNameAlone) {
  const TempFolder folder;
  const TensorDict td = all_forms();
  int saved = 0;
  for (const FormatRow& row : format_rows) {
    SCOPED_TRACE(row.name);
    each_suffix(row, [&](std::string_view suffix) {
      const std::string path = folder("x" + std::string(suffix));
      if (!is_file_call(row.format)) {
        expect_error(Code::unsupported, "functions of its own", [&] { save_file(td, path, {}); });
      } else if ((row.can & can_save) == 0) {
        expect_error(Code::unsupported, "written are .safetensors, .pt",
                     [&] { save_file(td, path, {}); });
      } else if (can_run(row, [&] { save_file(td, path, {}); })) {
        const TensorDict again = load_file(path, {});
        EXPECT_TRUE(at::equal(again.get({"a"}), td.get({"a"})));
        EXPECT_TRUE(at::equal(again.get({"n", "b"}), td.get({"n", "b"})));
        if ((row.can & has_batch) != 0) {
          EXPECT_EQ(again.batch_size(), SizesView({3}));
        }
        EXPECT_EQ(format_of_content(test::read_file(path)), row.format);
        ++saved;
      }
    });
  }
  EXPECT_GE(saved, 3);
  expect_error(Code::invalid_argument,
               "it ends with none of .safetensors, .pt, .pth, .ckpt, .npz, .npy",
               [&] { save_file(td, folder("x.other"), {}); });
}

TEST(FileFormats, OneTensorByTheNameAlone) {
  const TempFolder folder;
  const at::Tensor tensor = ramp({2, 3});
  for (const FormatRow& row : format_rows) {
    each_suffix(row, [&](std::string_view suffix) {
      const std::string path = folder("t" + std::string(suffix));
      if (is_file_call(row.format) && (~row.can & (can_save | one_tensor)) == 0) {
        save_tensor(tensor, path, {});
        EXPECT_TRUE(at::equal(load_tensor(path, {}), tensor)) << row.name;
      } else {
        EXPECT_THROW(save_tensor(tensor, path, {}), Error) << row.name;
      }
    });
  }
}

TEST(FileFormats, ForeignParsersNeedANameThatAgrees) {
  const TempFolder folder;
  for (const FormatRow& row : format_rows) {
    if (row.rule == NameRule::anything) continue;
    FileOptions options;
    options.format = row.format;
    const std::string wrong = folder("x.npz"), none = folder("x");
    if (!can_run(row, [&] { save_file(all_forms(), wrong, options); })) continue;
    expect_error(Code::format, "by its content, not by its name", [&] { load_file(wrong, {}); });
    save_file(all_forms(), none, options);
    if (row.rule == NameRule::no_other) {
      load_file(none, {});
    } else {
      expect_error(Code::format, "by its content, not by its name", [&] { load_file(none, {}); });
    }
    load_file(wrong, options);
  }
}

TEST(DTypes, EachRowFindsItselfByEveryName) {
  for (const DTypeRow& row : dtype_rows) {
    EXPECT_EQ(find_dtype(row.dtype), &row);
    for (const auto column : {&DTypeRow::torch, &DTypeRow::numpy, &DTypeRow::safetensors,
                              &DTypeRow::arrow, &DTypeRow::storage}) {
      if (!(row.*column).empty()) {
        EXPECT_EQ(find_dtype(column, row.*column), &row);
      }
    }
  }
  EXPECT_EQ(find_dtype(&DTypeRow::storage, ""), nullptr);
  EXPECT_EQ(find_dtype(NumberKind::natural, 4)->dtype, DType::uint32);
  EXPECT_EQ(find_dtype(NumberKind::real, 2)->dtype, DType::float16);
  EXPECT_EQ(find_dtype(NumberKind::whole, 16), nullptr);
}

}  // namespace
}  // namespace td
