// TorchScript modules of every form, written here: what they may return, what they share, how they fail.
#include "core/formats/zip_file.h"
#include "core/keys/entries.h"
#include "core/nn/function.h"
#include "core/nn/probabilistic.h"
#include "core/nn/script.h"
#include "core/nn/script_meta.h"
#include "core/tree/kinds.h"
#include "folders.h"
#include "trees.h"

#include <torch/csrc/jit/api/module.h>

#include <thread>

namespace td {
namespace {

using namespace test;
using Script = torch::jit::Module;

KeyPath key(std::vector<std::string> names) { return KeyPath(std::move(names)); }

// Saved and loaded again, with keys "x" and the ones given.
ModulePtr through_file(const Script& script, const char* json) {
  const TempFolder folder;
  torch::jit::ExtraFilesMap extra;
  if (json != nullptr) extra["tensordict.json"] = json;
  script.save(folder("m.pt"), extra);
  return load_script(folder("m.pt"));
}

Script of_code(const char* code) {
  Script script("M");
  script.register_parameter("w", at::full({3}, 2.0f), false);
  script.define(code);
  return script;
}

TensorDict input() {
  TensorDict td = dict({2});
  td.set({"x"}, ramp({2, 3}));
  return td;
}

// The archive of a golden module with one entry replaced, or left out.
std::string rewritten(const TempFolder& folder, const std::string& entry,
                      const std::optional<std::string>& content) {
  const std::string from = TD_TEST_DATA "/../golden2/data/modules/mlp.pt";
  const zip_file::MappedArchive archive = zip_file::MappedArchive::open(from);
  zip_file::Writer writer(folder("rewritten.pt"));
  for (const zip_file::Entry& one : archive.reader().entries()) {
    const bool wanted = one.name == "mlp/" + entry;
    if (wanted && !content) continue;
    std::string bytes(one.bytes, '\0');
    archive.reader().read(one, bytes.data());
    if (wanted) bytes = *content;
    writer.add(one.name, zip_file::Form::stored, bytes.data(), bytes.size());
  }
  writer.finish();
  return folder("rewritten.pt");
}

Code loading(const std::string& file) {
  return code_of([&] { load_script(file); });
}

TEST(Modules, ArchivesThatAreOfANewerFormOrLackAPart) {
  const TempFolder folder;
  EXPECT_EQ(loading(rewritten(folder, "no such entry", std::nullopt)), Code::ok);
  EXPECT_EQ(loading(rewritten(folder, "version", "99\n")), Code::unsupported);
  EXPECT_EQ(loading(rewritten(folder, "version", "many\n")), Code::format);
  EXPECT_EQ(loading(rewritten(folder, "extra/tensordict.json", "{\"version\": 7}")),
            Code::unsupported);
  EXPECT_EQ(loading(rewritten(folder, "extra/tensordict.json", std::nullopt)), Code::key_not_found);
  for (const char* entry : {"data.pkl", "constants.pkl", "version", "data/2",
                            "code/__torch__/torch/nn/modules/linear.py"})
    EXPECT_EQ(loading(rewritten(folder, entry, std::nullopt)), Code::format) << entry;
  for (const char* text : {"", "\x80\x02", "\x80\x02}q\x01.", "no pickle at all"}) {
    EXPECT_EQ(loading(rewritten(folder, "data.pkl", text)), Code::format) << text;
    EXPECT_EQ(loading(rewritten(folder, "constants.pkl", text)), Code::format) << text;
  }
  const char* const linear = "code/__torch__/torch/nn/modules/linear.py";
  EXPECT_EQ(loading(rewritten(folder, linear, "no code")), Code::format);
  EXPECT_EQ(loading(rewritten(folder, "data/0", "short")), Code::format);
}

TEST(Modules, ReturnsAreTuplesListsAndDictionaries) {
  const char* const codes[] = {
      "def forward(self, x):\n  return (x, x * self.w)\n",
      "def forward(self, x):\n  return [x, x * self.w]\n",
      "def forward(self, x):\n  return {'b': x * self.w, 'a': x, 'c': x}\n"};
  for (const char* code : codes) {
    const ModulePtr module =
        through_file(of_code(code), R"({"in_keys": ["x"], "out_keys": ["a", ["n", "b"]]})");
    const TensorDict td = input(), result = module->call(td);
    EXPECT_TRUE(result.get({"n", "b"}).equal(td.get({"x"}) * 2)) << code;
    EXPECT_TRUE(result.get({"a"}).equal(td.get({"x"}))) << code;
  }
}

TEST(Modules, WhatIsNoTensorIsRefused) {
  const std::pair<const char*, Code> cases[] = {
      {"def forward(self, x):\n  return 3\n", Code::wrong_entry},
      {"def forward(self, x):\n  return (x, x)\n", Code::invalid_argument},
      {"def forward(self, x):\n  return {'b': x}\n", Code::key_not_found},
      {"def forward(self, x):\n  assert x is None, 'no\\nway'\n  return x\n", Code::torch},
      {"def forward(self, x):\n  return x.view(7)\n", Code::torch}};
  for (const auto& [code, want] : cases) {
    const ModulePtr module =
        through_file(of_code(code), R"({"in_keys": ["x"], "out_keys": ["a"]})");
    const TensorDict td = input();
    EXPECT_EQ(code_of([&] { module->call_inplace(td); }), want) << code;
    EXPECT_EQ(list_keys(td).keys.size(), 1U);
  }
}

TEST(Modules, OptionalInputsMayBeMissing) {
  const ModulePtr module =
      through_file(of_code("def forward(self, x, y: Optional[Tensor], k: int = 3):\n"
                           "  if y is None:\n    return x * k\n  return x + y\n"),
                   R"({"in_keys": ["x", "y"], "out_keys": ["a"]})");
  TensorDict td = input();
  EXPECT_TRUE(module->call(td).get({"a"}).equal(td.get({"x"}) * 3));
  td.set({"y"}, at::ones({2, 3}));
  EXPECT_TRUE(module->call(td).get({"a"}).equal(td.get({"x"}) + 1));
  td.remove({"x"});
  EXPECT_EQ(code_of([&] { module->call(td); }), Code::key_not_found);
}

TEST(Modules, BuffersAndTiedParametersStayWhatTheyAre) {
  Script inner("Inner"), script("M");
  const at::Tensor tied = at::full({3}, 2.0f);
  inner.register_parameter("w", tied, false);
  inner.register_buffer("b", at::ones({3}));
  inner.define("def forward(self, x):\n  return x * self.w + self.b\n");
  script.register_parameter("w", tied, false);
  script.register_module("one", inner);
  script.register_module("two", inner);
  script.define("def forward(self, x):\n  return self.two.forward(self.one.forward(x)) * self.w\n");
  const ModulePtr module = through_file(script, R"({"in_keys": ["x"], "out_keys": ["a"]})");
  const TensorDict params = module->params();
  EXPECT_TRUE(params.get({"w"}).is_same(params.get({"one", "w"})));
  EXPECT_TRUE(params.get_dict({"one"}).is_same(params.get_dict({"two"})));
  const TensorDict td = input();
  const at::Tensor x = td.get({"x"});
  EXPECT_TRUE(module->call(td).get({"a"}).equal(((x * 2 + 1) * 2 + 1) * 2));
  // The same module cannot have two sets; equal copies are one set.
  TensorDict other = params.clone();
  other.get({"two", "b"}).fill_(5);
  ModuleCall call;
  call.params = other;
  if (!other.get_dict({"one"}).is_same(other.get_dict({"two"}))) {
    EXPECT_EQ(code_of([&] { module->call(td, call); }), Code::invalid_argument);
  }
  other = TensorDict();
  other.set({"w"}, params.get({"w"}).detach().clone());
  other.set({"one"}, params.get_dict({"one"}).clone());
  other.set({"two"}, params.get_dict({"two"}).clone());
  call.params = other;
  EXPECT_TRUE(module->call(td, call).get({"a"}).equal(module->call(td).get({"a"})));
  other.get({"two", "b"}).detach().fill_(5);
  EXPECT_EQ(code_of([&] { module->call(td, call); }), Code::invalid_argument);
}

// A call would use one of two values, and the other would be kept without a use.
TEST(Modules, ATensorInTwoPlacesHasOneValue) {
  Script first("First"), script("M");
  const at::Tensor tied = at::full({3}, 2.0F);
  first.register_parameter("w", tied, false);
  first.define("def forward(self, x):\n  return x * self.w\n");
  script.register_module("one", first);
  script.register_parameter("v", tied, false);
  script.define("def forward(self, x):\n  return self.one.forward(x) + self.v\n");
  const ModulePtr module = through_file(script, R"({"in_keys": ["x"], "out_keys": ["a"]})");
  const TensorDict td = input();
  TensorDict given;
  given.set({"one", "w"}, at::full({3}, 3.0F));
  given.set({"v"}, at::full({3}, 4.0F));
  ModuleCall call;
  call.params = given;
  EXPECT_EQ(code_of([&] { module->call(td, call); }), Code::invalid_argument);
  EXPECT_EQ(code_of([&] { module->set_params({}, given); }), Code::invalid_argument);
  EXPECT_TRUE(module->call(td).get({"a"}).equal(td.get({"x"}) * 2 + 2));
  // Equal values are one tensor afterwards, which a step changes in both places.
  given.set({"v"}, at::full({3}, 3.0F));
  module->set_params({}, given);
  EXPECT_TRUE(module->params().get({"one", "w"}).is_same(module->params().get({"v"})));
  EXPECT_TRUE(module->call(td).get({"a"}).equal(td.get({"x"}) * 3 + 3));
}

TEST(Modules, AFunctionalCallKeepsStateOfItsOwn) {
  Script script("M");
  script.register_buffer("n", at::zeros({}));
  script.define("def forward(self, x):\n  self.n = self.n + 1\n  return x * self.n\n");
  const ModulePtr module = through_file(script, R"({"in_keys": ["x"], "out_keys": ["a"]})");
  const TensorDict td = input();
  ModuleCall call;
  call.params = module->params().clone();
  module->call(td, call);
  EXPECT_EQ(module->params().get({"n"}).item<float>(), 0);
  module->call(td);
  EXPECT_EQ(module->params().get({"n"}).item<float>(), 1);
}

TEST(Modules, ParametersAreSavedAsTheyAre) {
  const TempFolder folder;
  const ModulePtr module = through_file(of_code("def forward(self, x):\n  return x * self.w\n"),
                                        R"({"in_keys": ["x"], "out_keys": [["a", "b"]]})");
  TensorDict params;
  params.set({"w"}, at::full({3}, 7.0f));
  module->set_params({}, params);
  save_script(*module, folder("again.pt"));
  const ModulePtr again = load_script(folder("again.pt"));
  const TensorDict td = input();
  EXPECT_TRUE(again->call(td).get({"a", "b"}).equal(td.get({"x"}) * 7));
  EXPECT_EQ(code_of([&] { save_script(*module_sequence({module}), folder("s.pt")); }),
            Code::unsupported);
}

TEST(Modules, RandomNumbersDifferForEachSetOfParameters) {
  const ModulePtr network = through_file(of_code("def forward(self, x):\n  return x * self.w\n"),
                                         R"({"in_keys": ["x"], "out_keys": ["loc"]})");
  DistributionPart part;
  part.keys = {key({"loc"}), key({"loc"})};
  part.names = {"loc", "scale"};
  part.out_key = key({"a"});
  const ModulePtr row = module_sequence({network, module_probabilistic({part})});
  TensorDict sets(Sizes{4}), set(Sizes{4});
  set.set({"w"}, at::ones({4, 3}));
  sets.set({"0"}, set);
  ModuleCall call;
  call.params = sets;
  call.interaction = Interaction::random;
  TensorDict td = dict({2});
  td.set({"x"}, at::ones({2, 3}));
  const at::Tensor a = row->call(td, call).get({"a"});
  EXPECT_EQ(a.sizes(), at::IntArrayRef({4, 2, 3}));
  EXPECT_FALSE(a[0].equal(a[1]));
  const ModulePtr function =
      module_from_function([](const TensorDict&) { return std::nullopt; }, {});
  EXPECT_EQ(code_of([&] {
              module_sequence({network, function})->call(td, call);
            }),
            Code::unsupported);
}

TEST(Modules, KeysOfAnArchive) {
  const ScriptMeta keys = read_script_meta(
      R"({"version": 1, "in_keys": [["a", "b"], "c"], "more": {"in_keys": [1]}, "out_keys": []})",
      "f");
  ASSERT_TRUE(keys.in_keys && keys.out_keys);
  EXPECT_EQ(show_keys(*keys.in_keys), R"("a"/"b", "c")");
  EXPECT_TRUE(keys.out_keys->empty());
  EXPECT_FALSE(read_script_meta("{}", "f").in_keys.has_value());
  const std::pair<const char*, Code> bad[] = {
      {"", Code::format},
      {"[]", Code::format},
      {"3", Code::format},
      {"{", Code::format},
      {R"({"in_keys": 3})", Code::format},
      {R"({"in_keys": "a"})", Code::format},
      {R"({"in_keys": {"a": ["b"]}})", Code::format},
      {R"({"in_keys": [3]})", Code::format},
      {R"({"in_keys": [["a", 3]]})", Code::format},
      {R"({"in_keys": [[["a"]]]})", Code::format},
      {R"({"in_keys": [["a"]], "in_keys": [["b"]]})", Code::format},
      {R"({"in_keys": [[]]})", Code::key_invalid},
      {R"({"version": "1"})", Code::format},
      {R"({"version": 4})", Code::unsupported},
      {R"({"version": 1, "batch": {"dims": 1}})", Code::format},
      {R"({"version": 2, "batch": {"dims": 1}})", Code::format},
      {R"({"version": 3, "batch": {"dims": 1}})", Code::format},  // no "inputs"
      {R"({"version": 3, "inputs": [], "batch": {}})", Code::format},
      {R"({"version": 3, "inputs": [], "batch": {"dims": -1}})", Code::format},
      {R"({"version": 3, "inputs": [], "batch": {"dims": 1, "flat": [-1]}})", Code::format},
      {R"({"version": 3, "inputs": [], "batch": {"dims": 1, "more": 1}})", Code::format},
      {R"({"version": 3, "inputs": [], "batch": {"dims": 0, "flat": [1]}})", Code::format},
      {R"({"version": 3, "inputs": [{"dtype": "torch.float32", "shape": []}],
           "batch": {"dims": 1}})",
       Code::format},
      {R"({"version": 0})", Code::unsupported}};
  for (const auto& [text, want] : bad)
    EXPECT_EQ(code_of([&, text = text] { read_script_meta(text, "f"); }), want) << text;
  ScriptMeta meta;
  meta.in_keys = {key({"a\"", "b"})};
  meta.out_keys = {key({"c"})};
  EXPECT_EQ(script_meta_json(meta),
            R"({"version": 1, "in_keys": [["a\"", "b"]], "out_keys": [["c"]]})");
}

