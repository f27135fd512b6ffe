#include "compare.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace golden {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error(what); }

bool ends_with(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string field(const Json &json, const char *name) {
  const auto found = json.find(name);
  return found == json.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

// What every release means alike. Of a dictionary, fields that are no objects and mean nothing are left out.
Json normal(Json meta) {
  const std::string type = field(meta, "_type");
  if (type == "<class 'tensordict._td.TensorDict'>") {
    Json result = {{"_type", type}};
    result["shape"] = meta.value("shape", Json::array());
    for (auto &[key, entry] : meta.items()) {
      if (key == "_names" && entry.is_array()) result[key] = entry;
      if (!entry.is_object()) continue;
      if (!entry.contains("type")) {
        if (!entry.contains("is_nested")) entry["is_nested"] = false;
        entry.erase("device");
      } else {
        entry = {{"type", "a node"}};  // its own meta.json says what it is
      }
      result[key] = entry;
    }
    return result;
  }
  for (const char *name : {"_format_version", "_class"}) meta.erase(name);
  if (meta.value("stack_dim_name", Json()).is_null()) meta.erase("stack_dim_name");
  if (ends_with(type, "MetaData'>"))
    meta["_type"] = "<class 'tensordict.tensorclass.NonTensorData'>";
  if (ends_with(type, "NonTensorData'>") || ends_with(type, "MetaData'>")) {
    meta.erase("_is_non_tensor");
    meta.erase("_metadata");
  }
  return meta;
}

// Nodes that the first releases did not list.
void add_unlisted(Json &old_meta, const Json &new_meta) {
  for (const auto &[key, entry] : new_meta.items()) {
    if (entry.is_object() && entry.contains("type") && !old_meta.contains(key))
      old_meta[key] = entry;
  }
}

bool lists_nodes(const Json &meta) {
  return std::any_of(meta.begin(), meta.end(), [](const Json &entry) {
    return entry.is_object() && (entry.contains("type") || entry.contains("is_nested"));
  });
}

void compare_meta(const fs::path &old_file, const fs::path &new_file, const std::string &name) {
  const Json old_raw = parse(read_file(old_file.string()));
  Json old_meta = normal(old_raw);
  const Json new_meta = normal(parse(read_file(new_file.string())));
  if (!lists_nodes(old_raw)) add_unlisted(old_meta, new_meta);
  if (old_meta != new_meta) {
    fail(name + " differs: " + old_meta.dump() + " was there, " + new_meta.dump() + " was written");
  }
}

// Bytes that the values of a leaf take, by the meta.json beside it; -1: not known.
void compare_bytes(const fs::path &old_file, const fs::path &new_file, const std::string &name) {
  const std::string before = read_file(old_file.string());
  const std::string after = read_file(new_file.string());
  const bool longer_before = ends_with(name, ".memmap") && before.size() > after.size();
  if (!longer_before && before.size() != after.size()) {
    fail(name + " has " + std::to_string(after.size()) + " bytes, not " +
         std::to_string(before.size()));
  }
  if (before.compare(0, after.size(), after) != 0) fail(name + " has other bytes");
}

// The files below a folder, by their paths from there.
std::vector<std::string> files_in(const fs::path &dir) {
  std::vector<std::string> result;
  for (const auto &entry : fs::recursive_directory_iterator(dir)) {
    if (!entry.is_directory()) result.push_back(fs::relative(entry.path(), dir).string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string decoded(const std::string &name) {
  if (name == "%") return "";
  std::string key;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool code = name[i] == '%' && i + 2 < name.size() + 0 && digit(name[i + 1]) >= 0 &&
                      digit(name[i + 2]) >= 0;
    if (code) {
      key += static_cast<char>(digit(name[i + 1]) * 16 + digit(name[i + 2]));
      i += 2;
    } else {
      key += name[i];
    }
  }
  return key;
}

// Whether the meta.json files of a folder lead to one of its files.
bool is_named(const fs::path &dir, const fs::path &file) {
  fs::path at = dir;
  Json meta;
  for (const fs::path &part : file) {
    const std::string name = part.string();
    if (!fs::exists(at / "meta.json")) return false;
    meta = parse(read_file((at / "meta.json").string()));
    const std::string type = field(meta, "_type");
    const bool last = fs::relative(dir / file, at).string() == name;
    if (last) {
      if (name == "meta.json") return true;
      for (const std::string suffix : {".shape.memmap", ".memmap"}) {
        if (!ends_with(name, suffix)) continue;
        const std::string stem = name.substr(0, name.size() - suffix.size());
        if (meta.contains(stem) || meta.contains(decoded(stem))) return true;
      }
      return false;
    }
    const bool inner = name == "_tensordict" || name == "_source" ||
                       (ends_with(type, "LazyStackedTensorDict'>") &&
                        name.find_first_not_of("0123456789") == std::string::npos);
    const bool listed = meta.contains(name) || meta.contains(decoded(name));
    if (!inner && !listed && lists_nodes(meta)) return false;
    at /= part;
  }
  return false;
}

// A nested tensorclass is written as the dictionary that it holds, which all releases of Python read.
void forget_classes(Json &node) {
  const std::string cls = field(node, "cls");
  if (cls.compare(0, 7, "<class ") == 0) node["cls"] = "TensorDict";
  for (auto &[name, inner] : node.items()) {
    const bool own = name == "non_tensors" || name == "leaves" || name == "cls_metadata";
    if (!own && inner.is_object()) forget_classes(inner);
  }
}

}  // namespace

void compare_folders(const std::string &old_dir, const std::string &new_dir) {
  const std::vector<std::string> before = files_in(old_dir), after = files_in(new_dir);
  for (const std::string &name : after) {
    fs::path old_file = fs::path(old_dir) / name;
    if (!fs::exists(old_file)) {
      // Before 0.11 names were the keys as they are.
      fs::path plain;
      for (const fs::path &part : fs::path(name)) plain /= decoded(part.string());
      old_file = fs::path(old_dir) / plain;
      if (!fs::exists(old_file)) fail(name + " was not there before");
    }
    if (fs::path(name).filename() == "meta.json") {
      compare_meta(old_file, fs::path(new_dir) / name, name);
    } else {
      compare_bytes(old_file, fs::path(new_dir) / name, name);
    }
  }
  for (const std::string &name : before) {
    if (std::binary_search(after.begin(), after.end(), name)) continue;
    if (!is_named(old_dir, name)) continue;
    const bool pickle = fs::path(name).filename().extension() == ".pickle";
    if (!pickle && fs::file_size(fs::path(old_dir) / name) != 0)
      fail(name + " was not written again");
  }
}

void compare_files(const std::string &old_file, const std::string &new_file,
                   const std::string &name) {
  const std::string before = read_file(old_file), after = read_file(new_file);
  if (before == after) return;
  const auto differ = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto at = static_cast<size_t>(differ.first - before.begin());
  const size_t from = at < 40 ? 0 : at - 40;
  fail(name + " differs at byte " + std::to_string(at) + ": " + before.substr(from, 120) +
       " was there, " + after.substr(from, 120) + " was written");
}

void compare_consolidated(const std::string &old_file, const std::string &new_file) {
  std::string parts[2][2];
  for (int i = 0; i < 2; ++i) {
    const std::string all = read_file(i == 0 ? old_file : new_file);
    std::int64_t length = 0;
    if (all.size() < sizeof length) fail("the file is too short");
    std::memcpy(&length, all.data() + all.size() - sizeof length, sizeof length);
    const size_t text = all.size() - sizeof length - static_cast<size_t>(length);
    parts[i][0] = all.substr(0, text);
    parts[i][1] = all.substr(text, static_cast<size_t>(length));
  }
  if (parts[0][0] != parts[1][0]) fail("the bytes of the tensors differ");
  Json before = parse(parts[0][1]);
  const Json after = parse(parts[1][1]);
  forget_classes(before);
  if (before != after) {
    fail("the description differs: " + before.dump() + " was there, " + after.dump() +
         " was written");
  }
}

}  // namespace golden
