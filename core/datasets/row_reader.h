// core/datasets/row_reader.h: rows of a data set by their numbers.
#pragma once

#include "core/datasets/source.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

namespace td::datasets {

// Memory holds a number for each episode. Thread-safe.
class RowReader {
 public:
  explicit RowReader(const Dataset& set);

  std::int64_t rows() const noexcept { return starts_.back(); }
  at::Tensor episodes() const;  // the number of the episode of each row

  // In the order of the set, each once, since neighbours lie together in a file; then in the order that is asked for.
  // `rows`: int64, of any shape, which becomes the batch size.
  TensorDict read(const at::Tensor& rows) const;

 private:
  std::shared_ptr<const Source> source_;
  std::vector<std::int64_t> starts_{0};  // of each episode, and the end
};

}  // namespace td::datasets