std::string with_batch(const char* batch) {
  return R"({"version": 3, "in_keys": [["x"]], "out_keys": [["y"]], "inputs": [
    {"dtype": "torch.float32", "shape": [-1, 3]}], "batch": )" +
         std::string(batch) + "}";
}

// A module that adds a number to its input.
ModulePtr adds(const char* from, const char* to, double number) {
  FunctionOptions options;
  options.in_keys = {key({from})};
  options.out_keys = {key({to})};
  options.strict = true;
  return module_from_function(
      [=](const TensorDict& source) {
        TensorDict made(source.batch_size());
        made.set({to}, source.get({from}) + number);
        return std::optional<TensorDict>(made);
      },
      options);
}

// As Python's: each module by itself is skipped where all that it writes is there, and none of that is read.
TEST(Modules, ModulesAreSkippedOneByOne) {
  const ModulePtr all =
      module_sequence({adds("x", "h", 1), adds("h", "y", 10), adds("y", "y", 100)});
  ModuleCall call;
  call.skip_existing = true;
  TensorDict td = input();
  const at::Tensor x = td.get({"x"});
  td.set({"h"}, x * 0);
  EXPECT_TRUE(all->call(td, call).get({"y"}).equal(x * 0 + 110));
  td.set({"y"}, x * 0 + 5);
  EXPECT_TRUE(all->call(td, call).equal(TensorDict(td.batch_size())));  // all is there
  td.remove({"h"});
  const TensorDict made = all->call(td, call);
  EXPECT_TRUE(made.get({"h"}).equal(x + 1));
  EXPECT_TRUE(made.get({"y"}).equal(x * 0 + 105));
  EXPECT_TRUE(adds("y", "y", 1)->call(td, call).get({"y"}).equal(x * 0 + 6));
}

