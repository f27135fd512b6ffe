// core/formats/events.h: a value told part by part, in the order of a text. Who reads a format calls these functions,
// who writes one has them, and neither needs the whole in memory.
#pragma once

#include "core/formats/plain.h"

#include <string>
#include <utility>

namespace td {

class Events {
 public:
  virtual ~Events() = default;

  virtual void add(const Plain& value) = 0;  // a value without items
  virtual void open(bool is_object) = 0;
  virtual void name(std::string_view name) = 0;  // of the next item of an object
  virtual void close(bool is_object) = 0;
};

// Recurses: who made the value has bounded its depth.
void send(const Plain& value, Events& to);

// A writer of some format into a text.
class TextEvents : public Events {
 public:
  std::size_t size() const noexcept { return text_.size(); }
  std::string take() { return std::exchange(text_, {}); }

 protected:
  std::string text_;
};

// JSON: compact, or as Python's json.dumps spells it, with spaces and \u for what is not ASCII.
enum class JsonStyle { compact, python };

class JsonEvents final : public TextEvents {
 public:
  explicit JsonEvents(JsonStyle style = JsonStyle::compact) : style_(style) {}

  void add(const Plain& value) override;
  void open(bool is_object) override;
  void name(std::string_view name) override;
  void close(bool is_object) override { text_ += is_object ? '}' : ']'; }

  // An item or a member whose text is known.
  void add_text(std::string_view text);
  // A space between two items, for people to read.
  void add_space() { text_ += ", "; }

 private:
  void separate();
  void add_quoted(std::string_view text);

  JsonStyle style_;
};

}  // namespace td
