// core/distributed/backend.h: what carries tensors between the ranks of a group: libtorch's process group, behind an
// interface that needs none of its headers.
#pragma once

#include "core/base/error.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace td::distributed {

enum class Op : std::uint8_t { sum, average, product, min, max };

// Where the ranks find each other, as the caller and the environment say it.
struct Meeting {
  enum class Kind : std::uint8_t { tcp, file } kind = Kind::tcp;
  std::string host;  // tcp
  std::uint16_t port = 0;
  std::string path;    // file
  std::string name;    // of the group
  std::string device;  // interface of the network; empty: that of the host's name
  int rank = 0;
  int size = 1;
  std::int64_t timeout_ms = 0;
};

// A tensor on its way. Dropped while it is on its way, it would break the connection: who gives up keeps it.
class Posted {
 public:
  virtual ~Posted() = default;
  // Blocks until it has arrived; false when abort() ended the wait, which may be begun again. Throws Code::io.
  virtual bool wait() = 0;
  virtual void abort() = 0;
  virtual int source() const = 0;  // of a tensor that has come
  at::Tensor tensor;
};
using PostedPtr = std::unique_ptr<Posted>;

// Tensors are row-major, on the CPU. Calls may come from several threads. What fails in the network, or because a
// rank has gone, is Code::io.
class Backend {
 public:
  virtual ~Backend() = default;

  // Begun in the order of the calls; return at once.
  virtual PostedPtr send(const at::Tensor& tensor, int rank, int tag) = 0;
  virtual PostedPtr recv(const at::Tensor& tensor, int rank, int tag) = 0;  // rank -1: of any

  // All ranks call them in the same order, one at a time, without a limit: disconnect() ends them.
  virtual void barrier() = 0;
  virtual void broadcast(const at::Tensor& tensor, int root) = 0;
  virtual void reduce(const at::Tensor& tensor, int root, Op op) = 0;
  virtual void all_reduce(const at::Tensor& tensor, Op op) = 0;
  virtual std::vector<at::Tensor> all_gather(const at::Tensor& tensor) = 0;
  virtual std::vector<at::Tensor> gather(const at::Tensor& tensor, int root) = 0;  // of the root
  virtual void scatter(const at::Tensor& into, std::vector<at::Tensor> parts, int root) = 0;

  // Ends all that waits, for good.
  virtual void disconnect() noexcept = 0;

  // Another group over the same store. `rank` is the place of this one in it.
  virtual std::shared_ptr<Backend> split(const std::string& name, int rank, int size,
                                         std::int64_t timeout_ms) = 0;
};

// Waits until all ranks have come. Code::io with the ranks that are missing when they do not.
std::shared_ptr<Backend> connect(const Meeting& meeting);

}  // namespace td::distributed