// A network that was a sequence cannot skip a part of itself.
TEST(Modules, ASequenceInAnArchiveIsOneModule) {
  const char* code = "def forward(self, x):\n  h = x * self.w\n  return h, h + 1\n";
  const auto network = [&](const char* modules) {
    const std::string json = R"({"version": 3, "in_keys": [["x"]], "out_keys": [["h"], ["y"]],
      "inputs": [{"dtype": "torch.float32", "shape": [-1, 3]}],
      "batch": {"dims": 1, "direct": [1], "flat": [0, 1])" +
                             std::string(modules) + "}}";
    return through_file(of_code(code), json.c_str());
  };
  ModuleCall call;
  call.skip_existing = true;
  TensorDict td = input();
  const ModulePtr two = network(R"(, "modules": 2)");
  EXPECT_TRUE(two->call(td, call).get({"h"}).equal(td.get({"x"}) * 2));
  td.set({"h"}, at::zeros({2, 3}));
  expect_error(Code::unsupported, "a sequence of 2 modules is one network",
               [&] { two->call(td, call); });
  EXPECT_TRUE(network("")->call(td, call).get({"y"}).equal(td.get({"x"}) * 2 + 1));
  const TempFolder folder;
  save_script(*two, folder("again.pt"));
  EXPECT_EQ(code_of([&] { load_script(folder("again.pt"))->call(td, call); }), Code::unsupported);
  td.set({"y"}, at::zeros({2, 3}));
  EXPECT_TRUE(two->call(td, call).equal(TensorDict(td.batch_size())));
  EXPECT_EQ(code_of([&] { network(R"(, "modules": 0)"); }), Code::format);
}

// What a selected sequence overwrites is seen by the modules behind it, as in Python.
TEST(Modules, SelectedModulesKeepWhatTheyOverwrite) {
  const ModulePtr inner = select_out_keys(
      module_sequence({adds("x", "x", 1), adds("x", "h", 1), adds("h", "y", 1)}), {key({"y"})});
  const TensorDict td = input();
  const at::Tensor x = td.get({"x"});
  TensorDict want(td.batch_size());
  want.set({"x"}, x + 1);
  want.set({"y"}, x + 3);
  EXPECT_TRUE(inner->call(td).equal(want));
  EXPECT_TRUE(module_sequence({inner, adds("x", "z", 0)})->call(td).get({"z"}).equal(x + 1));
  TensorDict with_h = td.clone();
  with_h.set({"h"}, x);  // was there, and is overwritten
  EXPECT_TRUE(inner->call(with_h).get({"h"}).equal(x + 2));
}

