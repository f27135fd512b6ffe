// core/consolidated/message.h: sends a dictionary to another process over any byte stream.
#pragma once

#include "core/tree/tensordict.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace td {

// A byte stream. Both functions move all bytes or throw.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void write(const char* data, std::size_t bytes) = 0;
  virtual void read(char* data, std::size_t bytes) = 0;
};

// An open socket, pipe or file; the caller keeps ownership of the descriptor. `timeout_ms` limits a
// whole message; 0: no limit. A closed peer is Code::io, not a signal.
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
  std::int64_t deadline_ = 0;  // in milliseconds of the steady clock
};

struct ReceiveOptions {
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  // of one message; Code::capacity above
  std::uint32_t max_depth = 1000;
  std::uint32_t max_entries = 1000000;  // of all levels
};

// A message holds structure, tensors and non-tensor values.
void send(const TensorDict& td, Transport& transport);

// The received dictionary, in one buffer on the CPU. The message is not trusted.
TensorDict receive(Transport& transport, const ReceiveOptions& options = {});

// Writes the received values into a dictionary of the same keys and shapes, which may be locked.
// Writes nothing before the whole message has arrived and fits.
void receive_into(const TensorDict& td, Transport& transport, const ReceiveOptions& options = {});

}  // namespace td
