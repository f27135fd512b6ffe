// core/store/connection.h: requests to a server and its replies, over a connection that reconnects
// when it breaks.
#pragma once

#include "core/store/answers.h"
#include "core/store/request.h"
#include "core/store/store.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace td::store {

// Thrown when a connection cannot be made or breaks. The request may be sent again.
struct Broken {
  std::string why;
};

// Moves bytes both ways. Tests and fuzzers replace it with a server of their own.
class Transport {
 public:
  struct Moved {
    std::size_t sent, received;
  };

  virtual ~Transport() = default;

  // Sends some of `out` and receives up to `room` bytes, whichever is possible first. Moves nothing
  // if `wait_ms` pass (-1: no limit). Throws Broken.
  virtual Moved move(std::string_view out, char* in, std::size_t room, int wait_ms) = 0;
};
using Connect = std::function<std::unique_ptr<Transport>(const Options& options)>;

// Connects to a host or a Unix socket, encrypted if the options say so.
std::unique_ptr<Transport> connect_socket(const Options& options);

// The server's name in messages: "Redis at localhost:6379". It never holds a password.
std::string shown_server(const Options& options);

// Used by one thread at a time.
class Connection {
 public:
  Connection(Options options, Connect connect);

  const Options& options() const noexcept { return options_; }
  const std::string& where() const noexcept { return where_; }

  // The replies to all commands, in order. A broken connection is made again once; then Code::io.
  std::vector<Reply> run(const Request& request);

  // Runs requests that depend on state in the connection, such as a watched key: if the connection
  // breaks, all of `talk` runs again over the new one.
  void together(const std::function<void()>& talk);

 private:
  using Clock = std::chrono::steady_clock;

  void open();
  void close() noexcept;
  std::vector<Reply> exchange(const Request& request);
  std::vector<Reply> ask(const Request& request);
  int wait_left(Clock::time_point begin, std::uint64_t moved) const;

  Options options_;
  std::string where_;
  Connect connect_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<ReplyReader> reader_;
  std::vector<char> room_;
  bool together_ = false;
  bool heard_ = false;  // the server has sent something on this connection
};

// Commands that the server runs atomically.
class Transaction {
 public:
  Transaction() { request_.add({"MULTI"}); }
  // Does nothing unless the first key holds `text` and all others are there. Then the server has changed
  // `touched` meanwhile, which is watched.
  Transaction(const std::vector<std::string>& keys, std::string_view text,
              std::string_view touched);

  Request& commands() noexcept { return request_; }

  // The replies to the commands; an error among them throws. Without replies, a watched key has
  // changed and the server did nothing.
  class Answers {
   public:
    bool done() const noexcept { return done_; }
    const Answer& operator[](std::size_t i) const { return answers_[i]; }

   private:
    friend class Transaction;
    std::vector<Reply> held_;
    std::vector<Answer> answers_;
    bool done_ = true;
  };
  Answers run(Connection& connection);

  void expect_changes() noexcept { watches_ = true; }  // a key is watched

 private:
  Request request_;
  std::size_t before_ = 0;  // commands before MULTI
  bool watches_ = false;
};

}  // namespace td::store