// Elements of a lazy stack with other keys, whatever stands around the tolerant sequence.
TEST(Modules, TolerantSequencesLookAtEachElement) {
  SequenceOptions tolerant;
  tolerant.partial_tolerant = true;
  const ModulePtr one = adds("x", "y", 1), two = adds("z", "w", 2);
  const ModulePtr both = module_sequence({one, two}, tolerant);
  for (const ModulePtr& module :
       {both, select_out_keys(both, {key({"y"}), key({"w"})}), module_sequence({both}),
        module_sequence({one, module_sequence({two}, tolerant)}),
        module_sequence({one, select_out_keys(module_sequence({two}, tolerant), {key({"w"})})})}) {
    SCOPED_TRACE(module->to_string());
    TensorDict less = input(), more = input();
    more.set({"z"}, at::ones({2, 3}));
    const TensorDict stack(NodePtr(lazy_stack({less.node(), more.node()}, 0)));
    module->call_inplace(stack);
    EXPECT_TRUE(less.get({"y"}).equal(less.get({"x"}) + 1));
    EXPECT_EQ(less.kind_of({"w"}), EntryKind::none);
    EXPECT_TRUE(more.get({"w"}).equal(at::full({2, 3}, 3.0F)));
  }
}

// A network that takes one batch dimension, as one of torch.export does.
constexpr const char* first_is_zero =
    "def forward(self, x):\n  y = x * self.w\n  y[:, 0] = 0\n  return y\n";

TEST(Modules, ABatchIsFlattenedOrRefused) {
  const ModulePtr module =
      through_file(of_code(first_is_zero),
                   with_batch(R"({"dims": 1, "direct": [1], "flat": [0, 1, 2]})").c_str());
  const at::Tensor x = at::arange(18, at::kFloat).reshape({2, 3, 3});
  at::Tensor want = x * 2;
  want.select(2, 0).zero_();
  TensorDict td(Sizes{2, 3});
  td.set({"x"}, x);
  EXPECT_TRUE(module->call(td).get({"y"}).equal(want));
  TensorDict row;
  row.set({"x"}, x[1][2]);
  EXPECT_TRUE(module->call(row).get({"y"}).equal(want[1][2]));
  TensorDict deep;
  deep.set({"x"}, x.unsqueeze(0));
  EXPECT_EQ(code_of([&] { module->call(deep); }), Code::shape);
  TensorDict three(Sizes{3});
  three.set({"x"}, at::ones({3}));  // no row of width 3
  EXPECT_EQ(code_of([&] { module->call(three); }), Code::shape);
  TensorDict wide;
  wide.set({"x"}, at::ones({2, 4}));
  EXPECT_EQ(code_of([&] { module->call(wide); }), Code::shape);
  TensorDict sets(Sizes{2});
  sets.set({"w"}, at::stack({at::full({3}, 1.0f), at::full({3}, 2.0f)}));
  ModuleCall call;
  call.params = sets;
  EXPECT_TRUE(module->call(td, call).get({"y"})[1].equal(want));
  const TempFolder folder;
  save_script(*module, folder("again.pt"));
  EXPECT_EQ(code_of([&] { load_script(folder("again.pt"))->call(deep); }), Code::shape);
}

// The exporter's inputs lie row by row, and a graph views what the code reshapes.
TEST(Modules, InputsMayLieInMemoryAnyWay) {
  const ModulePtr module =
      through_file(of_code("def forward(self, x):\n  return x.view(-1).view(-1, 3) + 1\n"),
                   with_batch(R"({"dims": 1, "direct": [1]})").c_str());
  const at::Tensor columns = at::arange(6, at::kFloat).reshape({3, 2}).t();
  TensorDict td(Sizes{2});
  td.set({"x"}, columns);
  EXPECT_TRUE(module->call(td).get({"y"}).equal(columns + 1));
  td.set({"x"}, columns.to(at::kDouble));
  EXPECT_EQ(code_of([&] { module->call(td); }), Code::dtype);
}

TEST(Modules, ABatchWithoutRowsMayBeRefused) {
  TensorDict none(Sizes{0, 3});
  none.set({"x"}, at::ones({0, 3, 3}));
  for (const bool empty : {true, false}) {
    const ModulePtr module = through_file(
        of_code(first_is_zero), with_batch(empty ? R"({"dims": 1, "flat": [1, 2]})"
                                                 : R"({"dims": 1, "flat": [1, 2], "empty": false})")
                                    .c_str());
    if (empty) {
      EXPECT_EQ(module->call(none).get({"y"}).sizes(), at::IntArrayRef({0, 3, 3}));
    } else {
      EXPECT_EQ(code_of([&] { module->call(none); }), Code::shape);
    }
  }
}

constexpr const char* followed =
    R"({"version": 2, "in_keys": [["x"]], "out_keys": [["params"]], "then": [
  {"kind": "normal_params", "in_key": "params", "loc_key": ["d", "loc"], "scale_key": ["d", "scale"]},
  {"kind": "probabilistic", "distributions": [{"distribution": "TanhNormal", "names": ["loc", "scale"],
    "in_keys": [["d", "loc"], ["d", "scale"]], "out_key": "action", "low": -2, "high": 2}],
    "return_log_prob": true}]})";

TEST(Modules, AnArchiveMaySayWhatFollowsTheNetwork) {
  const char* code = "def forward(self, x):\n  return x.repeat([1, 2]) * self.w.repeat([2])\n";
  const ModulePtr module = through_file(of_code(code), followed);
  EXPECT_EQ(show_keys(module->in_keys()), "\"x\"");
  EXPECT_EQ(show_keys(module->out_keys()),
            R"("params", "d"/"loc", "d"/"scale", "action", "action_log_prob")");
  const TensorDict td = input();
  const TensorDict made = module->call(td);
  const at::Tensor loc = td.get({"x"}) * 2;
  EXPECT_TRUE(made.get({"d", "loc"}).equal(loc));
  EXPECT_TRUE(made.get({"action"}).allclose(loc.tanh().clamp(-1 + 1e-6, 1 - 1e-6) * 2));
  EXPECT_EQ(made.get({"action_log_prob"}).sizes(), at::IntArrayRef({2}));
  TensorDict all = input();
  module->call_inplace(all);
  EXPECT_TRUE(log_prob(module, all).get({"action_log_prob"}).equal(made.get({"action_log_prob"})));
  EXPECT_EQ(module->parts().size(), 3U);

  // Parameters stand where the network has them, and a set of them fits.
  EXPECT_TRUE(module->params().get({"w"}).equal(at::full({3}, 2.0f)));
  TensorDict params;
  params.set({"w"}, at::full({3}, 7.0f));
  module->set_params({}, params);
  EXPECT_TRUE(module->call(td).get({"d", "loc"}).equal(td.get({"x"}) * 7));
  TensorDict sets(Sizes{2});
  sets.set({"w"}, at::stack({at::full({3}, 1.0f), at::full({3}, 2.0f)}));
  ModuleCall call;
  call.params = sets;
  EXPECT_TRUE(module->call(td, call).get({"d", "loc"})[1].equal(td.get({"x"}) * 2));

  const TempFolder folder;
  save_script(*module, folder("again.pt"));
  const ModulePtr again = load_script(folder("again.pt"));
  EXPECT_EQ(again->to_string(), module->to_string());
  EXPECT_TRUE(again->call(td).equal(module->call(td)));
  const ModulePtr part = select_subsequence(again, std::nullopt, KeyPaths{key({"d", "loc"})});
  EXPECT_EQ(show_keys(part->out_keys()), R"("params", "d"/"loc", "d"/"scale")");
  save_script(*part, folder("part.pt"));
  EXPECT_EQ(load_script(folder("part.pt"))->to_string(), part->to_string());
  const ModulePtr rest = select_subsequence(again, KeyPaths{key({"params"})}, std::nullopt);
  EXPECT_TRUE(rest->params().is_empty());
  EXPECT_EQ(code_of([&] { save_script(*rest, folder("rest.pt")); }), Code::unsupported);
}

