// Texts of meta.json files that are made of others.
#include "core/meta/format.h"

#include "core/meta/json_reader.h"

#include <utility>

namespace td::format {

namespace {

// The first elements of a list.
class ListHead final : public Copier {
 public:
  ListHead(const std::string& where, std::size_t length)
      : Copier(where, max_json_depth + 1), left_(length) {}

 private:
  void on_key(std::string& key) override {
    if (inside_) Copier::on_key(key);
  }
  void on_scalar(const Scalar& value) override {
    if (depth() == 1) take_one();
    if (inside_) Copier::on_scalar(value);
  }
  void on_open(bool is_object) override {
    if (depth() == 1) is_list_ = !is_object;
    if (depth() == 2) take_one();
    if (inside_) Copier::on_open(is_object);
  }
  void on_close(bool is_object) override {
    if (inside_ || depth() == 0) Copier::on_close(is_object);
  }
  void take_one() {
    inside_ = !is_list_ || left_ > 0;
    if (is_list_ && left_ > 0) --left_;
  }

  std::size_t left_;
  bool is_list_ = false;
  bool inside_ = true;
};

// Copies a dictionary and puts fields before those of the dictionary itself.
class EntryAdder final : public Copier {
 public:
  EntryAdder(const std::string& where, std::string_view fields)
      : Copier(where, max_json_depth), fields_(fields) {}

 private:
  void on_key(std::string& key) override {
    if (depth() == 1 && reserved(key)) add(std::exchange(fields_, {}));
    Copier::on_key(key);
  }
  void add(std::string_view fields) {
    if (!fields.empty()) Copier::add(fields);
  }

  std::string_view fields_;
};

}  // namespace

std::string with_entry(std::string_view text, const std::string& where, std::string_view other) {
  constexpr Limits limits{max_json_depth, static_cast<std::size_t>(-1)};
  const NodeText old = read_node(text, where, limits);
  const NodeText added = read_node(other, where, limits);
  if (old.type != NodeType::dense) fail(Code::format, where, ": not a dictionary");
  for (const Entry& entry : old.entries) {
    if (entry.key != added.entries.front().key) continue;
    fail(Code::key_exists, where, ": there is an entry ", quote(entry.key),
         " already, which the dictionary does not have: refresh it");
  }
  if (old.batch != added.batch) {
    fail(Code::shape, where, ": the batch size is ", show_sizes(old.batch), ", the dictionary has ",
         show_sizes(added.batch), ": refresh it");
  }
  const std::string rest = DenseText().finish(added.batch, "cpu").substr(1);
  other.remove_prefix(1);
  other.remove_suffix(rest.size() + 1);  // and the comma before it
  EntryAdder adder(where, other);
  adder.run(text);
  return adder.take();
}

std::string head_of_list(std::string_view json, std::size_t length) {
  const std::string where = "a list";
  ListHead head(where, length);
  head.run(json);
  return head.take();
}

std::string compact(std::string_view json, const std::string& where, std::size_t depth) {
  Copier copier(where, depth);
  copier.run(json);
  return copier.take();
}

}  // namespace td::format
