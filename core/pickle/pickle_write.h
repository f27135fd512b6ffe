// core/pickle/pickle_write.h: pickles of plain values, for Python to read.
#pragma once

#include "core/formats/events.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace td::pickled {

// Writes a pickle of dicts, lists, texts and numbers for pickle.loads(): one dict, at whose end `more` is added.
// Code::key_invalid if it has a member of that name.
class PickleEvents final : public TextEvents {
 public:
  using Members = std::vector<std::pair<std::string_view, Plain>>;
  explicit PickleEvents(Members more);

  void add(const Plain& value) override;
  void open(bool is_object) override;
  void name(std::string_view name) override;
  void close(bool is_object) override;

 private:
  void append(std::uint64_t value, int bytes);
  void append_text(std::string_view characters);

  Members more_;
  std::size_t depth_ = 0;
};

}  // namespace td::pickled
