// Saving to folders and mapping them: bytes, flags, what is shared, what failing leaves.
#include "core/keys/entries.h"
#include "core/memmap/memmap.h"

#include "core/io/mappings.h"
#include "core/tensor/mapped_tensor.h"

#include "folders.h"

#include <ATen/ATen.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

namespace td {
namespace {

using test::dict;
using test::expect_error;
using test::golden;
using test::read_file;
using test::TempFolder;
using test::tree;
using test::write_file;

class P {  // P("a", "b"): a path
 public:
  template <class... Names>
  explicit P(Names... names) : names_{std::string_view(names)...} {}
  operator Path() const { return names_; }

 private:
  std::vector<std::string_view> names_;
};

MemmapOptions copying() {
  MemmapOptions options;
  options.copy_existing = true;
  return options;
}

TensorDict saved_sample() {
  TensorDict td = dict({4});
  td.set(P("a"), at::arange(12, at::kFloat).view({4, 3}));
  td.set(P("n", "b"), at::arange(4, at::kLong));
  td.set(P("n", "deep", "c"), at::ones({4, 2}, at::kBool));
  return td;
}

ino_t inode(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_ino;
}

const char* const dense[] = {
    "basic", "batchless",           "dtypes",     "empties",  "keys", "dataset", "digits",
    "views", "longer_nested_batch", "zero_batch", "nontensor"};

// ---- Reading what Python has written -----------------------------------------------------------

TEST(Golden, Basic) {
  const TensorDict td = load_memmap(golden("basic"));
  EXPECT_EQ(td.batch_size(), SizesView({4}));
  EXPECT_EQ(td.device(), c10::Device(at::kCPU));
  EXPECT_FALSE(td.is_locked());
  EXPECT_FALSE(td.is_memmap());
  EXPECT_EQ(td.saved_path(), golden("basic"));
  EXPECT_EQ(td.get_dict(P("b", "d")).saved_path(), golden("basic/b/d"));
  const at::Tensor a = td.get(P("a"));
  EXPECT_EQ(a.sizes(), SizesView({4, 3}));
  EXPECT_EQ(a.scalar_type(), at::kFloat);
  EXPECT_EQ(a[0][0].item<double>(), 1.5409960746765137);
  EXPECT_EQ(a[2][1].item<double>(), 0.8380263447761536);
  EXPECT_TRUE(td.get(P("b", "c")).equal(at::tensor({12824, 7841, 17269, 20969}, at::kLong)));
  EXPECT_EQ(td.get(P("b", "d", "e"))[1][0][1].item<double>(), 0.03159274160861969);
  std::vector<std::string> keys;
  for (const auto& key : list_keys(td, {true, false, false}).keys) keys.push_back(key.path.back());
  EXPECT_EQ(keys, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
}

TEST(Golden, DTypesAndKeys) {
  const TensorDict dtypes = load_memmap(golden("dtypes"));
  EXPECT_EQ(dtypes.get(P("int8"))[0][0].item<int>(), 68);
  EXPECT_EQ(dtypes.get(P("float16"))[0][1].item<double>(), 0.037109375);
  EXPECT_EQ(dtypes.get(P("bfloat16"))[1][2].item<double>(), 0.05712890625);
  EXPECT_EQ(dtypes.get(P("complex128"))[0][1].item<c10::complex<double>>(),
            c10::complex<double>(-0.4727587961213711, -1.1940935321955146));
  EXPECT_EQ(dtypes.get(P("bool"))[1][1].item<bool>(), false);
  const TensorDict keys = load_memmap(golden("keys"));
  EXPECT_EQ(keys.get(P(".."))[0].item<double>(), 1.1634197235107422);
  EXPECT_EQ(keys.get(P(""))[0].item<double>(), -0.2973494231700897);
  EXPECT_EQ(keys.get(P("node", "..", "z"))[1].item<double>(), 0.5342442989349365);
  EXPECT_EQ(keys.get(P("node", "x/y"))[0].item<double>(), -0.7128822803497314);
}

TEST(Golden, EmptyAndNested) {
  const TensorDict td = load_memmap(golden("empties"));
  EXPECT_EQ(td.get(P("zero")).sizes(), SizesView({4, 0, 3}));
  EXPECT_TRUE(td.get_dict(P("deep", "none")).is_empty());
  EXPECT_EQ(load_memmap(golden("batchless")).get(P("n", "i")).item<int>(), -2);
  const TensorDict longer = load_memmap(golden("longer_nested_batch"));
  EXPECT_EQ(longer.batch_size(), SizesView({3}));
  EXPECT_EQ(longer.get_dict(P("n")).batch_size(), SizesView({3, 4}));
  EXPECT_EQ(load_memmap(golden("longer_nested_batch/n")).batch_size(), SizesView({3, 4}));
  const TensorDict digits = load_memmap(golden("digits"));
  EXPECT_EQ(digits.get_non_tensor(P("source")), "\"UCI optical digits\"");
  EXPECT_EQ(digits.batch_size(), SizesView({1797}));
}

TEST(Golden, SavesTheSameBytes) {
  for (const char* name : dense) {
    SCOPED_TRACE(name);
    const TempFolder folder;
    const TensorDict td = load_memmap(golden(name));
    memmap(td, folder("m"), copying());
    EXPECT_EQ(tree(folder("m")), tree(golden(name)));
    TensorDict clone = td.clone();
    memmap_inplace(clone, folder("c"));
    EXPECT_EQ(tree(folder("c")), tree(golden(name)));
    EXPECT_TRUE(clone.equal(load_memmap(folder("c"))));
  }
}

TEST(Golden, SaysWhatItCannotRead) {
#if !TD_TORCH_HAS_WIDE_UNSIGNED
  expect_error(Code::dtype, "\"uint16\": torch.uint16 needs libtorch 2.3",
               [] { load_memmap(golden("wide_unsigned")); });
#else
  EXPECT_EQ(load_memmap(golden("wide_unsigned")).get(P("uint64"))[1].item<std::int64_t>(), 9063);
#endif
  expect_error(Code::unsupported, "a value, not a dictionary",
               [] { load_memmap(golden("nontensor/str")); });
}

// ---- Saving ------------------------------------------------------------------------------------

TEST(Memmap, ResultIsMappedAndLocked) {
  const TempFolder folder;
  const TensorDict td = saved_sample();
  const TensorDict mapped = memmap(td, folder("x/y/z") + "//./");
  for (const TensorDict& node :
       {mapped, mapped.get_dict(P("n")), mapped.get_dict(P("n", "deep"))}) {
    EXPECT_TRUE(node.is_locked());
    EXPECT_TRUE(node.is_memmap());
    EXPECT_EQ(node.device(), c10::Device(at::kCPU));
  }
  EXPECT_EQ(mapped.saved_path(), folder("x/y/z"));
  EXPECT_EQ(mapped.get_dict(P("n", "deep")).saved_path(), folder("x/y/z/n/deep"));
  const MappedFile* file = mapping_of(mapped.get(P("n", "b")));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->path(), folder("x/y/z/n/b.memmap"));
  EXPECT_EQ(mapping_of(mapped.get(P("n", "b")).slice(0, 1, 3)), file);  // a view knows it too
  EXPECT_EQ(mapping_of(mapped.get(P("n", "b")).clone()), nullptr);
  EXPECT_TRUE(mapped.equal(td));
  EXPECT_FALSE(td.is_locked());
  EXPECT_FALSE(td.is_memmap());
  EXPECT_EQ(td.device(), std::nullopt);
  EXPECT_EQ(td.saved_path(), "");
  memmap_flush(mapped);
  memmap_flush(td);
}

TEST(Memmap, RelativeFolder) {
  const TempFolder folder;
  const test::fs::path before = test::fs::current_path();
  test::fs::current_path(folder.path());
  const TensorDict mapped = memmap(saved_sample(), "here");
  const std::string where = test::fs::current_path().string();
  test::fs::current_path(before);
  EXPECT_EQ(mapped.saved_path(), where + "/here");
  EXPECT_TRUE(load_memmap(folder("here")).equal(mapped));
}

TEST(Memmap, SavedWhereItIsAlreadyIsLeftAlone) {
  const TempFolder folder;
  TensorDict td = saved_sample();
  memmap_inplace(td, folder("m"));
  const ino_t before = inode(folder("m/n/b.memmap"));
  const void* data = td.get(P("n", "b")).data_ptr();
  memmap_inplace(td, folder("m"));
  memmap_inplace(td, "");  // its own folder
  EXPECT_EQ(inode(folder("m/n/b.memmap")), before);
  EXPECT_EQ(td.get(P("n", "b")).data_ptr(), data);
  // By another name the folder is the same one.
  test::fs::create_directory_symlink(folder("m"), folder("link"));
  memmap_inplace(td, folder("link"));
  EXPECT_EQ(inode(folder("m/n/b.memmap")), before);
  TensorDict loaded = load_memmap(folder("m"));
  memmap_inplace(loaded, "");
  EXPECT_TRUE(loaded.is_memmap());
  EXPECT_EQ(inode(folder("m/n/b.memmap")), before);
}

TEST(Memmap, MappedElsewhereIsCopiedOnRequest) {
  const TempFolder folder;
  TensorDict td = memmap(saved_sample(), folder("one"));
  expect_error(Code::invalid_argument, "copy_existing", [&] { memmap(td, folder("two")); });
  expect_error(Code::invalid_argument, "copy_existing", [&] { memmap_inplace(td, folder("two")); });
  EXPECT_FALSE(test::fs::exists(folder("two")));
  EXPECT_EQ(td.saved_path(), folder("one"));
  memmap(td, folder("two"), copying());
  EXPECT_EQ(tree(folder("two")), tree(folder("one")));
  // Another file has taken the place of the one that is mapped.
  memmap(saved_sample(), folder("one"));
  expect_error(Code::invalid_argument, "copy_existing", [&] { memmap(td, folder("one")); });
  memmap_like(td, folder("zeros"));  // values do not matter
}

TEST(Memmap, PartOfAFileSavedOverIt) {
  const TempFolder folder;
  const TensorDict td = memmap(saved_sample(), folder("m"));
  TensorDict tail = dict({2});
  tail.set(P("a"), td.get(P("a")).slice(0, 2));
  memmap(tail, folder("m"));
  EXPECT_EQ(test::fs::file_size(folder("m/a.memmap")), 24U);  // no old bytes behind the new ones
  EXPECT_TRUE(
      load_memmap(folder("m")).get(P("a")).equal(at::arange(6, 12, at::kFloat).view({2, 3})));
  EXPECT_TRUE(td.equal(saved_sample()));  // the old file lives as long as its mapping
}

TEST(Memmap, LongerFileIsReplaced) {
  const TempFolder folder;
  TensorDict td = memmap(saved_sample(), folder("m"));
  test::fs::resize_file(folder("m/a.memmap"), 1000);
  TensorDict loaded = load_memmap(folder("m"));
  EXPECT_TRUE(loaded.equal(td));
  memmap_inplace(loaded, "");
  EXPECT_EQ(test::fs::file_size(folder("m/a.memmap")), 48U);
  EXPECT_TRUE(loaded.equal(saved_sample()));
}

TEST(Memmap, ElementsThatHaveGone) {
  const TempFolder folder;
  memmap(saved_sample(), folder("m"));
  TensorDict td = dict({0});
  td.set(P("a"), at::zeros({0, 3}));
  const TensorDict mapped = memmap(td, folder("m"));
  EXPECT_FALSE(test::fs::exists(folder("m/a.memmap")));
  EXPECT_EQ(mapped.get(P("a")).sizes(), SizesView({0, 3}));
  EXPECT_EQ(load_memmap(folder("m")).get(P("a")).sizes(), SizesView({0, 3}));
}

TEST(Memmap, WritesLogicalOrder) {
  const TempFolder folder;
  TensorDict td = dict({2});
  td.set(P("t"), at::arange(6, at::kInt).view({3, 2}).t());
  td.set(P("e"), at::full({1, 2}, 7, at::kInt).expand({2, 2}));
  td.set(P("s"), at::arange(6, at::kInt).slice(0, 1, 5, 2));
  td.set(P("g"), at::ones({2}).requires_grad_());
  td.set(P("c"), at::full({2}, c10::complex<float>(1, 2), at::kComplexFloat).conj());
  const TensorDict mapped = memmap(td, folder("m"));
  EXPECT_TRUE(mapped.get(P("t")).equal(at::tensor({0, 2, 4, 1, 3, 5}, at::kInt).view({2, 3})));
  EXPECT_TRUE(mapped.get(P("t")).is_contiguous());
  EXPECT_TRUE(mapped.get(P("e")).equal(at::full({2, 2}, 7, at::kInt)));
  EXPECT_TRUE(mapped.get(P("s")).equal(at::tensor({1, 3}, at::kInt)));
  EXPECT_FALSE(mapped.get(P("g")).requires_grad());
  EXPECT_EQ(mapped.get(P("c"))[0].item<c10::complex<float>>(), c10::complex<float>(1, -2));
  EXPECT_FALSE(mapped.get(P("c")).is_conj());
}

TEST(Memmap, LikeTakesSizesAlone) {
  const TempFolder folder;
  TensorDict one = dict({});
  one.set(P("x"), at::ones({128, 128}, at::kByte));
  one.set(P("m"), at::empty({2}, at::TensorOptions(at::kFloat).device(at::kMeta)));
  one.set_non_tensor(P("note"), "{ \"k\" : 1 }");
  const TensorDict mapped = memmap_like(one.expand({10000}), folder("m"));
  EXPECT_EQ(test::fs::file_size(folder("m/x.memmap")), 163840000U);
  EXPECT_EQ(mapped.get(P("x"))[9999].sum().item<int>(), 0);
  EXPECT_EQ(mapped.get(P("m")).device(), c10::Device(at::kCPU));
  EXPECT_EQ(mapped.get_non_tensor(P("note")), "{\"k\":1}");
  mapped.get(P("x"))[9999].fill_(3);
  const TensorDict loaded = load_memmap(folder("m"));
  EXPECT_EQ(loaded.get(P("x"))[9999][127][127].item<int>(), 3);
  EXPECT_EQ(loaded.get_non_tensor(P("note")), "{\"k\":1}");
}

TEST(Memmap, WithoutAFolder) {
  TensorDict td = saved_sample();
  const TensorDict mapped = memmap(td, "");
  EXPECT_TRUE(mapped.is_memmap());
  EXPECT_TRUE(mapped.is_locked());
  EXPECT_EQ(mapped.saved_path(), "");
  EXPECT_TRUE(mapped.equal(td));
  EXPECT_EQ(memmap(mapped, "").get(P("a")).data_ptr(), mapped.get(P("a")).data_ptr());
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<float*>(mapped.get(P("a")).data_ptr())[11] = 99;
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(mapped.get(P("a"))[3][2].item<float>(), 99);  // shared with children
  memmap_inplace(td, "");
  EXPECT_TRUE(td.get_dict(P("n", "deep")).is_memmap());
  EXPECT_TRUE(td.equal(saved_sample()));
}

TEST(Memmap, SeveralThreads) {
  const TempFolder folder;
  TensorDict td = dict({3});
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i);
    td.set(P("n", name), at::full({2, 3}, i, at::kShort).t());
  }
  MemmapOptions options;
  options.num_threads = 4;
  memmap(td, folder("four"), options);
  memmap(td, folder("one"));
  EXPECT_EQ(tree(folder("four")), tree(folder("one")));
  options.num_threads = -1;
  expect_error(Code::invalid_argument, "-1", [&] { memmap(td, folder("no"), options); });
}

