// The text "tensordict.json" in an archive: {"version": 1, "in_keys": [["a", "b"]], "out_keys": [["c"]]}.
#include "core/base/json_reader.h"
#include "core/nn/script.h"

namespace td {

namespace {

constexpr std::int64_t newest_version = 1;
constexpr std::size_t max_keys = 10000;

// A key is a list of names, or one name. Fields that are not known are skipped: a newer version that they
// matter to says so by its number.
class KeysReader final : public json::Reader {
 public:
  explicit KeysReader(const std::string& where) : Reader(where, 64) {}
  ScriptKeys keys;

 private:
  void on_key(std::string& key) override {
    if (depth() != 1) return;
    field_ = key;
    list_ = nullptr;
    if (key == "in_keys") list_ = &keys.in_keys;
    if (key == "out_keys") list_ = &keys.out_keys;
    if (list_ != nullptr && list_->has_value()) fail_here('"', key, "\" stands there twice");
  }
  void on_scalar(const json::Scalar& value) override {
    if (depth() == 0) fail_here("no object");
    if (depth() == 1 && field_ == "version") return check_version(value);
    if (list_ == nullptr) return;
    if (value.kind != json::Scalar::text || depth() == 1) fail_list();
    if (depth() == 2) {
      add({std::string(value.characters)});
    } else {
      names_.emplace_back(value.characters);
    }
  }
  void on_open(bool is_object) override {
    if (depth() == 1 && !is_object) fail_here("no object");
    if (depth() == 1 || list_ == nullptr) return;
    if (is_object || depth() > 3) fail_list();
    if (depth() == 2) list_->emplace();
  }
  void on_close(bool) override {
    if (list_ == nullptr) return;
    if (depth() == 2) add(std::exchange(names_, {}));
    if (depth() == 1) list_ = nullptr;
  }

  void check_version(const json::Scalar& value) const {
    if (value.kind != json::Scalar::integer) fail_here("the version is no number");
    if (value.integral >= 1 && value.integral <= newest_version) return;
    fail(Code::unsupported, "the keys of the module are of version ", value.integral,
         "; this library reads version ", newest_version);
  }
  void add(std::vector<std::string> names) {
    if ((*list_)->size() == max_keys) fail_here("more than ", max_keys, " keys");
    KeyPath key(std::move(names));
    check_path(key);
    (*list_)->push_back(std::move(key));
  }
  [[noreturn]] void fail_list() const {
    fail_here('"', field_, "\" is no list of keys, which are lists of names");
  }

  std::string field_;
  std::optional<KeyPaths>* list_ = nullptr;
  std::vector<std::string> names_;
};

std::string list_json(const KeyPaths& keys) {
  std::string text = "[";
  for (const KeyPath& key : keys) {
    text += text.size() == 1 ? "[" : ", [";
    for (std::size_t i = 0; i < key.names().size(); ++i)
      text += (i == 0 ? "" : ", ") + quote(key.names()[i]);
    text += "]";
  }
  return text + "]";
}

}  // namespace

ScriptKeys read_script_keys(std::string_view json, const std::string& where) {
  KeysReader reader(where);
  reader.run(json);
  return std::move(reader.keys);
}

std::string script_keys_json(const KeyPaths& in_keys, const KeyPaths& out_keys) {
  return "{\"version\": 1, \"in_keys\": " + list_json(in_keys) +
         ", \"out_keys\": " + list_json(out_keys) + "}";
}

}  // namespace td
