#include "core/store/reply.h"

#include "core/base/error.h"

#include <algorithm>
#include <charconv>

namespace td::store {

namespace {

// Limit for the elements of all lists in the replies to one call, nested ones included. Each takes 40 bytes,
// beside those of its text.
constexpr std::uint64_t max_elements = 8'000'000;
// Limit for nesting: lists are freed by recursion.
constexpr std::size_t max_depth = 7;
// Limit for a status or an error; Redis' own are below a kilobyte.
constexpr std::size_t max_line = std::size_t{64} << 10;

}  // namespace

std::string shown_reply(std::string_view text) {
  constexpr std::size_t longest = 200;
  std::string line(text.substr(0, longest));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

void ReplyReader::fail_large() const {
  fail(Code::format, where_, ": the answer needs more memory than the ", max_bytes_,
       " bytes that one call may take: max_bytes allows more");
}

void ReplyReader::fail_protocol(std::string_view line) const {
  if (tls_alert_) fail(Code::unsupported, where_, " wants TLS: set `tls`");
  fail(Code::format, where_, ": the answer is not of Redis' protocol: \"", shown_reply(line), '"');
}

std::int64_t ReplyReader::number_of(std::string_view line) const {
  std::int64_t number = 0;
  const char* const end = line.data() + line.size();
  const auto [stopped, error] = std::from_chars(line.data() + 1, end, number);
  if (error != std::errc() || stopped != end) fail_protocol(line);
  return number;
}

void ReplyReader::feed(std::string_view bytes) {
  fed_ += bytes.size();
  if (fed_ > max_bytes_) fail_large();
  // A TLS-only server answers with an "alert" record.
  if (fed_ == bytes.size()) tls_alert_ = bytes.substr(0, 2) == "\x15\x03";
  while (!bytes.empty()) {
    if (in_text_) {
      const std::size_t taken =
          std::min<std::uint64_t>(bytes.size(), text_size_ + 2 - text_.size());
      text_ += bytes.substr(0, taken);
      bytes.remove_prefix(taken);
      if (text_.size() < text_size_ + 2) return;
      if (std::string_view(text_).substr(text_size_) != "\r\n") fail_protocol(text_);
      text_.resize(text_size_);
      in_text_ = false;
      complete({std::move(text_)});
      text_ = std::string();
      continue;
    }
    if (line_.empty() && std::string_view("+-:$*").find(bytes[0]) == std::string_view::npos) {
      fail_protocol(bytes);
    }
    const std::size_t end = bytes.find('\n');
    line_ += bytes.substr(0, std::min(end, max_line + 1));
    if (line_.size() > max_line) {
      fail(Code::format, where_, ": a line of the answer is longer than ", max_line,
           " bytes: ", shown_reply(line_));
    }
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (line_.back() != '\r') fail_protocol(line_);
    line_.pop_back();
    take_line(line_);
    line_.clear();
  }
}

void ReplyReader::take_line(std::string_view line) {
  switch (line[0]) {
    case '+': return complete({Status{std::string(line.substr(1))}});
    case '-': return complete({Refusal{std::string(line.substr(1))}});
    case ':': return complete({number_of(line)});
    default: break;
  }
  const std::int64_t size = number_of(line);
  if (size == -1) return complete({Nil{}});
  if (size < 0) fail_protocol(line);
  if (line[0] == '$') return begin_text(static_cast<std::uint64_t>(size));
  begin_list(static_cast<std::uint64_t>(size));
}

void ReplyReader::begin_text(std::uint64_t size) {
  if (size > max_bytes_) fail_large();
  in_text_ = true;
  text_size_ = size;
  // The largest value that a server stores. Reserved pages cost nothing until they are written.
  constexpr std::uint64_t longest = std::uint64_t{512} << 20;
  text_.reserve(static_cast<std::size_t>(std::min(size, longest)) + 2);
}

void ReplyReader::begin_list(std::uint64_t size) {
  if (size > max_elements - elements_ || open_.size() == max_depth) {
    fail(Code::format, where_, ": the answer has more than ", max_elements,
         " elements, or lists more than ", max_depth, " deep");
  }
  elements_ += size;
  if (size == 0) return complete({std::vector<Reply>()});
  open_.push_back({{}, size});
}

void ReplyReader::complete(Reply reply) {
  while (!open_.empty()) {
    Open& list = open_.back();
    list.elements.push_back(std::move(reply));
    if (--list.missing != 0) return;
    reply = {std::move(list.elements)};
    open_.pop_back();
  }
  done_.push_back(std::move(reply));
}

std::optional<Reply> ReplyReader::next() {
  if (done_.empty()) return std::nullopt;
  std::optional<Reply> reply(std::move(done_.front()));
  done_.pop_front();
  return reply;
}

}  // namespace td::store