TEST(Memmap, OneDictionaryInTwoPlaces) {
  const TempFolder folder;
  TensorDict shared = dict({2});
  TensorDict td = dict({2});
  shared.set(P("x"), at::ones({2}));
  td.set(P("a"), shared);
  td.set(P("b"), shared);
  memmap_inplace(td, folder("m"));
  EXPECT_EQ(tree(folder("m/a")), tree(folder("m/b")));
  EXPECT_TRUE(td.get_dict(P("a")).is_same(td.get_dict(P("b"))));
}

TEST(Memmap, TreeOfAnyDepth) {
  const TempFolder folder;
  TensorDict td = dict({1});
  td.set(P("x"), at::ones({1}));
  for (int i = 0; i < 10000; ++i) {
    TensorDict above = dict({1});
    above.set(P("n"), td);
    td = above;
  }
  EXPECT_TRUE(memmap(td, "").equal(td));
  expect_error(Code::key_invalid, "levels deep", [&] { memmap(td, folder("m")); });
  EXPECT_TRUE(tree(folder.path()).empty());
}

// ---- What cannot be saved ----------------------------------------------------------------------

void refuse(Path path, Code code, const std::string& why, const MemmapOptions& options = {}) {
  SCOPED_TRACE(show_path(path));
  const TempFolder folder;
  TensorDict td = dict({1});
  td.set(P("first"), at::ones({1}));
  td.set(path, at::ones({1}));
  expect_error(code, why, [&] { memmap(td, folder("m"), options); });
  expect_error(code, why, [&] { memmap_inplace(td, folder("m"), options); });
  EXPECT_TRUE(tree(folder.path()).empty());
  EXPECT_FALSE(td.is_locked());
  EXPECT_FALSE(td.is_memmap());
  EXPECT_EQ(mapping_of(td.get(P("first"))), nullptr);
}

