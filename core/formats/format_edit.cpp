// Edits texts of meta.json files.
#include "core/formats/format.h"

#include "core/formats/json_reader.h"

#include <utility>

namespace td::format {

using namespace json;

namespace {

// Copies a dictionary's text and inserts an entry before its own attributes. An attribute of the same name goes.
class EntryAdder final : public Copier {
 public:
  EntryAdder(const std::string& where, std::string_view key, std::string_view entry)
      : Copier(where, max_json_depth), added_(key), entry_(entry) {}

 private:
  void on_key(std::string_view key) override {
    if (depth() == 1) {
      dropping_ = key == added_;
      if (reserved(key) && !entry_.empty()) {
        Copier::on_key(added_);
        add_text(std::exchange(entry_, {}));
      }
    }
    if (!dropping_) Copier::on_key(key);
  }
  void on_scalar(const Plain& value) override {
    if (!dropping_) Copier::on_scalar(value);
  }
  void on_open(bool is_object) override {
    if (!dropping_) Copier::on_open(is_object);
  }
  void on_close(bool is_object) override {
    if (!dropping_ || depth() == 0) Copier::on_close(is_object);
  }

  std::string_view added_;
  std::string_view entry_;
  bool dropping_ = false;
};

// The text of the first entry of a dictionary.
class EntryText final : public Copier {
 public:
  using Copier::Copier;

 private:
  void on_key(std::string_view key) override {
    if (depth() == 1) {
      ++entries_;
    } else if (entries_ == 1) {
      Copier::on_key(key);
    }
  }
  void on_scalar(const Plain& value) override {
    if (entries_ == 1) Copier::on_scalar(value);
  }
  void on_open(bool is_object) override {
    if (entries_ == 1) Copier::on_open(is_object);
  }
  void on_close(bool is_object) override {
    if (entries_ == 1 && depth() != 0) Copier::on_close(is_object);
  }

  std::size_t entries_ = 0;
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
  EntryText entry(where, max_json_depth);
  entry.run(other);
  const std::string entry_text = entry.take();
  EntryAdder adder(where, added.entries.front().key, entry_text);
  adder.run(text);
  return adder.take();
}

}  // namespace td::format
