// core/store/reply.h: the answers of a server that speaks Redis' protocol, from its bytes. None of them is trusted.
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
struct Refusal {  // the server's word for an error
  std::string text;
};
struct Reply {
  std::variant<Nil, Status, Refusal, std::int64_t, std::string, std::vector<Reply>> value;
};

// The beginning of what a server says, for a message of one line.
std::string shown_reply(std::string_view text);

// Bytes in, replies out. Code::format where the bytes are of another protocol, or a reply needs more memory than it
// may: memory is taken for bytes that have come, not for those that are announced.
class ReplyReader {
 public:
  ReplyReader(std::uint64_t max_bytes, const std::string& where)
      : where_(where), max_bytes_(max_bytes) {}

  void begin_call() noexcept { fed_ = 0; }
  void feed(std::string_view bytes);
  std::optional<Reply> next();  // nullopt: more bytes are needed

  // Whether all that was fed has been taken.
  bool is_empty() const noexcept {
    return done_.empty() && open_.empty() && line_.empty() && !in_text_;
  }

 private:
  struct Open {  // a list of which elements are missing
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
  std::string line_;  // without its end, which has not come
  bool in_text_ = false;
  std::string text_;
  std::uint64_t text_size_ = 0;
  std::vector<Open> open_;  // each inside the one before
  std::deque<Reply> done_;
};

}  // namespace td::store
