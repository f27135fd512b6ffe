// TorchScript modules of every form, written here: what they may return, what they share, how they fail.
#include "core/io/zip_file.h"
#include "core/nn/function.h"
#include "core/nn/probabilistic.h"
#include "core/nn/script.h"
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

Code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.code();
  }
  return Code::ok;
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
    EXPECT_EQ(td.keys().keys.size(), 1U);
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
  const ScriptKeys keys = read_script_keys(
      R"({"version": 1, "in_keys": [["a", "b"], "c"], "more": {"in_keys": [1]}, "out_keys": []})",
      "f");
  ASSERT_TRUE(keys.in_keys && keys.out_keys);
  EXPECT_EQ(show_keys(*keys.in_keys), R"("a"/"b", "c")");
  EXPECT_TRUE(keys.out_keys->empty());
  EXPECT_FALSE(read_script_keys("{}", "f").in_keys.has_value());
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
      {R"({"version": 2})", Code::unsupported},
      {R"({"version": 0})", Code::unsupported}};
  for (const auto& [text, want] : bad)
    EXPECT_EQ(code_of([&, text = text] { read_script_keys(text, "f"); }), want) << text;
  const KeyPaths in = {key({"a\"", "b"})}, out = {key({"c"})};
  EXPECT_EQ(script_keys_json(in, out),
            R"({"version": 1, "in_keys": [["a\"", "b"]], "out_keys": [["c"]]})");
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
