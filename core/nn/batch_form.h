// core/nn/batch_form.h: the inputs that an exported network takes, and batches with another number of
// dimensions than it was exported for.
#pragma once

#include "core/nn/key_path.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <optional>
#include <string>
#include <vector>

namespace td {

// A tensor that a network takes; -1: any size.
struct TensorForm {
  c10::ScalarType dtype;
  std::vector<std::int64_t> shape;
};

// What the exporter tried beside the original, and what held.
struct BatchSpec {
  std::int64_t dims = 0;                   // batch dimensions of the network
  std::vector<std::int64_t> direct, flat;  // numbers that it takes as they are, or as `dims` ones
  std::vector<std::int64_t> front;         // what it adds to its outputs in front of the batch
  bool empty = true;                       // batches without rows, too
  std::int64_t modules = 1;                // of a sequence in Python, which are one network here
};

// Another network of an archive: its method, and what it reads and writes.
struct NetworkSpec {
  std::string method;
  KeyPaths in_keys, out_keys;
  std::optional<std::vector<TensorForm>> inputs;  // one for each in_key
  std::optional<BatchSpec> batch;                 // needs inputs
};

// How a call passes its batch. A network without a record takes everything as it is.
struct BatchFit {
  bool flat = false;
  Sizes sizes, inner;  // of the batch; and as the network sees it
};

class BatchForm {
 public:
  BatchForm() = default;
  BatchForm(std::vector<TensorForm> inputs, BatchSpec spec)
      : inputs_(std::move(inputs)), spec_(std::move(spec)) {}

  bool known() const noexcept { return spec_.has_value(); }
  const std::vector<TensorForm>& inputs() const noexcept { return inputs_; }
  const std::optional<BatchSpec>& spec() const noexcept { return spec_; }
  SizesView front() const noexcept { return spec_ ? SizesView(spec_->front) : SizesView(); }

  // Checks dtypes and shapes, and gives the inputs the number of batch dimensions that the network takes,
  // row by row in memory.
  // `least`: batch dimensions of the dictionary. Throws Code::dtype, Code::shape.
  BatchFit fit(const KeyPaths& keys, c10::SmallVectorImpl<at::Tensor>& inputs,
               std::size_t least) const;

  // The output with the batch dimensions of the call.
  at::Tensor restored(const KeyPath& key, const at::Tensor& output, const BatchFit& fit) const;

  // The same for a network in training, which takes only the number of dimensions that it was exported for:
  // a flattened batch has other statistics.
  BatchForm as_it_is() const;

 private:
  std::int64_t batch_dims_of(const KeyPath& key, const at::Tensor& input,
                             const TensorForm& form) const;
  [[noreturn]] void refuse(const KeyPath& key, const at::Tensor& input,
                           const TensorForm& form) const;
  bool is_flat(const KeyPath& key, std::int64_t number) const;

  std::vector<TensorForm> inputs_;
  std::optional<BatchSpec> spec_;
};

// "observation": torch.float32 [8, 4], …
std::string show_inputs(const KeyPaths& keys, c10::ArrayRef<at::Tensor> inputs);

}  // namespace td
