// Reads what Python's tensordict has written and a manifest describes, and writes it again.
//
//   golden DIR [CASE...]
//
// Each case of DIR/manifest.json is loaded and held against what the manifest says of it; then it is saved
// in the form in which it came, and the same files must come out. Ends with "N passed, N failed".
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "compare.h"
#include "walk.h"

namespace golden {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error(what); }

std::string show(const Json &json) {
  const std::string text = json.dump();
  return text.size() <= 300 ? text : text.substr(0, 300) + "...";
}

// Paths may be written with other spaces.
std::string canonical(const std::string &path) { return parse(path).dump(); }

template <class Map>
void require_same_keys(const std::set<std::string> &want, const Map &got, const char *what) {
  for (const std::string &path : want) {
    if (got.count(path) == 0) fail(std::string(what) + " " + path + " is missing");
  }
  for (const auto &[path, ignored] : got) {
    if (want.count(path) == 0) fail(std::string(what) + " " + path + " is not in the manifest");
  }
}

// A tensorclass may be called by its own name, with or without its module, or by the class below it.
bool same_class(const std::string &want, const Node &node) {
  if (want == node.type) return true;
  if (node.tensorclass.empty()) return want == "SubTensorDict" && node.type == "_SubTensorDict";
  const auto last = [](const std::string &name) { return name.substr(name.rfind('.') + 1); };
  return last(want) == last(node.tensorclass);
}

void check_nodes(const Json &want, const Content &got) {
  std::set<std::string> paths;
  for (const auto &[raw, node] : want.items()) {
    const std::string path = canonical(raw);
    paths.insert(path);
    const auto found = got.nodes.find(path);
    if (found == got.nodes.end()) fail("node " + path + " is missing");
    const Node &have = found->second;
    if (node.contains("class") && !same_class(node.at("class").get<std::string>(), have)) {
      fail("node " + path + " is a " + have.type + ", not a " + show(node.at("class")));
    }
    if (node.contains("batch") && node.at("batch") != Json(have.batch)) {
      fail("node " + path + " has batch size " + show(have.batch) + ", not " +
           show(node.at("batch")));
    }
    if (node.contains("names") && node.at("names") != Json(have.names)) {
      fail("node " + path + " has the names " + show(have.names) + ", not " +
           show(node.at("names")));
    }
    if (node.contains("stack_dim") && have.stack_dim >= 0 &&
        node.at("stack_dim") != Json(have.stack_dim)) {
      fail("node " + path + " is stacked along " + std::to_string(have.stack_dim));
    }
  }
  require_same_keys(paths, got.nodes, "node");
}

void check_leaves(const Json &want, const Content &got) {
  std::set<std::string> paths;
  for (const auto &[raw, leaf] : want.items()) {
    const std::string path = canonical(raw);
    paths.insert(path);
    const auto found = got.leaves.find(path);
    if (found == got.leaves.end()) fail("tensor " + path + " is missing");
    const Leaf &have = found->second;
    const bool has_number = have.dtype != "another dtype";  // float8, for one, has none in the ABI
    if (has_number && leaf.contains("dtype") && leaf.at("dtype") != have.dtype) {
      fail("tensor " + path + " has dtype " + have.dtype + ", not " + show(leaf.at("dtype")));
    }
    if (leaf.contains("ragged") != have.is_nested_tensor) {
      fail("tensor " + path + (have.is_nested_tensor ? " is" : " is not") + " ragged");
    }
    const char *sizes = have.is_nested_tensor ? "ragged" : "shape";
    const Json shape = have.is_nested_tensor ? Json(have.parts) : Json(have.shape);
    if (leaf.contains(sizes) && leaf.at(sizes) != shape) {
      fail("tensor " + path + " has shape " + show(shape) + ", not " + show(leaf.at(sizes)));
    }
    if (leaf.contains("sha256") && leaf.at("sha256") != have.sha256) {
      fail("tensor " + path + " has other values");
    }
  }
  require_same_keys(paths, got.leaves, "tensor");
}

void check_data(const Json &want, const Content &got) {
  std::set<std::string> paths;
  const std::set<std::string> empty(got.empty_fields.begin(), got.empty_fields.end());
  for (const auto &[raw, value] : want.items()) {
    const std::string path = canonical(raw);
    if (value.is_null() && empty.count(path) != 0)
      continue;  // a field of a tensorclass without a value
    paths.insert(path);
    const auto found = got.data.find(path);
    if (found == got.data.end()) fail("value " + path + " is missing");
    if (found->second != value) {
      fail("value " + path + " is " + show(found->second) + ", not " + show(value));
    }
  }
  require_same_keys(paths, got.data, "value");
}

struct Case {
  std::string name, path, kind;
  Json json;
};

