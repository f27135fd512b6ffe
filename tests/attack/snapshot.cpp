#include "snapshot.h"

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/version.h>

#include <cmath>
#include <cstring>

namespace attack {

namespace {

constexpr int torch_number = 10000 * TORCH_VERSION_MAJOR + 100 * TORCH_VERSION_MINOR;

std::string numbers(const std::int64_t *values, std::size_t n) {
  std::string text = "[";
  for (std::size_t i = 0; i < n; ++i) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text + "]";
}

// The elements in row-major order, read without an operator of libtorch.
std::string content(const at::Tensor &tensor) {
  const std::size_t item = tensor.element_size();
  std::string bytes;
  const std::int64_t n = tensor.numel();
  if (n == 0) return bytes;
  bytes.reserve(static_cast<std::size_t>(n) * item);
  const char *base = static_cast<const char *>(tensor.data_ptr());
  const std::int64_t dims = tensor.dim();
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t left = i, at = 0;
    for (std::int64_t d = dims; d-- > 0;) {
      at += left % tensor.size(d) * tensor.stride(d);
      left /= tensor.size(d);
    }
    bytes.append(base + at * static_cast<std::int64_t>(item), item);
  }
  return bytes;
}

template <class T>
double value_at(const std::string &bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return static_cast<double>(value);
}

bool close_enough(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

// Complex numbers are two numbers each.
bool same(const Block &got, const Block &want, bool close) {
  if (got.bytes == want.bytes) return true;
  if (got.bytes.size() != want.bytes.size()) return false;
  double (*value)(const std::string &, std::size_t) = nullptr;
  std::size_t item = 0;
  double tolerance = 0;
  switch (got.dtype) {
    case TD_DTYPE_FLOAT16:
      value = value_at<c10::Half>;
      item = 2;
      tolerance = 1e-2;
      break;
    case TD_DTYPE_BFLOAT16:
      value = value_at<c10::BFloat16>;
      item = 2;
      tolerance = 3e-2;
      break;
    case TD_DTYPE_FLOAT32:
    case TD_DTYPE_COMPLEX64:
      value = value_at<float>;
      item = 4;
      tolerance = 1e-4;
      break;
    case TD_DTYPE_FLOAT64:
    case TD_DTYPE_COMPLEX128:
      value = value_at<double>;
      item = 8;
      tolerance = 1e-9;
      break;
    default: return false;
  }
  if (!close) tolerance = 0;  // then only NaNs may differ in their bits
  for (std::size_t at = 0; at + item <= got.bytes.size(); at += item) {
    if (!close_enough(value(got.bytes, at), value(want.bytes, at), tolerance)) return false;
  }
  return true;
}

}  // namespace

void Snapshot::add(const td_tensor *handle) {
  void *impl = nullptr;
  td_dtype dtype = 0;
  if (td_tensor_to_torch(handle, torch_number, &impl) != TD_OK ||
      td_tensor_dtype(handle, &dtype) != TD_OK) {
    line("no tensor");
    return;
  }
  const auto tensor =
      at::Tensor(c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>::reclaim_copy(
          static_cast<at::TensorImpl *>(impl)));
  form += std::to_string(dtype) + numbers(tensor.sizes().data(), tensor.sizes().size());
  form += tensor.requires_grad() ? " grad\n" : "\n";
  values.push_back({dtype, content(tensor)});
}

void Snapshot::add(const td_keys *keys) {
  for (std::size_t i = 0; keys != nullptr && i < td_keys_len(keys); ++i) {
    const char *const *path = nullptr;
    std::size_t length = 0;
    (void)td_keys_at(keys, i, &path, &length);
    for (std::size_t k = 0; k < length; ++k) form += std::string(path[k]) + ".";
    form += " ";
  }
}

void Snapshot::add_head(const td_tensordict *td) {
  std::int64_t sizes[16];
  std::size_t dims = 0;
  td_dict_kind kind = 0;
  std::int32_t locked = 0;
  if (td_kind(td, &kind) != TD_OK || td_batch_size(td, sizes, 16, &dims) != TD_OK ||
      td_is_locked(td, &locked) != TD_OK) {
    line("no dictionary");
    return;
  }
  form += "(" + std::to_string(kind) + numbers(sizes, dims) + (locked != 0 ? " locked" : "");
  td_keys *names = nullptr;
  if (td_names(td, &names) == TD_OK) add(names);
  td_keys_free(names);
  form += "\n";
}

void Snapshot::add_elements(const td_tensordict *td) {
  std::int64_t dim = 0;
  std::size_t elements = 0;
  if (td_lazy_info(td, &dim, &elements) != TD_OK) return;
  line("along " + std::to_string(dim) + " " + std::to_string(elements));
  for (std::size_t i = 0; i < elements; ++i) {
    td_tensordict *one = nullptr;
    const td_status status = element(td, dim, i, &one);
    if (status == TD_OK) {
      add(one);
    } else {
      line(td_status_name(status));
    }
    td_free(one);
  }
}

void Snapshot::add(const td_tensordict *td) {
  if (what == Form::whole) {
    add_head(td);
  } else {
    std::int64_t sizes[16];
    std::size_t dims = 0;
    line(td_batch_size(td, sizes, 16, &dims) == TD_OK ? numbers(sizes, dims) : "no dictionary");
  }
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  if (what != Form::as_read) add_elements(td);
  options.sort = what != Form::whole;
  td_keys *keys = nullptr;
  if (td_keys_of(td, &options, &keys) != TD_OK) line("no keys");
  const std::size_t n = keys == nullptr ? 0 : td_keys_len(keys);
  for (std::size_t i = 0; i < n; ++i) {
    const char *const *path = nullptr;
    std::size_t length = 0;
    if (td_keys_at(keys, i, &path, &length) != TD_OK) continue;
    td_entry_kind entry = TD_ENTRY_NONE;
    if (td_get_kind(td, path, length, &entry) != TD_OK) line("no kind");
    form += std::string(path[0]) + " " + std::to_string(entry) + " ";
    td_tensor *tensor = nullptr, *more = nullptr;
    td_tensordict *dict = nullptr;
    if (entry == TD_ENTRY_TENSOR) {
      const td_status status = td_get(td, path, length, &tensor);
      if (status == TD_OK) {
        add(tensor);
      } else {
        line(td_status_name(status));
      }
    } else if (entry == TD_ENTRY_DICT) {
      const td_status status = td_get_dict(td, path, length, &dict);
      if (status == TD_OK) {
        add(dict);
      } else {
        line(td_status_name(status));
      }
    } else if (entry == TD_ENTRY_NON_TENSOR) {
      char text[256];
      std::size_t size = 0;
      const td_status status =
          td_get_non_tensor_stack_json(td, path, length, text, sizeof text, &size);
      line(status == TD_OK ? text : td_status_name(status));
    } else {
      const td_status status = td_get_nested_tensor(td, path, length, &dict);
      if (status == TD_OK && td_nested_tensor_values(dict, &tensor, &more) == TD_OK) {
        add(tensor);
        add(more);
      } else {
        line(td_status_name(status));
      }
    }
    td_tensor_free(tensor);
    td_tensor_free(more);
    td_free(dict);
  }
  td_keys_free(keys);
  line(")");
}

td_status element(const td_tensordict *td, std::int64_t dim, std::size_t i,
                  td_tensordict **result) {
  std::vector<td_index_item> items(static_cast<std::size_t>(dim) + 1);
  for (td_index_item &item : items) item.kind = TD_INDEX_SLICE;
  items.back().kind = TD_INDEX_INT;
  items.back().start = static_cast<std::int64_t>(i);
  return td_index(td, items.data(), items.size(), result);
}

std::string difference(const Snapshot &got, const Snapshot &want, bool close) {
  if (got.form != want.form) {
    std::size_t at = 0;
    while (at < got.form.size() && at < want.form.size() && got.form[at] == want.form[at]) ++at;
    const std::size_t line = at == 0 ? 0 : got.form.rfind('\n', at - 1) + 1;
    return "\"" + got.form.substr(line, got.form.find('\n', at) - line) +
           "\" where it should be \"" +
           (line < want.form.size() ? want.form.substr(line, want.form.find('\n', at) - line)
                                    : "") +
           "\"";
  }
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    if (!same(got.values[i], want.values[i], close)) return "values of tensor " + std::to_string(i);
  }
  return "";
}

std::string printed(const td_tensordict *td) {
  std::size_t length = 0;
  if (td_to_string(td, nullptr, 0, &length) == TD_OK || length != 0) {
    std::string text(length + 1, '\0');
    if (td_to_string(td, &text[0], text.size(), &length) == TD_OK) return text.c_str();
  }
  return "?";
}

std::string printed(const td_tensor *tensor) {
  std::size_t length = 0;
  const td_status asked = td_tensor_to_string(tensor, nullptr, 0, &length);
  std::string text(length + 1, '\0');
  if ((asked == TD_OK || asked == TD_ERR_BUFFER_TOO_SMALL) &&
      td_tensor_to_string(tensor, &text[0], text.size(), &length) == TD_OK)
    return text.c_str();
  return "?";
}

}  // namespace attack