TEST(Modules, ANumberAsABoundStandsBesideAnyKind) {
  const char* json =
      R"({"version": 2, "in_keys": ["x"], "out_keys": ["param"], "then": [{"kind": "probabilistic", "distributions": [{"distribution": "Delta", "in_keys": ["param"], "out_key": "a", "low": -1, "high": 1}]}]})";
  const ModulePtr module =
      through_file(of_code("def forward(self, x):\n  return x * self.w\n"), json);
  EXPECT_TRUE(module->call(input()).get({"a"}).equal(input().get({"x"}) * 2));
}

// The method "second" follows "forward", and has its parameter.
constexpr const char* two_networks =
    R"({"version": 2, "in_keys": [["x"]], "out_keys": [["a"]], "then": [{"kind": "network", "method": "second", "in_keys": [["a"]], "out_keys": [["b"]], "inputs": [{"dtype": "torch.float32", "shape": [-1, 3]}], "batch": {"dims": 1, "direct": [1], "flat": [2]}}]})";

Script with_second(const std::string& more = "") {
  Script script = of_code("def forward(self, x):\n  return x * self.w\n");
  script.define("def second(self, a):\n  return a + self.w\n" + more);
  return script;
}

TEST(Modules, AnotherNetworkIsAMethodOfTheSameObject) {
  const ModulePtr module = through_file(with_second(), two_networks);
  EXPECT_EQ(show_keys(module->in_keys()), "\"x\"");
  EXPECT_EQ(show_keys(module->out_keys()), "\"a\", \"b\"");
  const TensorDict td = input();
  EXPECT_TRUE(module->call(td).get({"b"}).equal(td.get({"x"}) * 2 + 2));
  TensorDict params;
  params.set({"w"}, at::full({3}, 5.0f));
  ModuleCall call;
  call.params = params;
  EXPECT_TRUE(module->call(td, call).get({"b"}).equal(td.get({"x"}) * 5 + 5));
  module->set_params({}, params);
  EXPECT_TRUE(module->call(td).get({"b"}).equal(td.get({"x"}) * 5 + 5));
  EXPECT_EQ(list_keys(module->params()).keys.size(), 1U);  // counted once
  const TempFolder folder;
  save_script(*module, folder("again.pt"));
  EXPECT_TRUE(load_script(folder("again.pt"))->call(td).equal(module->call(td)));
  const ModulePtr last = select_subsequence(module, KeyPaths{key({"a"})}, KeyPaths{key({"b"})});
  EXPECT_EQ(code_of([&] { save_script(*last, folder("last.pt")); }), Code::unsupported);
}

TEST(Modules, EachNetworkKnowsItsBatch) {
  const ModulePtr module = through_file(with_second(), two_networks);
  TensorDict td(Sizes{2, 2, 2});
  td.set({"x"}, at::ones({2, 2, 2, 3}));
  EXPECT_EQ(code_of([&] { module->call_inplace(td); }), Code::shape);
  EXPECT_EQ(list_keys(td).keys.size(), 1U);  // nothing of the first network either
}

TEST(Modules, AnotherDtypeIsThatOfAllNetworks) {
  const TempFolder folder;
  with_second().save(folder("m.pt"), {{"tensordict.json", two_networks}});
  ScriptOptions options;
  options.dtype = at::kDouble;
  const ModulePtr module = load_script(folder("m.pt"), options);
  TensorDict td(Sizes{2});
  td.set({"x"}, at::ones({2, 3}, at::kDouble));
  EXPECT_TRUE(module->call(td).get({"b"}).equal(at::full({2, 3}, 4.0, at::kDouble)));
  options.train = true;
  EXPECT_EQ(code_of([&] { load_script(folder("m.pt"), options); }), Code::unsupported);
}

TEST(Modules, AnArchiveMayWriteSomeOutputsOnly) {
  const char* json = R"({"version": 2, "in_keys": ["x"], "out_keys": ["a", "b"],
    "select_out_keys": [["b"]]})";
  const ModulePtr module =
      through_file(of_code("def forward(self, x):\n  return x * self.w, x + self.w\n"), json);
  EXPECT_EQ(show_keys(module->out_keys()), "\"b\"");
  const TensorDict td = input();
  TensorDict want = dict({2});
  want.set({"b"}, td.get({"x"}) + 2);
  EXPECT_TRUE(module->call(td).equal(want));
  const TempFolder folder;
  save_script(*module, folder("again.pt"));
  EXPECT_TRUE(load_script(folder("again.pt"))->call(td).equal(want));
}

