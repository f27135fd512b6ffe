// core/datasets/row_reader.h: rows of a data set by their numbers.
#pragma once

#include "core/datasets/source.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace td::datasets {

// A set whose rows take at most `most_held` bytes is read as a whole when some are asked for first: a batch of shuffled rows would
// read nearly all of its tables again. Of a larger one memory holds a number for each episode. Thread-safe.
class RowReader {
 public:
  explicit RowReader(const Dataset& set, std::int64_t most_held = std::int64_t{256} << 20);

  std::int64_t rows() const noexcept { return starts_.back(); }
  at::Tensor episodes() const;  // the number of the episode of each row

  // In the order of the set, each once, since neighbours lie together in a file; then in the order that is asked for.
  // `rows`: int64, of any shape, which becomes the batch size.
  TensorDict read(const at::Tensor& rows) const;

 private:
  void hold() const;
  TensorDict read_anew(const at::Tensor& rows) const;

  std::shared_ptr<const Source> source_;
  std::vector<std::int64_t> starts_{0};  // of each episode, and the end
  std::int64_t most_held_;
  mutable std::once_flag tried_;
  mutable std::optional<TensorDict> held_;
};

}  // namespace td::datasets
