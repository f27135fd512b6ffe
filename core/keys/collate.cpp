#include "core/keys/collate.h"

#include "core/keys/entries.h"
#include "core/shape/join.h"
#include "core/shape/pad.h"
#include "core/tree/kinds.h"
#include "core/tree/nested_tensor.h"

namespace td {

namespace {

bool is_listed(c10::ArrayRef<Path> paths, Path path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

void check_options(c10::ArrayRef<TensorDict> samples, const CollateOptions& options) {
  if (samples.empty()) fail(Code::invalid_argument, "collate needs at least one sample");
  if (!options.pad_values.empty() && options.pad_values.size() != options.pad_keys.size()) {
    fail(Code::invalid_argument, "collate: ", options.pad_values.size(), " values for ",
         options.pad_keys.size(), " keys to pad");
  }
  for (const Path path : options.pad_keys) {
    if (is_listed(options.nested_keys, path))
      fail(Code::invalid_argument, "collate: ", show_path(path), " is both padded and nested");
  }
  if (options.pad_keys.empty() && !options.masks.empty())
    fail(Code::invalid_argument, "collate: there are masks without keys to pad");
  for (const TensorDict& sample : samples) {
    if (!options.pad_keys.empty() && !sample.batch_size().empty()) {
      fail(Code::shape, "collate pads samples without batch dimensions, found batch size ",
           show_sizes(sample.batch_size()));
    }
    if (!options.masks.empty() && sample.kind_of(options.masks) != EntryKind::none) {
      fail(Code::key_exists, "collate: the masks' key ", show_path(options.masks),
           " is an entry of a sample");
    }
  }
}

std::vector<TensorDict> selected(c10::ArrayRef<TensorDict> samples, c10::ArrayRef<Path> keys) {
  std::vector<TensorDict> parts;
  for (const TensorDict& sample : samples) parts.push_back(select(sample, keys));
  return parts;
}

// The samples without the keys that are joined in other ways.
std::vector<TensorDict> others(c10::ArrayRef<TensorDict> samples, const CollateOptions& options) {
  std::vector<Path> taken(options.pad_keys.begin(), options.pad_keys.end());
  taken.insert(taken.end(), options.nested_keys.begin(), options.nested_keys.end());
  std::vector<TensorDict> rest;
  for (const TensorDict& sample : samples) rest.push_back(exclude(sample, taken));
  return rest;
}

void put_padded(TensorDict& result, c10::ArrayRef<TensorDict> samples,
                const CollateOptions& options) {
  PadSequenceOptions padding;
  padding.masks = options.masks;
  if (!options.pad_values.empty()) {
    padding.keys = options.pad_keys;
    padding.values = options.pad_values;
  }
  const TensorDict padded = pad_sequence(selected(samples, options.pad_keys), padding);
  for (const Path path : options.pad_keys) result.set(path, padded.get(path));
  if (!options.masks.empty()) result.set(options.masks, padded.get_dict(options.masks));
}

void put_nested(TensorDict& result, c10::ArrayRef<TensorDict> samples, Path path) {
  std::vector<at::Tensor> parts;
  for (const TensorDict& sample : samples) parts.push_back(sample.get(path));
  const NestedTensorPtr whole = make_nested_tensor(parts);
  result.set(path, TensorDict(NodePtr(for_batch(*whole, result.batch_size(), show_path(path)))));
}

}  // namespace

TensorDict collate(c10::ArrayRef<TensorDict> samples, const CollateOptions& options) {
  check_options(samples, options);
  if (options.pad_keys.empty() && options.nested_keys.empty()) return maybe_dense_stack(samples, 0);
  const std::vector<TensorDict> rest = others(samples, options);
  TensorDict result = maybe_dense_stack(rest, 0);
  // Nested tensors have a place in a dense dictionary only: stack() refuses here and says why.
  if (!options.nested_keys.empty() && stack_dim_of(*result.node())) result = stack(rest, 0);
  if (!options.pad_keys.empty()) put_padded(result, samples, options);
  for (const Path path : options.nested_keys) put_nested(result, samples, path);
  return result;
}

}  // namespace td