TEST(Modules, WhatFollowsIsWrittenAsItWasRead) {
  const char* same[] = {
      R"({"version": 2, "in_keys": [["a"]], "out_keys": [["p"]], "then": [{"kind": "normal_params", "in_key": ["p"], "loc_key": ["loc"], "scale_key": ["scale"], "scale_mapping": "exp", "scale_lb": 0.125}]})",
      R"({"version": 2, "in_keys": [], "out_keys": [], "then": [{"kind": "probabilistic", "distributions": [{"distribution": "Categorical", "in_keys": [["l"]], "names": ["logits"], "out_key": ["a"], "log_prob_key": ["n", "p"], "event": true}, {"distribution": "Normal", "in_keys": [["l"], ["m"], ["s"]], "names": ["logits", "loc", "scale"], "out_key": ["c"], "mixture": true}, {"distribution": "TruncatedNormal", "in_keys": [["m"], ["s"]], "names": ["loc", "scale"], "out_key": ["b"], "low": -0.5, "high": 1e+20, "tanh_loc": true, "upscale": 3}], "interaction": "random", "return_log_prob": true, "num_samples": 4, "seed": 18446744073709551615}], "select_out_keys": []})",
      R"({"version": 2, "in_keys": [], "out_keys": [], "then": [{"kind": "probabilistic", "distributions": [], "interaction": "mode", "return_log_prob": false, "num_samples": 0, "seed_key": ["seed"]}]})",
      R"({"version": 3, "in_keys": [["x"]], "out_keys": [["y"]], "inputs": [{"dtype": "torch.float32", "shape": [-1, 4]}], "batch": {"dims": 1, "direct": [1], "flat": [0, 1, 2, 3], "front": [3], "empty": false}, "then": [{"kind": "probabilistic", "distributions": [{"distribution": "TanhNormal", "in_keys": [["m"], ["s"]], "names": ["loc", "scale"], "out_key": ["b"], "low": [-1, -2.5], "high": [1, 2]}], "interaction": "random", "return_log_prob": true, "num_samples": 0}]})"};
  EXPECT_EQ(script_meta_json(read_script_meta(two_networks, "f")), two_networks);
  for (const char* json : same) EXPECT_EQ(script_meta_json(read_script_meta(json, "f")), json);
}

TEST(Modules, EachElementMayHaveItsBounds) {
  DistributionShape shape;
  shape.kind = DistributionKind::tanh_normal;
  shape.lows = {-1, -2};
  shape.highs = {1, 4};
  const at::Tensor loc = at::tensor({0.5, -0.25}, at::kFloat).expand({3, 2}),
                   scale = at::ones({3, 2});
  const auto both = make_distribution(shape, {"loc", "scale"}, {loc, scale});
  const at::Tensor value = both->deterministic();
  at::Tensor log_prob = at::zeros({3});
  for (std::int64_t i = 0; i < 2; ++i) {
    DistributionShape one;
    one.kind = DistributionKind::tanh_normal;
    one.low = shape.lows[static_cast<std::size_t>(i)];
    one.high = shape.highs[static_cast<std::size_t>(i)];
    const auto alone =
        make_distribution(one, {"loc", "scale"}, {loc.narrow(-1, i, 1), scale.narrow(-1, i, 1)});
    EXPECT_TRUE(alone->deterministic().allclose(value.narrow(-1, i, 1)));
    log_prob += alone->log_prob(value.narrow(-1, i, 1));
  }
  EXPECT_TRUE(both->log_prob(value).allclose(log_prob));
  EXPECT_EQ(code_of([&] {
              make_distribution(shape, {"loc", "scale"}, {at::ones({3}), at::ones({3})});
            }),
            Code::shape);
  shape.kind = DistributionKind::truncated_normal;
  const at::Tensor drawn =
      make_distribution(shape, {"loc", "scale"}, {loc, scale})->sample({100}, {});
  EXPECT_TRUE(drawn.select(-1, 0).abs().le(1).all().item<bool>());
  EXPECT_TRUE(drawn.select(-1, 1).max().item<float>() > 1);
}

// A normal value, and what is made of it: torch gave the numbers.
TEST(Modules, TransformedDistributions) {
  DistributionShape shape;
  shape.kind = DistributionKind::transformed;
  shape.transformed.transforms.resize(2);
  shape.transformed.transforms[0].kind = TransformSpec::Kind::tanh;
  shape.transformed.transforms[1].loc = {1, -2};
  shape.transformed.transforms[1].scale = {2, -0.5};
  shape.transformed.deterministic = ValueSource::moved;
  const at::Tensor loc = at::tensor({0.5, -0.25}, at::kDouble).expand({3, 2}),
                   scale = at::tensor({1.0, 0.5}, at::kDouble).expand({3, 2});
  const auto made = [&] { return make_distribution(shape, {"loc", "scale"}, {loc, scale}); };
  const at::Tensor value = made()->deterministic();
  EXPECT_TRUE(
      value[0].allclose(at::tensor({1.9242343145200196, -1.8775406687981454}, at::kDouble)));
  const at::Tensor each = at::tensor({-1.3718566998, 0.5292154352}, at::kDouble);
  EXPECT_TRUE(made()->log_prob(value)[1].allclose(each, 1e-4, 1e-4)) << made()->log_prob(value)[1];
  shape.transformed.event = true;
  EXPECT_TRUE(made()->log_prob(value).allclose(each.sum().expand({3}), 1e-4, 1e-4));
  EXPECT_EQ(code_of([&] { made()->mode(); }), Code::unsupported);
  EXPECT_EQ(made()->estimates_mean(), 1000);
  EXPECT_EQ(made()->estimates_deterministic(), 0);
  const auto drawn_of = made();
  const Draw drawn = drawn_of->draw({50}, {});
  EXPECT_TRUE(drawn.log_prob.allclose(made()->log_prob(drawn.value)));
  shape.transformed.transforms[1].loc = shape.transformed.transforms[1].scale = {1, 2, 3};
  EXPECT_EQ(code_of([&] { made()->deterministic(); }), Code::shape);
}

// What a transform makes of a value is scored as its inverse would be, the other way round.
TEST(Modules, TransformsAndTheirInverses) {
  const at::Tensor x = at::tensor({0.3, 0.7}, at::kDouble);
  for (const auto kind :
       {TransformSpec::Kind::affine, TransformSpec::Kind::tanh, TransformSpec::Kind::sigmoid,
        TransformSpec::Kind::exp, TransformSpec::Kind::softplus, TransformSpec::Kind::power}) {
    TransformSpec one, other;
    one.kind = other.kind = kind;
    one.loc = other.loc = {1, -2};
    one.scale = other.scale = {2, -0.5};
    one.exponent = other.exponent = {2, -0.5};
    other.inverse = true;
    const at::Tensor y = transformed(one, x);
    EXPECT_TRUE(transformed_back(one, y).allclose(x));
    EXPECT_TRUE(transformed(other, y).allclose(x));
    EXPECT_TRUE(transformed_back(other, x).allclose(y));
    const at::Tensor near = (transformed(one, x + 1e-6) - transformed(one, x - 1e-6)) / 2e-6;
    EXPECT_TRUE(log_slope(one, x).allclose(near.abs().log(), 1e-6, 1e-6)) << transform_name(kind);
    EXPECT_TRUE(log_slope(other, y).allclose(-log_slope(one, x))) << transform_name(kind);
  }
}

