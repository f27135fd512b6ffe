// Holds a call's inputs against what was recorded at export. A network is a list of steps that ran once on an
// example: with another number of batch dimensions its steps may run and give other values than the original,
// so only what the exporter has tried is let through.
#include "core/nn/batch_form.h"

#include "core/base/error.h"
#include "core/tensor/dtype.h"
#include "core/tree/paths.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

bool holds(const std::vector<std::int64_t>& numbers, std::int64_t number) noexcept {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::string show_numbers(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t one : numbers) text += (text.empty() ? "" : ", ") + std::to_string(one);
  return text;
}

// The batch as `dims` dimensions: the first ones together, or ones of size 1 in front.
Sizes as_dims(SizesView batch, std::size_t dims) {
  Sizes sizes;
  if (batch.size() <= dims) {
    sizes.append(dims - batch.size(), 1);
    sizes.append(batch.begin(), batch.end());
    return sizes;
  }
  const std::size_t merged = batch.size() - dims + 1;
  sizes.push_back(count_elements(batch.slice(0, merged)));
  sizes.append(batch.begin() + static_cast<std::ptrdiff_t>(merged), batch.end());
  return sizes;
}

std::string show_tensor(const at::Tensor& tensor) {
  return dtype_name(tensor.scalar_type()) + " " + show_sizes(tensor.sizes());
}

}  // namespace

std::string show_inputs(const KeyPaths& keys, c10::ArrayRef<at::Tensor> inputs) {
  std::string text;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    text += (text.empty() ? "" : ", ") + show_path(keys[i]) + ": ";
    text += inputs[i].defined() ? show_tensor(inputs[i]) : "none";
  }
  return text;
}

void BatchForm::refuse(const KeyPath& key, const at::Tensor& input, const TensorForm& form) const {
  const bool dtype = input.scalar_type() != form.dtype;
  fail(dtype ? Code::dtype : Code::shape, "the input ", show_path(key), " is ", show_tensor(input),
       "; the module was exported for ", dtype_name(form.dtype), " ", show_sizes(form.shape),
       ", where -1 is any size and the first ", spec_->dims, " dimensions are the batch");
}

std::int64_t BatchForm::batch_dims_of(const KeyPath& key, const at::Tensor& input,
                                      const TensorForm& form) const {
  const std::int64_t behind = static_cast<std::int64_t>(form.shape.size()) - spec_->dims;
  const std::int64_t number = input.dim() - behind;
  bool fits = number >= 0;
  for (std::int64_t i = 0; fits && i < behind; ++i) {
    const std::int64_t size = form.shape[static_cast<std::size_t>(spec_->dims + i)];
    fits = size == -1 || size == input.size(number + i);
  }
  if (!fits) refuse(key, input, form);
  return number;
}

// Whether the network takes the batch flattened. A number above those that were tried is like the highest.
bool BatchForm::is_flat(const KeyPath& key, std::int64_t number) const {
  const std::int64_t top = std::max<std::int64_t>(3, spec_->dims + 1);
  if (number <= top && holds(spec_->direct, number)) return false;
  if (holds(spec_->flat, std::min(number, top))) return true;
  std::vector<std::int64_t> held = spec_->direct;
  for (const std::int64_t one : spec_->flat)
    if (!holds(held, one)) held.push_back(one);
  std::sort(held.begin(), held.end());
  fail(Code::shape, "the input ", show_path(key), " has ", number,
       number == 1 ? " batch dimension" : " batch dimensions", "; the module was exported for ",
       spec_->dims, " and gives what Python computes with ", show_numbers(held));
}

BatchFit BatchForm::fit(const KeyPaths& keys, c10::SmallVectorImpl<at::Tensor>& inputs,
                        std::size_t least) const {
  BatchFit fit;
  if (!spec_) return fit;
  std::size_t first = inputs.size();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;  // an optional one
    if (inputs[i].scalar_type() != inputs_[i].dtype) refuse(keys[i], inputs[i], inputs_[i]);
    inputs[i] =
        inputs[i].contiguous();  // as the exporter's: steps may view what Python would reshape
    const std::int64_t number = batch_dims_of(keys[i], inputs[i], inputs_[i]);
    const SizesView batch = inputs[i].sizes().slice(0, static_cast<std::size_t>(number));
    if (first == inputs.size()) {
      first = i;
      fit.sizes.append(batch.begin(), batch.end());
    } else if (batch != SizesView(fit.sizes)) {
      fail(Code::shape, "the inputs have different batch sizes: ", show_path(keys[first]), " has ",
           show_sizes(SizesView(fit.sizes)), ", ", show_path(keys[i]), " has ", show_sizes(batch));
    }
  }
  if (first == inputs.size()) return fit;
  if (!spec_->empty && holds({fit.sizes.begin(), fit.sizes.end()}, 0)) {
    fail(Code::shape, "the inputs have the batch size ", show_sizes(SizesView(fit.sizes)),
         "; the module gives what Python computes for batches with rows only");
  }
  fit.flat = is_flat(keys[first], static_cast<std::int64_t>(fit.sizes.size()));
  if (!fit.flat) return fit;
  if (fit.sizes.size() < least) {  // a dimension of the batch would be taken for one behind it
    fail(Code::shape, "the input ", show_path(keys[first]), " is ", show_tensor(inputs[first]),
         " in a dictionary with ", least, least == 1 ? " batch dimension" : " batch dimensions",
         "; the module was exported for ", show_sizes(inputs_[first].shape));
  }
  fit.inner = as_dims(fit.sizes, static_cast<std::size_t>(spec_->dims));
  for (at::Tensor& input : inputs) {
    if (!input.defined()) continue;
    Sizes sizes = fit.inner;
    const SizesView behind = input.sizes().slice(fit.sizes.size());
    sizes.append(behind.begin(), behind.end());
    input = input.reshape(sizes);
  }
  return fit;
}

at::Tensor BatchForm::restored(const KeyPath& key, const at::Tensor& output,
                               const BatchFit& fit) const {
  if (!fit.flat) return output;
  const SizesView sizes = output.sizes();
  const std::size_t front = spec_->front.size(), past = front + fit.inner.size();
  if (sizes.size() < past || sizes.slice(front, fit.inner.size()) != SizesView(fit.inner)) {
    fail(Code::shape, "the output ", show_path(key), " has shape ", show_sizes(sizes),
         " for a batch of ", show_sizes(SizesView(fit.inner)), ", which cannot be restored to ",
         show_sizes(SizesView(fit.sizes)));
  }
  Sizes all(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(front));
  all.append(fit.sizes.begin(), fit.sizes.end());
  all.append(sizes.begin() + static_cast<std::ptrdiff_t>(past), sizes.end());
  return output.reshape(all);
}

BatchForm BatchForm::as_it_is() const {
  BatchForm form = *this;
  if (!form.spec_) return form;
  form.spec_->direct = {form.spec_->dims};
  form.spec_->flat.clear();
  return form;
}

}  // namespace td
