// core/consolidated/message.h: a dictionary from one process to another, over whatever carries bytes.
#pragma once

#include "core/tree/tensordict.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace td {

// What carries the bytes, in order. Both functions move all bytes or throw.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void write(const char* data, std::size_t bytes) = 0;
  virtual void read(char* data, std::size_t bytes) = 0;
};

// A socket, a pipe or a file that is open; the number stays the caller's. Waits at most `timeout_ms`
// for all of a message; 0 waits for ever. A partner that has gone is Code::io, not a signal.
class FileTransport final : public Transport {
 public:
  FileTransport(int file, std::int64_t timeout_ms);
  void write(const char* data, std::size_t bytes) override;
  void read(char* data, std::size_t bytes) override;

 private:
  void wait(short events) const;

  int file_;
  bool socket_;
  bool timed_;
  std::int64_t deadline_ = 0;  // milliseconds of the steady clock
};

struct ReceiveOptions {
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // of one message; more is Code::capacity
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;  // all levels together
};

// The message holds the structure too, and non-tensor values: its receiver needs nothing.
void send(const TensorDict& td, Transport& transport);

// The dictionary of a message, in one buffer on the CPU. Nothing in a message is trusted.
TensorDict receive(Transport& transport, const ReceiveOptions& options = {});

// Writes the values of a message into a dictionary of the same keys and shapes, which may be locked.
// Nothing is written before all has come and fits.
void receive_into(const TensorDict& td, Transport& transport, const ReceiveOptions& options = {});

}  // namespace td