// Many values have the tangent 1: one is known by what it was made of, if the transform remembers it.
TEST(Modules, ScoresOfDrawsAtABound) {
  DistributionShape shape;
  const std::vector<at::Tensor> values = {at::full({4, 2}, 20.0F), at::full({4, 2}, 0.1F)};
  const auto score = [&] {
    const auto of = make_distribution(shape, {"loc", "scale"}, values);
    return of->draw({}, {}).log_prob.mean().item<double>();
  };
  shape.kind = DistributionKind::tanh_normal;
  EXPECT_NEAR(score(), 2 * (38.61 + 0.88), 3);  // the slope at 20, and the density of a draw
  shape.kind = DistributionKind::transformed;
  shape.base = DistributionKind::independent_normal;
  shape.transformed.event = true;
  shape.transformed.transforms.resize(1);
  shape.transformed.transforms[0].kind = TransformSpec::Kind::tanh;
  EXPECT_FALSE(std::isfinite(score()));  // as in torch
  shape.transformed.transforms[0].cached = true;
  EXPECT_NEAR(score(), 2 * (38.61 + 0.88), 3);
  shape.transformed.transforms[0].cached = false;
  shape.transformed.joint = true;
  EXPECT_NEAR(score(), 2 * (38.61 + 0.88), 3);
}

TEST(Modules, WhatCannotFollow) {
  // In place of "@": a module behind the network.
  const std::string around = R"({"version": 2, "in_keys": ["x"], "out_keys": ["p"], "then": [@]})";
  const auto transformed = [](const std::string& members) {
    return R"({"kind": "probabilistic", "distributions": [{"distribution": "Transformed", "in_keys": ["loc", "scale"], "out_key": "a", )" +
           members + "}]}";
  };
  const std::tuple<std::string, Code, const char*> bad[] = {
      {"3", Code::format, "then[0] is no object"},
      {"{}", Code::format, R"(then[0] lacks "kind")"},
      {R"({"kind": 3})", Code::format, R"("kind" is no text)"},
      {R"({"kind": "gru"})", Code::unsupported, R"(the kind "gru" is unknown)"},
      {R"({"kind": "normal_params"})", Code::format, R"(lacks "in_key")"},
      {R"({"kind": "normal_params", "in_key": 3})", Code::format, R"("in_key" holds no key)"},
      {R"({"kind": "normal_params", "in_key": []})", Code::key_invalid, ""},
      {R"({"kind": "normal_params", "in_key": "p", "bias": 1})", Code::format,
       R"(unknown member "bias")"},
      {R"({"kind": "normal_params", "in_key": "p", "scale_lb": "1"})", Code::format,
       R"("scale_lb" is no number)"},
      {R"({"kind": "normal_params", "in_key": "p", "scale_lb": NaN})", Code::format,
       R"("scale_lb" is no number)"},
      {R"({"kind": "normal_params", "in_key": "p", "scale_mapping": "sin"})", Code::format,
       R"(the scale mapping is "sin")"},
      {R"({"kind": "network"})", Code::format, R"(lacks "method")"},
      {R"({"kind": "network", "method": "forward"})", Code::format, R"(lacks "in_keys")"},
      {R"({"kind": "network", "method": "second", "in_keys": ["p"], "out_keys": ["a"]})",
       Code::format, R"(the module has no method "second")"},
      {R"({"kind": "network", "method": "forward", "in_keys": ["p", "x"], "out_keys": ["a"]})",
       Code::format, "the module takes 1 inputs, but there are 2 in_keys"},
      {R"({"kind": "network", "method": "forward", "in_keys": ["p"], "out_keys": ["a"], "batch": {"dims": 1}})",
       Code::format, R"(then[0]: "batch" needs "inputs")"},
      {R"({"kind": "network", "method": "forward", "in_keys": ["p"], "out_keys": ["a"], "inputs": [], "batch": {"dims": 1}})",
       Code::format, "describes 0 inputs, but there are 1 in_keys"},
      {R"({"kind": "network", "method": "forward", "in_keys": ["p"], "out_keys": ["a"], "then": []})",
       Code::format, R"(unknown member "then")"},
      {R"({"kind": "probabilistic"})", Code::format, R"(lacks "distributions")"},
      {R"({"kind": "probabilistic", "distributions": {}})", Code::format, "no list"},
      {R"({"kind": "probabilistic", "distributions": []})", Code::format, "no distributions"},
      {R"({"kind": "probabilistic", "distributions": [], "interaction": "best"})", Code::format,
       R"(the interaction is "best")"},
      {R"({"kind": "probabilistic", "distributions": [], "return_log_prob": 1})", Code::format,
       R"("return_log_prob" is no truth value)"},
      {R"({"kind": "probabilistic", "distributions": [], "num_samples": 1.5})", Code::format,
       R"("num_samples" is no whole number)"},
      {R"({"kind": "probabilistic", "distributions": [], "seed": -1})", Code::format,
       R"("seed" is no whole number from 0)"},
      {R"({"kind": "probabilistic", "distributions": [{}]})", Code::format,
       R"(then[0].distributions[0] lacks "distribution")"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Gumbel"}]})",
       Code::unsupported, R"(the distribution "Gumbel" is unknown)"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Delta"}]})", Code::format,
       R"(lacks "in_keys")"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Delta", "in_keys": ["p"]}]})",
       Code::format, R"(lacks "out_key")"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Delta", "in_keys": ["p"], "out_key": "a"}]})",
       Code::format, "Delta has the parameters param, not p"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Delta", "in_keys": ["p"], "names": [], "out_key": "a"}]})",
       Code::format, "0 names for 1 in_keys"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Delta", "in_keys": ["param"], "out_key": "a", "rate": 1}]})",
       Code::format, R"(unknown member "rate")"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "TanhNormal", "in_keys": ["loc", "scale"], "out_key": "a", "low": 1, "high": 1}]})",
       Code::format, "holds no value"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "TanhNormal", "in_keys": ["loc", "scale"], "out_key": "a", "low": [1, 3], "high": 2}]})",
       Code::format, "from 3 to 2 holds no value"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "TanhNormal", "in_keys": ["loc", "scale"], "out_key": "a", "low": [0, 0], "high": [1, 1, 1]}]})",
       Code::format, R"("low" has 2 numbers, "high" 3)"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "TanhNormal", "in_keys": ["loc", "scale"], "out_key": "a", "low": [0, "x"]}]})",
       Code::format, R"("low" is no list of numbers)"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Normal", "in_keys": ["loc", "scale"], "out_key": "a", "low": [0, 0], "high": 1}]})",
       Code::format, "Normal has no bounds, but 2 are given"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Delta", "in_keys": ["param", "logits"], "out_key": "a", "mixture": true}]})",
       Code::format, "Delta is no distribution whose mixtures are supported"},
      {R"({"kind": "probabilistic", "distributions": [{"distribution": "Normal", "in_keys": ["loc", "scale"], "out_key": "a", "mixture": true}]})",
       Code::format, "a mixture of Normal has the parameters loc, logits, scale"},
      {transformed(R"("base": "Normal", "transforms": [{"transform": "exp"}], "low": [0, 0])"),
       Code::format, "Normal has no bounds, but 2 are given"},
      {transformed(R"("transforms": [{"transform": "tanh"}])"), Code::format, R"(lacks "base")"},
      {transformed(R"("base": "Bernoulli", "transforms": [])"), Code::unsupported,
       R"(the base "Bernoulli" is not transformed here)"},
      {transformed(R"("base": "Normal")"), Code::format, R"(lacks "transforms")"},
      {transformed(R"("base": "Normal", "transforms": [])"), Code::format,
       "no list with an object"},
      {transformed(R"("base": "Normal", "transforms": [{"transform": "abs"}])"), Code::unsupported,
       R"(transforms[0]: the transform "abs" is unknown)"},
      {transformed(R"("base": "Normal", "transforms": [{"transform": "power", "exponent": 0}])"),
       Code::format, R"(an "exponent" of 0 has no inverse)"},
      {transformed(R"("base": "Normal", "transforms": [{"transform": "tanh", "exponent": 2}])"),
       Code::format, R"(unknown member "exponent")"},
      {transformed(R"("base": "Normal", "transforms": [{"transform": "tanh", "loc": 1}])"),
       Code::format, R"(unknown member "loc")"},
      {transformed(R"("base": "Normal", "transforms": [{"transform": "affine", "scale": [1, 0]}])"),
       Code::format, R"(a "scale" of 0 has no inverse)"},
      {transformed(
           R"("base": "Normal", "transforms": [{"transform": "affine", "loc": [1, 2, 3], "scale": [1, 2]}])"),
       Code::format, R"("loc" has 3 numbers, "scale" 2)"},
      {transformed(R"("base": "Normal", "transforms": [{"transform": "affine", "loc": ["x"]}])"),
       Code::format, R"("loc" is no list of numbers)"},
      {transformed(R"("base": "TanhNormal", "transforms": [{"transform": "exp"}])"), Code::format,
       R"(TanhNormal is one event, and "event" is false)"},
      {transformed(R"("base": "Normal", "transforms": [{"transform": "exp"}], "estimates": 0)"),
       Code::format, R"("estimates" is 0)"},
      {transformed(
           R"("base": "Normal", "transforms": [{"transform": "exp"}], "values": {"mode": "best"})"),
       Code::unsupported, R"("mode" is "best")"},
      {transformed(
           R"("base": "Normal", "transforms": [{"transform": "exp"}], "values": {"mode": "estimate"})"),
       Code::unsupported, "only means are estimated"}};
  const Script script = of_code("def forward(self, x):\n  return x * self.w\n");
  for (const auto& [module, want, text] : bad) {
    std::string json = around;
    json.replace(json.find('@'), 1, module);
    std::string message;
    const Code code = code_of([&, json] {
      try {
        through_file(script, json.c_str());
      } catch (const Error& error) {
        message = error.what();
        throw;
      }
    });
    EXPECT_EQ(code, want) << module;
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
  for (const char* json :
       {R"({"version": 1, "in_keys": ["x"], "out_keys": ["p"], "then": []})",
        R"({"in_keys": ["x"], "out_keys": ["p"], "select_out_keys": []})",
        R"({"version": 2, "in_keys": ["x"], "out_keys": ["p"], "more": 1})",
        R"({"version": 2, "in_keys": ["x"], "out_keys": ["p"], "then": {}})",
        R"({"version": 2, "in_keys": ["x"], "out_keys": ["p"], "select_out_keys": ["q"]})"})
    EXPECT_EQ(code_of([&] { through_file(script, json); }), Code::format) << json;
}

