#include "core/store/connection.h"

#include <algorithm>

namespace td::store {

std::string shown_server(const Options& options) {
  const std::string over = options.tls.on ? " over TLS" : "";
  if (!options.unix_socket.empty()) return "Redis at \"" + options.unix_socket + "\"" + over;
  return "Redis at " + options.host + ":" + std::to_string(options.port) + over;
}

Connection::Connection(Options options, Connect connect)
    : options_(std::move(options)),
      where_(shown_server(options_)),
      connect_(std::move(connect)),
      room_(std::size_t{64} << 10) {}

// How long to wait for the next bytes. Each megabyte extends the limit by a second, so a server
// that trickles bytes is cut off like a silent one.
int Connection::wait_left(Clock::time_point begin, std::uint64_t moved) const {
  if (options_.timeout_ms < 0) return -1;
  constexpr std::uint64_t bytes_per_ms = 1000;
  const auto gone =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
  const std::int64_t left =
      options_.timeout_ms + static_cast<std::int64_t>(moved / bytes_per_ms) - gone;
  constexpr std::int64_t longest = 1 << 30;
  if (left > 0) return static_cast<int>(std::min(left, longest));
  fail(Code::io, where_, " did not answer within ", options_.timeout_ms, " ms");
}

std::vector<Reply> Connection::exchange(const Request& request) {
  const std::vector<std::string_view> pieces = request.pieces();
  std::vector<Reply> replies;
  replies.reserve(request.commands());
  const Clock::time_point begin = Clock::now();
  std::uint64_t moved_bytes = 0;
  std::size_t piece = 0, sent = 0;
  reader_->begin_call();
  // Read replies while sending, so that neither side blocks on the other's full buffer.
  while (replies.size() < request.commands()) {
    while (piece < pieces.size() && sent == pieces[piece].size()) {
      ++piece;
      sent = 0;
    }
    const std::string_view out =
        piece < pieces.size() ? pieces[piece].substr(sent) : std::string_view();
    const Transport::Moved moved =
        transport_->move(out, room_.data(), room_.size(), wait_left(begin, moved_bytes));
    sent += moved.sent;
    moved_bytes += moved.sent + moved.received;
    if (moved.received == 0) continue;
    heard_ = true;
    reader_->feed({room_.data(), moved.received});
    while (replies.size() < request.commands()) {
      std::optional<Reply> reply = reader_->next();
      if (!reply) break;
      replies.push_back(std::move(*reply));
    }
  }
  // These bytes would be taken for the answer to the next request.
  if (piece + 1 < pieces.size() || (piece < pieces.size() && sent < pieces[piece].size())) {
    fail(Code::format, where_, " answered before it was asked");
  }
  if (!reader_->is_empty()) fail(Code::format, where_, " answered more than it was asked");
  return replies;
}

void Connection::open() {
  reader_ = std::make_unique<ReplyReader>(options_.max_bytes, where_);
  transport_ = connect_(options_);
  heard_ = false;
  Request request;
  if (!options_.password.empty()) {
    if (options_.username.empty()) {
      request.add({"AUTH", options_.password});
    } else {
      request.add({"AUTH", options_.username, options_.password});
    }
  }
  if (options_.database != 0) request.add({"SELECT", std::to_string(options_.database)});
  if (request.commands() == 0) return;
  const std::vector<Reply> replies = exchange(request);
  for (const Reply& reply : replies) {
    // The error may quote the request, which holds the password.
    const auto* refusal = std::get_if<Refusal>(&reply.value);
    if (refusal != nullptr && &reply == &replies[0] && !options_.password.empty()) {
      const std::string_view error = refusal->text;
      const bool refused = error.substr(0, 9) == "WRONGPASS" || error.substr(0, 6) == "NOAUTH";
      fail(Code::io, where_, " refuses the ", options_.username.empty() ? "" : "user name or the ",
           "password", refused ? " (WRONGPASS)" : "");
    }
    Answer(reply, where_).ok("the answer to AUTH or SELECT");
  }
}

void Connection::close() noexcept {
  transport_.reset();
  reader_.reset();  // with the part of a reply that has come
}

// Names a Sentinel, which knows only commands of its own.
std::vector<Reply> Connection::ask(const Request& request) {
  std::vector<Reply> replies = exchange(request);
  const auto* refusal = std::get_if<Refusal>(&replies.at(0).value);
  if (refusal == nullptr || refusal->text.compare(0, 19, "ERR unknown command") != 0)
    return replies;
  Request role;
  role.add({"ROLE"});
  const std::vector<Reply> answer = exchange(role);
  const auto* list = std::get_if<std::vector<Reply>>(&answer[0].value);
  const auto* kind =
      list == nullptr || list->empty() ? nullptr : std::get_if<std::string>(&list->front().value);
  if (kind == nullptr || *kind != "sentinel") return replies;
  fail(Code::unsupported, where_,
       " is a Sentinel, which keeps no data: connect to the server that it watches");
}

std::vector<Reply> Connection::run(const Request& request) {
  if (together_) return ask(request);
  std::vector<Reply> replies;
  together([&] { replies = ask(request); });
  return replies;
}

void Connection::together(const std::function<void()>& talk) {
  for (bool again = false;; again = true) {
    try {
      if (transport_ == nullptr) open();
      together_ = true;
      talk();
      together_ = false;
      return;
    } catch (const Broken& broken) {
      together_ = false;
      // A TLS port of Redis closes plain connections without an answer.
      const bool silent = transport_ != nullptr && !heard_;
      close();
      if (!again) continue;
      fail(Code::io, where_, ": ", broken.why,
           !silent           ? ""
           : options_.tls.on ? ", before it said anything: does this port speak TLS?"
                             : ", before it said anything: does this port want TLS? Set `tls`");
    } catch (...) {
      together_ = false;
      // A later request must not read replies that are still on the way.
      close();
      throw;
    }
  }
}

Transaction::Transaction(const std::vector<std::string>& keys, std::string_view text,
                         std::string_view touched)
    : before_(2), watches_(true) {
  constexpr std::string_view script =
      "local right = redis.call('GET', KEYS[2]) == ARGV[1] "
      "for i = 3, #KEYS do right = right and redis.call('EXISTS', KEYS[i]) == 1 end "
      "if right then return 1 end "
      "redis.call('SET', KEYS[1], '') redis.call('DEL', KEYS[1]) return 0";
  const auto list_keys = [&] {
    request_.part(touched);
    for (const std::string& key : keys) request_.part(key);
  };
  request_.begin(2 + keys.size());
  request_.part("WATCH");
  list_keys();
  request_.begin(5 + keys.size());
  request_.part("EVAL");
  request_.part(script);
  request_.part(std::to_string(keys.size() + 1));
  list_keys();
  request_.part(text);
  request_.add({"MULTI"});
}

Transaction::Answers Transaction::run(Connection& connection) {
  request_.add({"EXEC"});
  Answers answers;
  answers.held_ = connection.run(request_);
  const std::string& where = connection.where();
  for (std::size_t i = 0; i + 1 < answers.held_.size(); ++i) {
    const Answer answer(answers.held_[i], where);
    if (before_ == 2 && i == 1) {
      answer.integer("the answer to EVAL");
    } else {
      answer.ok("the answer to a queued command");
    }
  }
  const Answer whole(answers.held_.back(), where);
  answers.done_ = !watches_ || !whole.is_nil();
  if (!answers.done_) return answers;
  answers.answers_ = whole.list("the answer to EXEC", request_.commands() - 2 - before_);
  for (const Answer& answer : answers.answers_) answer.require();
  return answers;
}

}  // namespace td::store
