#include "arguments.h"

#include "core/inspect/print.h"
#include "core/tensor/device.h"
#include "core/tensor/index_items.h"

namespace capi {

void fail_null(const char* what) { td::fail(td::Code::null_argument, what, " is NULL"); }

void fail_handle(const void* handle, const char* wanted) {
  if (handle == nullptr) td::fail(td::Code::null_argument, "the ", wanted, " is NULL");
  td::fail(td::Code::bad_handle, "the handle of the ", wanted,
           " was never issued, was freed, or is of another kind");
}

namespace {

template <class T>
void write_list(const T* from, std::size_t n, T* to, std::size_t room, std::size_t* length) {
  *length = n;
  if (room == 0) return;
  not_null(to, "the buffer");
  if (room < n)
    td::fail(td::Code::buffer_too_small, n, " are needed, the buffer has room for ", room);
  std::copy(from, from + n, to);
}
}  // namespace

void write_sizes(td::SizesView sizes, int64_t* to, std::size_t room, std::size_t* dims) {
  static_assert(std::is_same_v<int64_t, std::int64_t>);
  write_list(sizes.data(), sizes.size(), to, room, not_null(dims, "dims"));
}

void write_text(std::string_view text, char* to, std::size_t room, std::size_t* length) {
  *not_null(length, "length") = text.size();
  if (room == 0) return;
  not_null(to, "text");
  if (room <= text.size()) {
    td::fail(td::Code::buffer_too_small, "the text needs ", text.size() + 1,
             " bytes with its NUL, the buffer has ", room);
  }
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
}

void write_bytes(std::string_view bytes, void* to, std::size_t room, std::size_t* length) {
  *not_null(length, "length") = bytes.size();
  if (room == 0) return;
  not_null(to, "bytes");
  if (room < bytes.size()) {
    td::fail(td::Code::buffer_too_small, bytes.size(), " bytes do not fit into ", room);
  }
  std::memcpy(to, bytes.data(), bytes.size());
}

void check_torch() {
  // libtorch keeps no ABI between minor versions: with another one the library would crash.
  const std::string built = c10::str(TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR);
  const std::string_view found = td_torch_version();
  const bool unknown = found == "unknown";
  const bool same = found.substr(0, built.size()) == built &&
                    (found.size() == built.size() || found[built.size()] == '.');
  if (!unknown && !same) {
    td::fail(td::Code::version, "built for libtorch ", built, ", but libtorch ", found,
             " is loaded in this process");
  }
  torch_checked.store(true, std::memory_order_relaxed);
}

void PathIn::fail_name(std::size_t i) {
  td::fail(td::Code::key_invalid, "name ", i, " of the key is NULL");
}

td::Sizes numbers_in(const int64_t* numbers, std::size_t n, const char* name) {
  if (n != 0) not_null(numbers, name);
  return td::Sizes(numbers, numbers + n);
}

td::Sizes sizes_in(const int64_t* sizes, std::size_t dims, const char* name) {
  td::require_dims(dims);
  return numbers_in(sizes, dims, name);
}

namespace {

td::IndexItem item_in(const td_index_item& item) {
  if (item.reserved[0] != 0 || item.reserved[1] != 0 || item.reserved[2] != 0) {
    td::fail(td::Code::invalid_argument, "an index item has a reserved field that is not zero");
  }
  constexpr td_index_flags known = TD_INDEX_HAS_START | TD_INDEX_HAS_STOP | TD_INDEX_HAS_STEP;
  if ((item.flags & ~known) != 0)
    td::fail(td::Code::unsupported, "an index item has flags ", item.flags,
             ", which this version does not know");
  const auto given = [&](td_index_flags flag, std::int64_t value) {
    return (item.flags & flag) != 0 ? std::optional<std::int64_t>(value) : std::nullopt;
  };
  switch (item.kind) {
    case TD_INDEX_INT: return td::IndexItem::at(item.start);
    case TD_INDEX_SLICE:
      return td::IndexItem::range(given(TD_INDEX_HAS_START, item.start),
                                  given(TD_INDEX_HAS_STOP, item.stop),
                                  given(TD_INDEX_HAS_STEP, item.step));
    case TD_INDEX_ELLIPSIS: return td::IndexItem::ellipsis();
    case TD_INDEX_NONE: return td::IndexItem::none();
    case TD_INDEX_TENSOR:
      return td::IndexItem::of(in(not_null(item.tensor, "the tensor of an index item")));
    case TD_INDEX_BOOL: return td::IndexItem::boolean(item.start != 0);
    default:
      td::fail(td::Code::unsupported, "an index item is of kind ", item.kind,
               ", which this version does not know");
  }
}

}  // namespace

Items items_in(const td_index_item* items, std::size_t items_len) {
  if (items_len != 0) not_null(items, "items");
  Items result;
  for (std::size_t i = 0; i < items_len; ++i) result.push_back(item_in(items[i]));
  return result;
}

void write_items(const std::vector<td::IndexItem>& from, td_index_item* to, std::size_t room,
                 std::size_t* length) {
  std::vector<td_index_item> items;
  for (const td::IndexItem& item : from) {
    td_index_item one{};
    one.kind = static_cast<td_index_kind>(item.kind);
    one.start = item.start.value_or(0);
    one.stop = item.stop.value_or(0);
    one.step = item.step.value_or(0);
    if (item.kind == td::IndexKind::slice) {
      const auto flag = [](bool given, td_index_flags bit) {
        return given ? bit : td_index_flags{0};
      };
      one.flags = flag(item.start.has_value(), TD_INDEX_HAS_START) |
                  flag(item.stop.has_value(), TD_INDEX_HAS_STOP) |
                  flag(item.step.has_value(), TD_INDEX_HAS_STEP);
    }
    items.push_back(one);
  }
  write_list(items.data(), items.size(), to, room, length);
}

c10::SmallVector<td::TensorDict, 8> dicts_in(const td_tensordict* const* sources, std::size_t n) {
  if (n != 0) not_null(sources, "sources");
  c10::SmallVector<td::TensorDict, 8> result;
  for (std::size_t i = 0; i < n; ++i) result.push_back(*in(not_null(sources[i], "a source")));
  return result;
}

namespace {

struct DeviceRow {
  td_device_type number;
  c10::DeviceType type;
};
constexpr DeviceRow devices[] = {
    {TD_DEVICE_CPU, c10::DeviceType::CPU},   {TD_DEVICE_CUDA, c10::DeviceType::CUDA},
    {TD_DEVICE_MPS, c10::DeviceType::MPS},   {TD_DEVICE_XPU, c10::DeviceType::XPU},
    {TD_DEVICE_META, c10::DeviceType::Meta},
};

static_assert(TD_DTYPE_UINT64 == static_cast<td_dtype>(td::DType::uint64));

}  // namespace

std::optional<c10::Device> device_in(td_device_type type, int32_t index) {
  if (type == TD_DEVICE_NONE) return std::nullopt;
  for (const DeviceRow& row : devices) {
    if (row.number != type) continue;
    return td::make_device(row.type, row.type == c10::DeviceType::CPU && index == 0 ? -1 : index);
  }
  td::fail(td::Code::device, "device type ", type, " is unknown to this version");
}

c10::Device real_device_in(td_device_type type, int32_t index) {
  const std::optional<c10::Device> device = device_in(type, index);
  if (!device) td::fail(td::Code::device, "TD_DEVICE_NONE is not a device to move to");
  return *device;
}

td_device_type device_type_out(const std::optional<c10::Device>& device) {
  if (!device) return TD_DEVICE_NONE;
  for (const DeviceRow& row : devices) {
    if (row.type == device->type()) return row.number;
  }
  td::fail(td::Code::device, "device \"", device->str(), "\" has no number in this version");
}

int32_t device_index_out(const std::optional<c10::Device>& device) {
  return device && device->has_index() ? device->index() : -1;
}

c10::ScalarType dtype_in(td_dtype dtype) {
  const auto wanted = static_cast<td::DType>(dtype);
  if (!td::is_stored(wanted)) {
    td::fail(td::Code::dtype, "dtype number ", dtype, " is unknown to this version");
  }
  const c10::ScalarType found = td::scalar_type(wanted);
  if (found == c10::ScalarType::Undefined) {
    td::fail(td::Code::dtype, "uint16, uint32 and uint64 need libtorch 2.3 or newer; this is ",
             td_torch_version());
  }
  return found;
}

td_dtype dtype_out(c10::ScalarType dtype) noexcept {
  const td::DType found = td::dtype_of(dtype);
  return td::is_stored(found) ? static_cast<td_dtype>(found) : TD_DTYPE_OTHER;
}

const char* dtype_text(td_dtype dtype) noexcept {
  const auto wanted = static_cast<td::DType>(dtype);
  if (!td::is_stored(wanted) || td::scalar_type(wanted) == c10::ScalarType::Undefined) return "";
  return td::find_dtype(wanted)->torch.data();  // of a literal: it ends with a NUL
}

}  // namespace capi