TEST(MemmapRefuses, Names) {
  for (const char* name : {"shape", "device", "_type"}) {
    refuse(P(name), Code::key_invalid, "reserves this name");
    refuse(P("n", name), Code::key_invalid, "reserves this name");
    refuse(P(name, "x"), Code::key_invalid, "reserves this name");
  }
  refuse(P("meta.json", "x"), Code::key_invalid, "reserves this name");
  refuse(P("first.memmap", "x"), Code::key_invalid, "a tensor in the same folder");
  const std::string longest(248, 'x');
  const std::string longer = longest + "x";
  refuse(P(longer), Code::key_invalid, "too long");
  const TempFolder folder;
  TensorDict td = dict({1});
  td.set(P(longest), at::ones({1}));
  td.set(P("meta.json"), at::ones({1}));
  memmap(td, folder("m"));
  EXPECT_TRUE(load_memmap(folder("m")).equal(td));
}

TEST(MemmapRefuses, VerbatimNamesThatLeadElsewhere) {
  MemmapOptions options;
  options.verbatim_names = true;
  for (const char* name : {"../out", "a/b", "/etc"}) {
    refuse(P(name), Code::key_invalid, "leave the folder", options);
  }
  for (const char* name : {"..", ".", ""}) {
    refuse(P(name, "x"), Code::key_invalid, "leave the folder", options);
  }
}

