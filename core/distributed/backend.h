// core/distributed/backend.h: carries tensors between the ranks of a group: libtorch's process
// group behind an interface that needs none of its headers.
#pragma once

#include "core/base/error.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace td::distributed {

enum class Op : std::uint8_t { sum, average, product, min, max };

// Where the ranks meet.
struct Meeting {
  enum class Kind : std::uint8_t { tcp, file } kind = Kind::tcp;
  std::string host;  // tcp
  std::uint16_t port = 0;
  std::string path;    // file
  std::string name;    // of the group
  std::string device;  // network interface; empty: that of the host's name
  int rank = 0;
  int size = 1;
  std::int64_t timeout_ms = 0;
};

// A send or receive in progress. Destroying it before its end breaks the connection: a caller that
// gives up must keep it.
class Posted {
 public:
  virtual ~Posted() = default;
  // Blocks until it is done. Returns false if abort() ended the wait; then wait() may be called
  // again. Throws Code::io.
  virtual bool wait() = 0;
  virtual void abort() = 0;
  virtual int source() const = 0;  // of a received tensor
  at::Tensor tensor;
};
using PostedPtr = std::unique_ptr<Posted>;

// Tensors are contiguous and on the CPU. Threads may share it. Network failures and lost ranks are Code::io.
class Backend {
 public:
  virtual ~Backend() = default;

  // Whether all ranks are of this library, which then may send each other more than Python expects.
  virtual bool all_are_ours() const noexcept = 0;

  // Start in call order and return at once.
  virtual PostedPtr send(const at::Tensor& tensor, int rank, int tag) = 0;
  virtual PostedPtr recv(const at::Tensor& tensor, int rank, int tag) = 0;  // rank -1: any

  // Collective: all ranks make these calls in the same order, one at a time. They have no time
  // limit; disconnect() ends them.
  virtual void barrier() = 0;
  virtual void broadcast(const at::Tensor& tensor, int root) = 0;
  virtual void reduce(const at::Tensor& tensor, int root, Op op) = 0;
  virtual void all_reduce(const at::Tensor& tensor, Op op) = 0;
  virtual std::vector<at::Tensor> all_gather(const at::Tensor& tensor) = 0;
  virtual std::vector<at::Tensor> gather(const at::Tensor& tensor,
                                         int root) = 0;  // empty except at `root`
  virtual void scatter(const at::Tensor& into, std::vector<at::Tensor> parts, int root) = 0;

  // Ends all waits, for good.
  virtual void disconnect() noexcept = 0;

  // Another group over the same store, in which this process has rank `rank`.
  virtual std::shared_ptr<Backend> split(const std::string& name, int rank, int size,
                                         std::int64_t timeout_ms) = 0;
};

// Waits until all ranks have connected. Code::io names the ranks that are missing.
std::shared_ptr<Backend> connect(const Meeting& meeting);

}  // namespace td::distributed
