#include "core/replay/draw_list.h"

#include "core/memmap/memmap.h"
#include "core/tensor/dtype.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

constexpr std::int64_t short_table = 1024;

}  // namespace

void DrawList::begin(std::int64_t n, std::int64_t batch, RandomNumbers& random) {
  std::optional<Permutation> order;
  if (shuffle_) order.emplace(n, random.next(), short_table);
  next_.list = std::make_shared<const Order>(drop_last_ ? n / batch * batch : n, std::move(order));
  next_.at = 0;
  next_.rows = n;
}

void DrawList::take(std::int64_t n, std::int64_t count, const char* what, RandomNumbers& random,
                    std::vector<std::int64_t>& numbers,
                    const std::function<bool(std::int64_t)>& is_left_out) {
  if (drop_last_ && count > n) {
    fail(Code::shape, "a full batch of ", count, " ", what, " was asked for; there are ", n);
  }
  if (next_.rows != n || !next_.list) begin(n, count, random);
  for (std::int64_t taken = 0; next_.at < next_.list->size() && taken < count;) {
    const std::int64_t number = (*next_.list)[next_.at++];
    if (is_left_out && is_left_out(number)) continue;
    numbers.push_back(number);
    ++taken;
  }
  const std::int64_t left = next_.list->size() - next_.at;
  next_.ran_out = left == 0 || (drop_last_ && left < count);
  if (next_.ran_out) begin(n, count, random);
}

void DrawList::commit() noexcept {
  now_ = next_;
  changed_ = true;
}

void DrawList::save(const std::string& folder, bool in_new, bool forgotten) const {
  TensorDict state = stored_.clone(/*recurse=*/false);
  const auto put = [&](std::string_view name, at::Tensor value) {
    const std::string_view path[] = {name};
    state.set(path, std::move(value));
  };
  put("len_storage", at::scalar_tensor(forgotten ? 0 : now_.rows, at::kLong));
  const std::int64_t left = now_.list && !forgotten ? now_.list->size() - now_.at : 0;
  const at::Tensor list = at::empty({left}, at::kLong);
  for (std::int64_t i = 0; i < left; ++i)
    list.data_ptr<std::int64_t>()[i] = (*now_.list)[now_.at + i];
  if (list.numel() != 0 || !null_list_) put("_sample_list", list);
  put("drop_last", at::scalar_tensor(drop_last_, at::kBool));
  put("_ran_out", at::scalar_tensor(now_.ran_out, at::kBool));
  MemmapOptions options;
  options.aside = in_new;
  memmap(state, folder, options);
}

bool DrawList::load(const std::string& folder, std::int64_t most) {
  LoadOptions options;
  options.private_mapping = true;
  TensorDict state = load_memmap(folder, options).clone();
  const auto entry = [&](const char* name, c10::ScalarType dtype, std::int64_t dims) {
    const std::string_view path[] = {name};
    const at::Tensor value = state.get(path);
    if (value.scalar_type() != dtype || value.dim() != dims) {
      fail(Code::format, "\"", name, "\" in \"", folder, "\" is ", dtype_name(value.scalar_type()),
           " of shape ", show_sizes(value.sizes()));
    }
    return value;
  };
  State read;
  read.rows = entry("len_storage", at::kLong, 0).item<std::int64_t>();
  // The list of a sampler that was never drawn from is null.
  const std::string_view list_name[] = {"_sample_list"};
  const bool none = state.kind_of(list_name) == EntryKind::non_tensor &&
                    state.get_non_tensor(list_name) == "null";
  const at::Tensor list =
      none ? at::empty({0}, at::kLong) : entry("_sample_list", at::kLong, 1).contiguous();
  const auto* places = list.data_ptr<std::int64_t>();
  if (read.rows < 0 || read.rows > most) {
    fail(Code::format, "\"", folder, "\" is of ", read.rows, " rows; the buffer has places for ",
         most);
  }
  // TorchRL makes a list before it refuses a batch of more rows than there are, and makes another one next time.
  const bool of_others = list.numel() > read.rows;
  const std::int64_t rows = of_others ? most : read.rows;
  std::vector<std::int64_t> sorted(places, places + list.numel());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool again = i != 0 && sorted[i] == sorted[i - 1];
    if (sorted[i] >= 0 && sorted[i] < rows && !again) continue;
    fail(Code::format, "\"_sample_list\" in \"", folder, "\" names row ", sorted[i],
         again ? " twice" : "", "; there are ", rows);
  }
  read.ran_out = entry("_ran_out", at::kBool, 0).item<bool>();
  const bool drop_last = entry("drop_last", at::kBool, 0).item<bool>();
  if (list.numel() != 0 && !of_others)
    read.list =
        std::make_shared<const Order>(std::vector<std::int64_t>(places, places + list.numel()));
  drop_last_ = drop_last;
  null_list_ = none;
  changed_ = false;
  now_ = std::move(read);
  stored_ = std::move(state);
  return now_.list != nullptr;
}

}  // namespace td
