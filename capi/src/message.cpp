// tensordict/td_message.h
#include "foreign_call.h"

#include "core/consolidated/message.h"

namespace {

// Reads and writes through functions of the caller.
class Calls final : public td::Transport {
 public:
  Calls(td_write_fn write, td_read_fn read, void* user) : write_(write), read_(read), user_(user) {}
  void write(const char* data, std::size_t bytes) override {
    capi::call_checked([&] { return write_(user_, data, bytes); });
  }
  void read(char* data, std::size_t bytes) override {
    capi::call_checked([&] { return read_(user_, data, bytes); });
  }

 private:
  td_write_fn write_;
  td_read_fn read_;
  void* user_;
};

td_message_options options_in(const td_message_options* options) {
  return capi::options_in(options, td_message_options TD_MESSAGE_OPTIONS_INIT);
}

void receive(td::Transport& transport, const td_message_options& given, td_tensordict* into,
             Out<td_tensordict>& out) {
  td::ReceiveOptions options;
  if (given.max_depth != 0) options.max_depth = given.max_depth;
  if (given.max_entries != 0) options.max_entries = given.max_entries;
  if (given.max_bytes != 0) options.max_bytes = given.max_bytes;
  if (into == nullptr) return out.put(td::receive(transport, options));
  const td::TensorDict target = *in(into);
  td::receive_into(target, transport, options);
  out.put(target);
}

}  // namespace

td_status td_send(const td_tensordict* td, const td_message_options* options, td_write_fn write,
                  void* user) noexcept {
  return guard(__func__, [&] {
    not_null(reinterpret_cast<void*>(write), "write");
    options_in(options);
    Calls calls(write, nullptr, user);
    td::send(in(td), calls);
  });
}

td_status td_recv(td_tensordict* into, const td_message_options* options, td_read_fn read,
                  void* user, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    not_null(reinterpret_cast<void*>(read), "read");
    Calls calls(nullptr, read, user);
    receive(calls, options_in(options), into, out);
  });
}

td_status td_send_fd(const td_tensordict* td, int32_t fd,
                     const td_message_options* options) noexcept {
  return guard(__func__, [&] {
    auto dict = in(td);
    td::FileTransport transport(fd, options_in(options).timeout_ms);
    td::send(dict, transport);
  });
}

td_status td_recv_fd(int32_t fd, td_tensordict* into, const td_message_options* options,
                     td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    const td_message_options given = options_in(options);
    td::FileTransport transport(fd, given.timeout_ms);
    receive(transport, given, into, out);
  });
}
