// core/store/connection.h: requests to a server and its answers, over a connection that is made again when it breaks.
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

// Thrown when a connection cannot be made or is gone; what is asked may be asked again.
struct Broken {
  std::string why;
};

// Bytes there and back. Tests and fuzzers put a server of their own behind it.
class Transport {
 public:
  struct Moved {
    std::size_t sent, received;
  };

  virtual ~Transport() = default;

  // Sends some of `out` and receives up to `room` bytes, whatever can be done first; nothing of both when `wait_ms`
  // pass (-1: waits for ever). Throws Broken.
  virtual Moved move(std::string_view out, char* in, std::size_t room, int wait_ms) = 0;
};
using Connect = std::function<std::unique_ptr<Transport>(const Options& options)>;

// To a host or a socket of the file system; encrypted if the options say so.
std::unique_ptr<Transport> connect_socket(const Options& options);

// The server in messages: "Redis at localhost:6379". Passwords are never part of it.
std::string shown_server(const Options& options);

// For one thread at a time.
class Connection {
 public:
  Connection(Options options, Connect connect);

  const Options& options() const noexcept { return options_; }
  const std::string& where() const noexcept { return where_; }

  // The answers to all commands, in their order. A connection that breaks is made again once; then Code::io.
  std::vector<Reply> run(const Request& request);

  // Requests of which one needs what the one before has left in the connection, such as a watched key: if it breaks, all
  // of `talk` is done again over the new one.
  void together(const std::function<void()>& talk);

 private:
  using Clock = std::chrono::steady_clock;

  void open();
  std::vector<Reply> exchange(const Request& request);
  int wait_left(Clock::time_point begin, std::uint64_t moved) const;

  Options options_;
  std::string where_;
  Connect connect_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<ReplyReader> reader_;
  std::vector<char> room_;
  bool together_ = false;
  bool heard_ = false;  // the server has said something since the connection was made
};

// Commands that the server runs as one: nobody else's come in between.
class Transaction {
 public:
  Transaction() { request_.add({"MULTI"}); }

  Request& commands() noexcept { return request_; }

  // The answers to the commands. One that is an error throws. None at all: a key that is watched has changed, and
  // nothing was done.
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
  bool watches_ = false;
};

}  // namespace td::store
