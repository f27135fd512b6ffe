// A store in a Redis server over the loopback, beside the same commands sent and taken apart by hand with hiredis.
#include "fixture.h"

#include <hiredis/hiredis.h>

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace bench {

namespace {

constexpr int leaves_count = 10;
constexpr std::int64_t rows = 10000, columns = 64;

// A port that nobody has just now.
int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

// The server, the dictionary in it, and the connection by hand. It ends with the program.
class Server {
 public:
  Server() : port_(free_port()), process_(::fork()) {
    if (process_ == 0) {
      const std::string port = std::to_string(port_);
      if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(127);
      ::execlp("redis-server", "redis-server", "--bind", "127.0.0.1", "--port", port.c_str(),
               "--save", "", "--appendonly", "no", nullptr);
      ::_exit(127);
    }
    td_store_options options = TD_STORE_OPTIONS_INIT;
    options.host = "127.0.0.1";
    options.port = port_;
    const std::int64_t batch = 64;
    td_status status = TD_ERR_IO;
    for (int i = 0; i < 500 && status == TD_ERR_IO; ++i) {
      ::usleep(10000);
      status = td_store_create(&batch, 1, &options, &small);
    }
    ok(status);
    ok(td_store_create(nullptr, 0, &options, &large));
    hand = redisConnect("127.0.0.1", port_);
  }
  ~Server() {
    redisFree(hand);
    td_store_free(small);
    td_store_free(large);
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  td_store *small = nullptr, *large = nullptr;
  redisContext* hand = nullptr;

 private:
  int port_;
  pid_t process_;
};

void answer(redisContext* context, void* to = nullptr, std::size_t bytes = 0) {
  void* raw = nullptr;
  if (redisGetReply(context, &raw) != REDIS_OK) std::abort();
  auto* reply = static_cast<redisReply*>(raw);
  if (reply->type == REDIS_REPLY_ERROR) std::abort();
  if (to != nullptr) std::memcpy(to, reply->str, std::min(bytes, reply->len));
  freeReplyObject(reply);
}

void set_and_get(Server& server, const Leaves& leaves, benchmark::State& state) {
  for (auto _ : state) {
    td_tensordict* td = nullptr;
    ok(td_store_update(server.small, leaves.td));
    ok(td_store_load(server.small, &td));
    td_free(td);
  }
}

void set_and_get_by_hand(Server& server, const Leaves& leaves, benchmark::State& state) {
  redisContext* hand = server.hand;
  for (auto _ : state) {
    for (int i = 0; i < leaves_count; ++i) {
      const at::Tensor& leaf = leaves.tensors[static_cast<std::size_t>(i)];
      redisAppendCommand(hand, "SET hand:{x}:d:%d %b", i, leaf.data_ptr(), leaf.nbytes());
      redisAppendCommand(hand, "HSET hand:{x}:m:%d shape %s dtype torch.float32", i, "[64,8]");
      redisAppendCommand(hand, "SADD hand:{x}:__keys__ %d", i);
    }
    for (int i = 0; i < 3 * leaves_count; ++i) answer(hand);
    for (int i = 0; i < leaves_count; ++i) {
      redisAppendCommand(hand, "GET hand:{x}:d:%d", i);
      redisAppendCommand(hand, "HMGET hand:{x}:m:%d shape dtype", i);
    }
    for (int i = 0; i < leaves_count; ++i) {
      const at::Tensor result = at::empty({64, 8});
      answer(hand, result.data_ptr(), result.nbytes());
      answer(hand);
      benchmark::ClobberMemory();
    }
  }
}

void row(Server& server, benchmark::State& state) {
  const char* path[] = {"wide"};
  td_index_item item = TD_I_INT(0);
  for (auto _ : state) {
    item.start = (item.start + 7) % rows;
    td_tensor* part = nullptr;
    ok(td_store_get_at(server.large, path, 1, &item, 1, &part));
    td_tensor_free(part);
  }
}

void row_by_hand(Server& server, benchmark::State& state) {
  std::int64_t at = 0;
  constexpr std::int64_t bytes = columns * 4;
  for (auto _ : state) {
    at = (at + 7) % rows;
    redisAppendCommand(server.hand, "GETRANGE hand:wide %lld %lld",
                       static_cast<long long>(at * bytes),
                       static_cast<long long>(at * bytes + bytes - 1));
    const at::Tensor result = at::empty({columns});
    answer(server.hand, result.data_ptr(), result.nbytes());
    benchmark::ClobberMemory();
  }
}

}  // namespace

void register_store() {
  // Without a server there is nothing to measure.
  if (std::system("command -v redis-server >/dev/null 2>&1") != 0) return;
  struct Data {
    Server server;
    Leaves leaves{leaves_count};
    Data() {
      const at::Tensor wide = at::rand({rows, columns});
      td_tensor* handle = wrap(wide);
      const char* path[] = {"wide"};
      ok(td_store_set(server.large, path, 1, handle));
      td_tensor_free(handle);
      redisAppendCommand(server.hand, "SET hand:wide %b", wide.data_ptr(), wide.nbytes());
      answer(server.hand);
    }
  };
  const auto data = std::make_shared<std::unique_ptr<Data>>();
  const auto made = [data]() -> Data& {
    if (!*data) *data = std::make_unique<Data>();
    return **data;
  };
  figure(
      "store: set and get 10 leaves of 2 KB", leaves_count, 1.3,
      [made](benchmark::State& state) { set_and_get(made().server, made().leaves, state); },
      [made](benchmark::State& state) {
        set_and_get_by_hand(made().server, made().leaves, state);
      });
  figure(
      "store: one row of [10000, 64]", 1, 1.3,
      [made](benchmark::State& state) { row(made().server, state); },
      [made](benchmark::State& state) { row_by_hand(made().server, state); });
}

}  // namespace bench
