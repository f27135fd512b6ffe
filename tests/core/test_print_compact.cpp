// What Python's tensordict 0.15 prints of the same dictionaries, to the letter: tests/data/print/python15.txt. The
// numbers are those of its sections. No dictionary here can have a MetaData (13), a tensor that is no part of the
// batch (37), parameters as a class (43) or an open HDF5 file (72); an unknown option (71) has no name here.
#include "core/consolidated/share.h"
#include "core/inspect/print.h"
#include "core/memmap/memmap.h"
#include "core/tensor/dtype.h"
#include "core/tensor/torch_compat.h"
#include "core/tensorclass/tensorclass.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/sub_tensordict.h"
#include "folders.h"

#include <ATen/ATen.h>

namespace td {
namespace {

using namespace test;
using Sizes64 = std::initializer_list<std::int64_t>;

std::string section(int number) {
  const std::string file = read_file(std::string(TD_TEST_DATA) + "/print/python15.txt");
  const std::string head = "--- " + std::to_string(number) + " ";
  const std::size_t at = file.find('\n', file.find(head)) + 1;
  return file.substr(at, file.find("\n--- ", at) - at);
}

void check(int number, const TensorDict& td, const PrintOptions& options = {}) {
  EXPECT_EQ(print(td, options), section(number)) << "section " << number;
}

at::Tensor zeros(Sizes64 sizes, c10::ScalarType dtype = at::kFloat) {
  return at::zeros(at::IntArrayRef(sizes.begin(), sizes.size()), dtype);
}

TensorDict put(TensorDict td, std::string_view name, const at::Tensor& value) {
  td.set({name}, value);
  return td;
}
TensorDict put(TensorDict td, std::string_view name, const TensorDict& value) {
  td.set({name}, value);
  return td;
}
TensorDict put(TensorDict td, std::string_view name, std::string_view json) {
  td.set_non_tensor({name}, json);
  return td;
}

TensorDict base() {
  TensorDict n = put(put(dict({3}), "y", zeros({3, 2, 2}, at::kBool)), "x", zeros({3}));
  return put(put(put(dict({3}), "b", zeros({3, 4})), "a", zeros({3}, at::kLong)), "n", n);
}

TensorDict stacked(const std::vector<TensorDict>& elements, std::int64_t dim = 0) {
  std::vector<NodePtr> nodes;
  for (const TensorDict& element : elements) nodes.push_back(element.node());
  return TensorDict(NodePtr(lazy_stack(std::move(nodes), dim)));
}

TensorDict texts(std::initializer_list<const char*> values) {
  std::vector<NodePtr> nodes;
  for (const char* value : values) {
    nodes.push_back(put(dict({}), "s", value).node()->entry("s")->node());
  }
  return TensorDict(NodePtr(lazy_stack(std::move(nodes), 0)));
}

TensorclassTypePtr type(const char* name,
                        std::initializer_list<std::pair<const char*, FieldKind>> list) {
  std::vector<TensorclassField> fields;
  for (const auto& [field, kind] : list) {
    fields.push_back({});
    fields.back().name = field;
    fields.back().kind = kind;
    fields.back().optional = true;
  }
  return std::make_shared<const TensorclassType>(name, std::move(fields), TensorclassOptions());
}
TensorDict marked(const TensorclassTypePtr& type, TensorDict td) {
  mark_tensorclass(type, td);
  return td;
}
TensorclassTypePtr sample_type() {
  return type(
      "Sample",
      {{"image", FieldKind::tensor}, {"label", FieldKind::tensor}, {"note", FieldKind::value}});
}
TensorDict compact(TensorDict td, std::int64_t size = 2) {
  Sizes image(td.batch_size().begin(), td.batch_size().end());
  const at::Tensor label = at::zeros(image);
  image.push_back(size);
  return marked(
      sample_type(),
      put(put(put(std::move(td), "image", at::zeros(image)), "label", label), "note", "\"n\""));
}
TensorclassTypePtr pair_type() {
  return type("Pair", {{"x", FieldKind::tensor},
                       {"y", FieldKind::tensor},
                       {"inner", FieldKind::dict},
                       {"data", FieldKind::value}});
}

TEST(PrintCompact, Dictionaries) {
  check(1, base());
  check(2, dict({}));
  check(3, dict({2, 0}));
  check(5, base().to(c10::Device(at::kCPU)));
  check(6, put(put(dict({2}), "b", zeros({2})), "a", at::zeros({2}, at::TensorOptions(at::kMeta))));
  check(7, put(dict({2}), "a", zeros({2})).to(c10::Device(at::kMeta)));
  check(8, put(dict({2}), "a", zeros({2, 3})));
  check(9, put(dict({2}), "n", put(dict({2, 3}), "x", zeros({2, 3, 4}))));
  check(10, put(put(dict({2}), "n", dict({2})), "d", put(dict({2}), "e", dict({2}))));
  check(38, put(dict({0}), "a", zeros({0, 3, 0})));
  check(39, put(dict({}), "a", zeros({}, at::kLong)));
  TensorDict locked = base();
  locked.lock();
  check(40, locked);
  TensorDict deep = put(dict({}), "f", zeros({1}));
  for (const char* name : {"e", "d", "c", "b", "a"}) deep = put(dict({}), name, deep);
  check(18, deep);
}

#if TD_TORCH_HAS_WIDE_UNSIGNED
TEST(PrintCompact, EveryDtype) {
  TensorDict td = dict({2});
  for (const DTypeRow& row : dtype_rows) {
    const bool tiny = row.dtype >= DType::float8_e5m2;
    td.set({row.torch.substr(6)}, at::empty({2, tiny ? 2 : 1}, scalar_type(row.dtype)));
  }
  check(4, td);
}
#endif

TEST(PrintCompact, ValuesThatAreNoTensors) {
  TensorDict td = dict({});
  for (const auto& [name, json] : {std::pair<const char*, const char*>{"s", "\"x\""},
                                   {"i", "1"},
                                   {"f", "1.5"},
                                   {"b", "true"},
                                   {"none", "null"},
                                   {"l", "[1]"},
                                   {"d", "{\"k\":1}"},
                                   {"t", "[1]"}})
    td.set_non_tensor({name}, json);
  std::string wanted = section(11);  // a tuple is read as a list
  wanted.replace(wanted.find("tuple"), 5, "list");
  EXPECT_EQ(print(td), wanted);
  const TensorDict both = texts({"\"a\"", "\"b\""});
  check(12, put(dict({2}), "s", both));
  check(46, TensorDict(put(dict({2}), "s", "\"x\"").node()->entry("s")->node()));
  check(47, both);
  EXPECT_EQ(print(put(dict({}), "big", "123456789012345678901234567890")),
            "TensorDict(batch_size=[], fields={big: int})");
}

TEST(PrintCompact, LinesOfEightyColumns) {
  TensorDict six = dict({2});
  for (int i = 0; i < 6; ++i)
    six.set({std::string_view("key_number_" + std::to_string(i))}, zeros({2, 3}));
  check(14, six);
  check(15, put(dict({2}), std::string(36, 'k'), zeros({2})));
  check(16, put(dict({2}), std::string(37, 'k'), zeros({2})));
  TensorDict outer = dict({2});
  for (int i = 0; i < 5; ++i) {
    const TensorDict inner = put(put(dict({2}), "x", zeros({2})), "y", zeros({2, 3}));
    outer.set({std::string_view("inner_" + std::to_string(i))}, inner);
  }
  check(17, put(put(dict({2}), "z", zeros({2})), "outer", outer));
}

TEST(PrintCompact, Tensorclasses) {
  check(19, compact(dict({3})));
  check(20, marked(pair_type(), put(dict({3}), "x", zeros({3}))));
  TensorDict both = put(put(dict({3}), "x", zeros({3})), "data", "{\"k\":1}");
  TensorDict inner = put(put(dict({3}), "image", zeros({3})), "label", zeros({3}));
  both.set({"inner"}, marked(sample_type(), put(inner, "note", "\"n\"")));
  const TensorclassTypePtr outer = type("Pair", {{"x", FieldKind::tensor},
                                                 {"y", FieldKind::tensor},
                                                 {"inner", FieldKind::dict},
                                                 {"data", FieldKind::value}});
  check(22, put(put(dict({3}), "x", zeros({3})), "s", compact(dict({3}))));
  const TensorclassTypePtr only =
      type("Only", {{"x", FieldKind::tensor}, {"y", FieldKind::tensor}});
  check(23, put(dict({3}), "s",
                marked(only, put(put(dict({3, 2}), "x", zeros({3, 2})), "y", zeros({3, 2})))));
  check(34, stacked({compact(dict({}), 2), compact(dict({}), 3)}));
  mark_tensorclass(outer, both);
  check(21, both);
}

TEST(PrintCompact, LazyStacks) {
  const auto a = [](std::int64_t size) { return put(dict({}), "a", at::zeros({size})); };
  const TensorDict rows = put(dict({2}), "a", zeros({2, 3}));
  check(24, stacked({rows, rows.clone(), rows.clone()}));
  check(25, stacked({rows, rows.clone(), rows.clone()}, 1));
  check(26, stacked({put(put(dict({}), "a", zeros({3, 4})), "b", zeros({2})),
                     put(put(dict({}), "a", zeros({5, 4})), "b", zeros({2}))}));
  check(27, stacked({a(2), put(dict({}), "a", zeros({2, 3}))}));
  check(28, stacked({a(2), put(dict({}), "a", zeros({2}, at::kDouble))}));
  check(29, stacked({put(a(2), "p", zeros({1})),
                     put(put(a(2), "q", zeros({1}, at::kInt)), "r", zeros({1}))}));
  check(30, stacked({put(a(2), "s", "\"u\""), put(a(2), "s", "\"v\"")}));
  check(31, put(dict({2}), "l", stacked({a(2), a(3)})));
  check(32, stacked({stacked({a(2), a(3)}), stacked({a(2), a(3)})}));
  check(33, stacked({a(2), a(2)}));
}

TEST(PrintCompact, NestedTensors) {
  TensorDict jagged = dict({2}), strided = dict({2});
  const NodePtr node =
      from_jagged({at::zeros({5, 3}), {}, at::tensor({0, 2, 5}, at::kLong), 1}, "it");
  jagged.set({"r"}, TensorDict(node));
  check(35, jagged);
  strided.set({"r"},
              TensorDict(NodePtr(make_nested_tensor({at::zeros({2, 3}), at::zeros({3, 3})}))));
  check(36, strided);
}

TEST(PrintCompact, OtherPlaces) {
  const TempFolder folder;
  const TensorDict shared = put(dict({2}), "a", zeros({2}));
  share_memory(shared);
  EXPECT_EQ(print(shared).substr(0, 25), section(41).substr(0, 25));
  check(42, memmap(base(), folder("saved")));
  check(44, sub_tensordict(base(), {IndexItem::range(0, 2, 1)}));
}

TEST(PrintCompact, KeysAreNotQuoted) {
  TensorDict td = dict({});
  for (const char* name : {"B", "a b", "x.y", "q\"", "\xC3\xA9", "10", "9"})
    td.set({name}, zeros({1}));
  std::string wanted = section(45);
  wanted.erase(wanted.find("    : f32[1],\n"), 14);  // no key is empty here
  EXPECT_EQ(print(td), wanted);
}

namespace part = print_part;

PrintOptions hidden(std::uint32_t parts, std::uint32_t show = 0) {
  return print_options(PrintForm::automatic, show, parts, false);
}

TEST(PrintOptions, TheCompactForm) {
  check(48, base(), hidden(part::dtype));
  check(49, base(), hidden(part::batch_size));
  check(50, base(), hidden(part::device));
  PrintOptions unsorted;
  unsorted.sorted = false;
  check(51, base(), unsorted);
  check(52, base(), print_options(PrintForm::compact, 0, part::shape, false));
  check(53, base(), print_options(PrintForm::automatic, 0, 0, true));
}

TEST(PrintOptions, TheDetailedForm) {
  const PrintOptions detailed = print_options(PrintForm::detailed, 0, 0, false);
  check(54, base(), detailed);
  check(55, base(), print_options(PrintForm::detailed, 0, 0, true));
  PrintOptions unsorted = detailed;
  unsorted.sorted = false;
  check(56, base(), unsorted);
  check(57, base(), hidden(part::shape));
  check(58, base(), hidden(part::field_device));
  check(59, base(), hidden(part::is_shared));
  check(60, base(), hidden(part::field_is_shared));
  check(61, base(), hidden(0, part::grad));
  check(62, base(), hidden(0, part::is_contiguous));
  check(63, base(), hidden(0, part::is_view));
  check(64, base(), hidden(0, part::storage_size));
  check(65, base(), hidden(0, part::plain));
  check(66, base(), hidden(part::dtype, part::plain));
  check(67, base(),
        print_options(PrintForm::detailed, 0, part::batch_size | part::device | part::is_shared,
                      false));
  const auto a = [](std::int64_t size, const char* own) {
    return put(put(dict({}), "a", at::zeros({size, 4})), own, zeros({2}));
  };
  check(68, stacked({a(3, "p0"), a(5, "p1")}), detailed);
  check(69, marked(pair_type(), put(put(dict({3}), "x", zeros({3})), "data", "{\"k\":1}")),
        detailed);
  check(70, put(put(dict({2}), "s", "\"x\""), "st", texts({"\"a\"", "\"b\""})), detailed);
}

TEST(PrintOptions, WhatContradictsItself) {
  expect_error(Code::invalid_argument, "",
               [] { print_options(PrintForm::automatic, part::shape, part::shape, false); });
}

TEST(PrintOptions, ValuesOfTensors) {
  const TensorDict td =
      put(put(dict({}), "a", at::tensor({1.0, 2.0, 4.0})), "b", at::tensor({3, -1}));
  const std::string text = print(td, hidden(part::all & ~(part::plain | part::shape), part::plain));
  EXPECT_NE(text.find("a: Tensor(shape=torch.Size([3]), mean=2.333, std=1.528)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("b: Tensor(shape=torch.Size([2]), min=-1, max=3)"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace td