TEST(Modules, PackagesThatCannotRun) {
  const TempFolder folder;
  const auto written = [&](const char* entry, const std::string& text) {
    zip_file::Writer writer(folder("m.pt2"));
    writer.add(entry, zip_file::Form::stored, text.data(), text.size());
    writer.add("m/archive_format", zip_file::Form::stored, "pt2", 3);
    writer.finish();
    return folder("m.pt2");
  };
  EXPECT_EQ(loading(written("m/models/model.json", "{}")), Code::unsupported);
  const char* place = "m/data/aotinductor/model/a.wrapper_metadata.json";
#if TD_TORCH_HAS_PACKAGES
  EXPECT_EQ(loading(written(place, "{}")), Code::key_not_found);
  EXPECT_EQ(loading(written(place, "[")), Code::format);
  EXPECT_EQ(loading(written(place, R"({"tensordict": "{\"version\": 9}"})")), Code::unsupported);
  const char* keys = R"({"tensordict": "{\"in_keys\": [\"x\"], \"out_keys\": [\"y\"]}"})";
  EXPECT_EQ(loading(written(place, keys)), Code::format);  // no "inputs"
  const char* no_code =
      R"({"tensordict": "{\"version\": 2, \"in_keys\": [\"x\"], \"out_keys\": [\"y\"],
    \"inputs\": [{\"dtype\": \"torch.float32\", \"shape\": [-1, 3]}]}"})";
  std::string line = no_code;
  line.erase(line.find('\n'), 1);
  EXPECT_EQ(loading(written(place, line)), Code::format);
  EXPECT_EQ(loading(written("m/data/aotinductor/../../../a_metadata.json", "{}")), Code::format);
#else
  EXPECT_EQ(loading(written(place, "{}")), Code::unsupported);
#endif
}

TEST(Modules, AnArchiveWithoutKeysNeedsThemInTheOptions) {
  const Script script = of_code("def forward(self, x):\n  return x * self.w\n");
  EXPECT_EQ(code_of([&] { through_file(script, nullptr); }), Code::key_not_found);
  EXPECT_EQ(code_of([&] { through_file(script, "{\"in_keys\": [\"x\"]}"); }), Code::key_not_found);
  EXPECT_EQ(code_of([&] { through_file(script, "no JSON"); }), Code::format);
  Script empty("M");
  EXPECT_EQ(code_of([&] { through_file(empty, R"({"in_keys": [], "out_keys": []})"); }),
            Code::format);
}

}  // namespace
}  // namespace td
