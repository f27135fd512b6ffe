// core/store/reply.h: parses replies in Redis' protocol. The bytes are not trusted.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace td::store {

struct Nil {};
struct Status {
  std::string text;
};
struct Refusal {  // an error reply
  std::string text;
};
struct Reply {
  std::variant<Nil, Status, Refusal, std::int64_t, std::string, std::vector<Reply>> value;
};

// The beginning of a reply, for a one-line message.
std::string shown_reply(std::string_view text);

// Bytes in, replies out. Throws Code::format for bytes of another protocol, and for a reply above
// the limits of one call: its bytes, and the elements of its lists. Memory grows with what has arrived, not
// with announced lengths.
class ReplyReader {
 public:
  ReplyReader(std::uint64_t max_bytes, const std::string& where)
      : where_(where), max_bytes_(max_bytes) {}

  void begin_call() noexcept { fed_ = elements_ = 0; }
  void feed(std::string_view bytes);
  std::optional<Reply> next();  // nullopt: needs more bytes

  // Whether no reply and no part of one is left.
  bool is_empty() const noexcept {
    return done_.empty() && open_.empty() && line_.empty() && !in_text_;
  }

 private:
  struct Open {  // a list with elements missing
    std::vector<Reply> elements;
    std::uint64_t missing;
  };

  void take_line(std::string_view line);
  void begin_text(std::uint64_t size);
  void begin_list(std::uint64_t size);
  void complete(Reply reply);
  std::int64_t number_of(std::string_view line) const;
  [[noreturn]] void fail_protocol(std::string_view line) const;
  [[noreturn]] void fail_large() const;

  const std::string& where_;
  std::uint64_t max_bytes_, fed_ = 0, elements_ = 0;
  bool tls_alert_ = false;
  std::string line_;  // without its end, which has not arrived
  bool in_text_ = false;
  std::string text_;
  std::uint64_t text_size_ = 0;
  std::vector<Open> open_;  // each inside the one before
  std::deque<Reply> done_;
};

}  // namespace td::store