TEST(MemmapRefuses, Tensors) {
  const auto refuse_leaf = [](const at::Tensor& leaf, Code code, const char* why) {
    const TempFolder folder;
    TensorDict td = dict({});
    td.set(P("x"), leaf);
    expect_error(code, why, [&] { memmap(td, folder("m")); });
    EXPECT_TRUE(tree(folder.path()).empty());
  };
  refuse_leaf(at::ones({2}, at::kMeta), Code::device, "on meta");
  refuse_leaf(at::quantize_per_tensor(at::ones({2}), 0.1, 0, at::kQInt8), Code::dtype,
              "torch.qint8");
  refuse_leaf(at::ones({2}).to_sparse(), Code::unsupported, "not a dense tensor");
}

TEST(MemmapRefuses, WhatIsInTheWay) {
  const TempFolder folder;
  const auto refuse_place = [&](const std::string& why, const MemmapOptions& options = {}) {
    const auto before = tree(folder.path());
    expect_error(Code::io, why, [&] { memmap(saved_sample(), folder("m"), options); });
    EXPECT_EQ(tree(folder.path()), before);
  };
  test::fs::create_directories(folder("m/a.memmap"));
  refuse_place("is not a file");
  test::fs::remove(folder("m/a.memmap"));
  write_file(folder("m/n"), "x");
  refuse_place("is not a folder");
  test::fs::remove(folder("m/n"));
  write_file(folder("precious"), "precious");
  test::fs::create_symlink(folder("precious"), folder("m/a.memmap"));
  refuse_place("symbolic link");
  test::fs::remove(folder("m/a.memmap"));
  test::fs::create_directory(folder("elsewhere"));
  test::fs::create_directory_symlink(folder("elsewhere"), folder("m/n"));
  refuse_place("symbolic link");
  test::fs::remove(folder("m/n"));
  MemmapOptions options;
  options.fail_if_exists = true;
  write_file(folder("m/a.memmap"), "older");
  refuse_place("already exists", options);
  memmap(saved_sample(), folder("m"));
  expect_error(Code::io, "precious", [&] { memmap(saved_sample(), folder("precious")); });
}