Dict load(const Case &one) {
  if (one.kind == "consolidated") {
    return made<Dict>(
        [&](auto result) { return td_consolidated_load(one.path.c_str(), nullptr, result); });
  }
  const bool folder = fs::is_directory(one.path) || one.kind == "archive";
  return made<Dict>([&](auto result) {
    return folder ? td_memmap_load(one.path.c_str(), nullptr, result)
                  : td_file_load(one.path.c_str(), nullptr, result);
  });
}

// dtypes that this libtorch lacks, or no libtorch can load: the one of the case that the library names.
bool refused_dtype(const Case &one, const Refused &refusal) {
  if (refusal.status != TD_ERR_DTYPE && refusal.status != TD_ERR_UNSUPPORTED) return false;
  static const std::set<std::string> lacking = {"torch.uint16",  "torch.uint32", "torch.uint64",
                                                "torch.qint8",   "torch.quint8", "torch.qint32",
                                                "torch.quint4x2"};
  const Json leaves = one.json.value("leaves", Json::object());
  for (const Json &leaf : leaves) {
    const std::string dtype = leaf.value("dtype", "");
    if (lacking.count(dtype) != 0 && std::string(refusal.what()).find(dtype) != std::string::npos) {
      return true;
    }
  }
  return false;
}

void save_again(const Case &one, const fs::path &scratch) {
  const Dict td = load(one);
  const std::string target = (scratch / "again").string();
  if (one.kind == "consolidated") {
    made<Dict>(
        [&](auto result) { return td_consolidate(td.get(), target.c_str(), nullptr, result); });
    return compare_consolidated(one.path, target);
  }
  if (one.kind == "safetensors" || one.kind == "h5") {
    const std::string file = target + "." + one.kind;
    check(td_file_save(td.get(), file.c_str(), nullptr));
    if (one.kind == "safetensors" && one.json.at("batch") != Json::array())
      return compare_files(one.path, file, one.name);
    return;
  }
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.copy_existing = 1;
  if (one.kind == "memmap") {
    made<Dict>([&](auto result) { return td_memmap(td.get(), target.c_str(), &options, result); });
    return compare_folders(one.path, target);
  }
  const std::string archive = target + ".tdz", before = (scratch / "before").string();
  made<Dict>([&](auto result) { return td_memmap(td.get(), archive.c_str(), &options, result); });
  check(td_memmap_unpack(one.path.c_str(), before.c_str(), nullptr));
  check(td_memmap_unpack(archive.c_str(), target.c_str(), nullptr));
  compare_folders(before, target);
}

// What happened, beside passing.
std::string run(const Case &one, const fs::path &scratch) {
  Dict td;
  if (one.kind == "refuse" || one.json.contains("refused")) {
    try {
      load(one);
    } catch (const Refused &refusal) {
      return std::string(" (refused: ") + refusal.what() + ")";
    }
    fail("it was read, and is to be refused");
  }
  try {
    td = load(one);
  } catch (const Refused &refusal) {
    if (refused_dtype(one, refusal)) return std::string(" (refused: ") + refusal.what() + ")";
    throw;
  }
  const Content content = content_of(td.get());
  const Json &json = one.json;
  if (json.contains("nodes")) check_nodes(json.at("nodes"), content);
  if (json.contains("leaves")) check_leaves(json.at("leaves"), content);
  if (json.contains("data")) check_data(json.at("data"), content);
  if (json.contains("batch") && json.at("batch") != Json(content.nodes.at("[]").batch)) {
    fail("the batch size is " + show(content.nodes.at("[]").batch) + ", not " +
         show(json.at("batch")));
  }
  td.reset();
  save_again(one, scratch);
  return {};
}

// A folder that goes when all is done.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "golden-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail("cannot make a folder for what is saved");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path &path() const { return path_; }

 private:
  fs::path path_;
};

int run_all(const std::string &dir, const std::set<std::string> &chosen) {
  const Json manifest = parse(read_file((fs::path(dir) / "manifest.json").string()));
  const Scratch scratch;
  int passed = 0, failed = 0;
  for (const auto &[name, json] : manifest.at("cases").items()) {
    if (!chosen.empty() && chosen.count(name) == 0) continue;
    const fs::path place = scratch.path() / std::to_string(passed + failed);
    fs::create_directory(place);
    try {
      const Case one{name, (fs::path(dir) / name).string(), json.value("kind", "memmap"), json};
      const std::string note = run(one, place);
      std::printf("ok %s%s\n", name.c_str(), note.c_str());
      ++passed;
    } catch (const std::exception &error) {
      std::printf("FAILED %s: %s\n", name.c_str(), error.what());
      ++failed;
    }
    std::error_code ignored;
    fs::remove_all(place, ignored);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace golden

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: golden DIR [CASE...]\n");
    return 2;
  }
  try {
    return golden::run_all(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception &error) {
    std::fprintf(stderr, "golden: %s\n", error.what());
    return 2;
  }
}
