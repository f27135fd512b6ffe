// Edits texts of meta.json files.
#include "core/formats/format.h"

#include "core/formats/json_reader.h"

#include <utility>

namespace td::format {

using namespace json;

namespace {

// Copies a dictionary's text and inserts fields before its own attributes.
class EntryAdder final : public Copier {
 public:
  EntryAdder(const std::string& where, std::string_view fields)
      : Copier(where, max_json_depth), fields_(fields) {}

 private:
  void on_key(std::string_view key) override {
    const std::string_view fields = depth() == 1 && reserved(key) ? fields_ : std::string_view();
    if (!fields.empty()) add_text(std::exchange(fields_, {}));
    Copier::on_key(key);
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
  other.remove_suffix(rest.size() + 1);  // including the comma before it
  EntryAdder adder(where, other);
  adder.run(text);
  return adder.take();
}

}  // namespace td::format