// A meta.json without entries lets a loader look for folders.
TEST(MemmapRefuses, EmptyDictionaryOverAFolderOfSomebodyElse) {
  const TempFolder folder;
  memmap(saved_sample(), folder("m"));
  memmap(dict({4}), folder("m"));
  EXPECT_TRUE(load_memmap(folder("m")).is_empty());
  memmap(saved_sample(), folder("m/own"));
  expect_error(Code::io, "without entries", [&] { memmap(dict({4}), folder("m")); });
  EXPECT_TRUE(load_memmap(folder("m/own")).equal(saved_sample()));
  memmap(saved_sample(), folder("m/n"));
  memmap(dict({4}), folder("m/n/deep"));  // no folder in there
  EXPECT_TRUE(load_memmap(folder("m/n/deep")).is_empty());
}

TEST(MemmapFails, LeavingWhatWasThere) {
  const TempFolder folder;
  memmap(saved_sample(), folder("m"));
  const auto before = tree(folder.path());
  TensorDict td = dict({4});
  td.set(P("a"), at::zeros({4, 3}));
  td.set(P("new", "b"), at::zeros({4}));
  td.set(P("big"), at::zeros({4, 100000}));
  struct rlimit old {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  struct rlimit small = old;
  small.rlim_cur = 1 << 16;
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  for (const int threads : {0, 3}) {
    MemmapOptions options;
    options.num_threads = threads;
    expect_error(Code::io, "big.memmap", [&] { memmap(td, folder("m"), options); });
    expect_error(Code::io, "big.memmap", [&] { memmap_inplace(td, folder("m"), options); });
    expect_error(Code::io, "big.memmap", [&] { memmap_like(td, folder("m"), options); });
    expect_error(Code::io, "big.memmap", [&] { memmap(td, folder("x/y"), options); });
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(tree(folder.path()), before);
  EXPECT_FALSE(td.is_locked());
}

// ---- Loading -----------------------------------------------------------------------------------

TEST(Load, SharedAndPrivate) {
  const TempFolder folder;
  const TensorDict mapped = memmap(saved_sample(), folder("m"));
  const TensorDict shared = load_memmap(folder("m"));
  LoadOptions options;
  options.private_mapping = true;
  const TensorDict own = load_memmap(folder("m"), options);
  shared.get(P("n", "b"))[0] = 77;
  own.get(P("n", "b"))[1] = 88;
  EXPECT_EQ(mapped.get(P("n", "b"))[0].item<int>(), 77);
  EXPECT_EQ(mapped.get(P("n", "b"))[1].item<int>(), 1);
  EXPECT_EQ(own.get(P("n", "b"))[1].item<int>(), 88);
  memmap_flush(shared);
}

TEST(Load, OnMetaOpensNothing) {
  const TempFolder folder;
  memmap(saved_sample(), folder("m"));
  test::fs::permissions(folder("m/a.memmap"), test::fs::perms::none);
  LoadOptions options;
  options.device = c10::Device(at::kMeta);
  const TensorDict td = load_memmap(folder("m"), options);
  EXPECT_EQ(td.device(), c10::Device(at::kMeta));
  EXPECT_EQ(td.get_dict(P("n")).device(), c10::Device(at::kMeta));
  EXPECT_EQ(td.get(P("a")).device(), c10::Device(at::kMeta));
  EXPECT_EQ(td.get(P("a")).sizes(), SizesView({4, 3}));
  EXPECT_EQ(td.get(P("a")).scalar_type(), at::kFloat);
  options.device = c10::Device(at::kCPU);
  const TensorDict zero = load_memmap(golden("zero_batch"), options);
  EXPECT_EQ(zero.get(P("b")).sizes(), SizesView({0}));
}

TEST(Load, VerbatimNamesOfOlderWriters) {
  const TempFolder folder;
  TensorDict td = dict({1});
  td.set(P("with space"), at::ones({1}));
  td.set(P("per%cent", "x"), at::ones({1}));
  MemmapOptions options;
  options.verbatim_names = true;
  memmap(td, folder("m"), options);
  EXPECT_TRUE(test::fs::exists(folder("m/with space.memmap")));
  EXPECT_TRUE(test::fs::exists(folder("m/per%cent/x.memmap")));
  EXPECT_TRUE(load_memmap(folder("m")).equal(td));
  LoadOptions load;
  load.verbatim_names = true;
  EXPECT_TRUE(load_memmap(folder("m"), load).equal(td));
}

// A folder with this meta.json and an "a" of 16 bytes.
std::string make(const TempFolder& folder, const std::string& fields,
                 const std::string& tail = R"("shape":[4],"device":"cpu",)") {
  const std::string dir = folder("m");
  test::fs::remove_all(dir);
  test::fs::create_directories(dir);
  write_file(dir + "/meta.json",
             "{" + fields + tail + R"("_type":"<class 'tensordict._td.TensorDict'>"})");
  write_file(dir + "/a.memmap", std::string(16, '\0'));
  return dir;
}

std::string leaf(const std::string& shape, const std::string& dtype = "torch.float32",
                 const std::string& name = "a") {
  return "\"" + name + R"(":{"device":"cpu","shape":)" + shape + R"(,"dtype":")" + dtype +
         R"(","is_nested":false},)";
}

TEST(Load, RefusesDamage) {
  const TempFolder folder;
  const auto refuse_load = [&](const std::string& fields, const std::string& why,
                               Code code = Code::format) {
    SCOPED_TRACE(fields);
    const std::string dir = make(folder, fields);
    expect_error(code, why, [&] { load_memmap(dir); });
  };
  EXPECT_TRUE(load_memmap(make(folder, leaf("[4]"))).get(P("a")).equal(at::zeros({4})));
  refuse_load(leaf("[4,2]"), "a.memmap\" is too short: 32 bytes expected, 16 found");
  refuse_load(leaf("[3]"), "does not begin with the batch size [4]");
  refuse_load(leaf("[4,4611686018427387904,4]"), "too large");
  refuse_load(leaf("[4,0,4611686018427387904,4]"), "too large");
  refuse_load(leaf("[4]", "torch.float8_e4m3fn"), "no dtype is called \"torch.float8_e4m3fn\"");
  refuse_load(leaf("[4]", "torch.int8", "b"), "the file of values is missing for \"b\"");
  refuse_load(leaf("[4]", "torch.int8", "../a"), "the file of values is missing for \"../a\"");
  refuse_load(leaf("[4]", "torch.int8", "/etc/passwd"), "the file of values is missing");
  refuse_load(R"("a":{"shape":[4]},)", "no dtype or no shape");
  refuse_load(R"("n":{"type":"TensorDict"},)", "the folder is missing for the entry \"n\"");
  refuse_load(R"("..":{"type":"TensorDict"},)", "the folder is missing for the entry \"..\"");
  expect_error(Code::io, "no such folder", [&] { load_memmap(folder("nowhere")); });
  expect_error(Code::io, "path is empty", [] { load_memmap(""); });
  test::fs::create_directories(folder("bare"));
  expect_error(Code::io, "no meta.json", [&] { load_memmap(folder("bare")); });
  write_file(folder("bare/meta.json"), "{\"a\":");
  expect_error(Code::format, "bare/meta.json\": no JSON at byte",
               [&] { load_memmap(folder("bare")); });
}

TEST(Load, RefusesNestedBatchesThatDoNotFit) {
  const TempFolder folder;
  const std::string dir = make(folder, R"("n":{"type":"TensorDict"},)");
  test::fs::create_directories(dir + "/n");
  expect_error(Code::format, "n\" has no meta.json", [&] { load_memmap(dir); });
  write_file(dir + "/n/meta.json",
             R"({"shape":[5],"_type":"<class 'tensordict._td.TensorDict'>"})");
  // More rows than the root says: a writer was interrupted between two files.
  EXPECT_EQ(load_memmap(dir).get_dict(P("n")).batch_size(), SizesView({4}));
  write_file(dir + "/n/meta.json",
             R"({"shape":[3],"_type":"<class 'tensordict._td.TensorDict'>"})");
  expect_error(Code::format, "the batch size [3] does not begin with", [&] { load_memmap(dir); });
  write_file(dir + "/n/meta.json",
             R"({"shape":[4,9],"_type":"<class 'tensordict._td.TensorDict'>"})");
  EXPECT_EQ(load_memmap(dir).get_dict(P("n")).batch_size(), SizesView({4, 9}));
}

TEST(Load, RefusesLinksAndPipes) {
  const TempFolder folder;
  const std::string dir = make(folder, leaf("[4]"));
  test::fs::rename(dir + "/a.memmap", folder("outside"));
  test::fs::create_symlink(folder("outside"), dir + "/a.memmap");
  expect_error(Code::io, "symbolic link", [&] { load_memmap(dir); });
  test::fs::remove(dir + "/a.memmap");
  ASSERT_EQ(::mkfifo((dir + "/a.memmap").c_str(), 0600), 0);
  expect_error(Code::io, "not a regular file", [&] { load_memmap(dir); });
  expect_error(Code::io, "not a regular file",
               [&] { MappedFile::open(dir + "/a.memmap", 0, MapMode::shared); });
  memmap(saved_sample(), folder("s"));
  test::fs::rename(folder("s/n"), folder("n"));
  test::fs::create_directory_symlink(folder("n"), folder("s/n"));
  expect_error(Code::io, "symbolic link", [&] { load_memmap(folder("s")); });
  test::fs::rename(folder("n/meta.json"), folder("meta"));
  test::fs::create_symlink(folder("meta"), folder("n/meta.json"));
  expect_error(Code::io, "symbolic link", [&] { load_memmap(folder("n")); });
}

TEST(Load, HasLimits) {
  const TempFolder folder;
  TensorDict td = dict({1});
  td.set(P("a", "b", "c", "x"), at::ones({1}));
  memmap(td, folder("deep"));
  LoadOptions options;
  options.max_depth = 3;
  EXPECT_TRUE(load_memmap(folder("deep"), options).equal(td));
  options.max_depth = 2;
  expect_error(Code::format, "deeper than 2 levels", [&] { load_memmap(folder("deep"), options); });
  options.max_depth = 1000;
  options.max_entries = 4;
  EXPECT_TRUE(load_memmap(folder("deep"), options).equal(td));
  options.max_entries = 3;
  expect_error(Code::format, "more entries", [&] { load_memmap(folder("deep"), options); });
}

TEST(Load, DevicesOfAFile) {
  const TempFolder folder;
  const auto device = [&](const std::string& text) {
    return load_memmap(make(folder, leaf("[4]"), R"("shape":[4],"device":)" + text + ",")).device();
  };
  EXPECT_EQ(device("null"), std::nullopt);
  EXPECT_EQ(device("\"None\""), std::nullopt);
  EXPECT_EQ(device("\"cpu\""), c10::Device(at::kCPU));
  EXPECT_EQ(device("\"meta\""), c10::Device(at::kMeta));
  expect_error(Code::format, "no device is called \"moon\"", [&] { device("\"moon\""); });
  EXPECT_EQ(load_memmap(make(folder, leaf("[4]"), "")).batch_size(), SizesView());
}

TEST(Load, FirstReleasesListedNoNestedDictionaries) {
  const TempFolder folder;
  const std::string dir =
      make(folder, R"("a":{"device":"cpu","shape":[4],"dtype":"torch.float32"},)");
  memmap(saved_sample(), dir + "/y");
  memmap(saved_sample(), dir + "/x");
  test::fs::create_directories(dir + "/other");  // no meta.json: not a dictionary
  const TensorDict td = load_memmap(dir);
  ASSERT_EQ(list_keys(td).keys.size(), 3U);
  EXPECT_EQ(list_keys(td).keys[1].path[0], "x");
  EXPECT_TRUE(td.get_dict(P("y")).equal(saved_sample()));
  LoadOptions options;
  options.max_entries = 2;
  expect_error(Code::format, "more", [&] { load_memmap(dir, options); });
  // Files of later releases list everything: what else is there is not looked at.
  memmap(saved_sample(), folder("later"));
  memmap(saved_sample(), folder("later/stray"));
  EXPECT_EQ(list_keys(load_memmap(folder("later"))).keys.size(), 2U);
}

// ---- Many files ----------------------------------------------------------------------------------

// Until its end the process may have so many files mapped.
class MostMapped {
 public:
  explicit MostMapped(std::size_t files) { set(files); }
  ~MostMapped() { set(Mappings::most_by_system()); }
  MostMapped(const MostMapped&) = delete;
  MostMapped& operator=(const MostMapped&) = delete;

 private:
  static void set(std::size_t files) {
    const auto lock = Mappings::get().lock();
    Mappings::get().set_most(files);
  }
};

// How many files below a folder the process has mapped.
std::size_t mapped_below(const std::string& folder) {
  const std::string maps = read_file("/proc/self/maps");
  std::size_t n = 0;
  for (std::size_t at = maps.find(folder); at != std::string::npos; at = maps.find(folder, at + 1))
    ++n;
  return n;
}

// Each mapped file takes one of the mappings that the system allows.
TEST(Memmap, FilesAreReadWhereMappingsAreScarce) {
  const TempFolder folder;
  TensorDict td = saved_sample();
  const at::Tensor large = at::arange(1 << 18, at::kLong).view({4, 1 << 16});
  td.set(P("large"), large);
  memmap(td, folder("a"));
  const auto before = tree(folder("a"));
  const MostMapped none(0);
  LoadOptions options;
  options.private_mapping = true;
  const TensorDict loaded = load_memmap(folder("a"), options);
  EXPECT_TRUE(loaded.equal(td));
  EXPECT_EQ(mapped_below(folder("a")), 1);  // the large one
  for (const P& path : {P("a"), P("n", "deep", "c")}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(loaded.get(path).data_ptr()) % 64, 0);
  }
  loaded.get(P("a")).fill_(-1);
  loaded.get(P("large")).fill_(-1);
  memmap_flush(loaded);
  EXPECT_EQ(tree(folder("a")), before);
  memmap(loaded, folder("b"), copying());
  EXPECT_TRUE(load_memmap(folder("b"), options).equal(loaded));
  write_file(folder("a/a.memmap"), "short");
  expect_error(Code::format, "too short", [&] { load_memmap(folder("a"), options); });
}

TEST(Memmap, WhatWritesMustReachIsAlwaysMapped) {
  const TempFolder folder;
  memmap(saved_sample(), folder("a"));
  const MostMapped none(0);
  const TensorDict loaded = load_memmap(folder("a"));
  EXPECT_EQ(mapped_below(folder("a")), 3);
  loaded.get(P("n", "b")).fill_(5);
  EXPECT_EQ(load_memmap(folder("a")).get(P("n", "b"))[0].item<std::int64_t>(), 5);
}

}  // namespace
}  // namespace td
