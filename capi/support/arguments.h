// arguments.h: converts arguments of C to those of the core, and results back.
#pragma once

#include "core/tensor/index.h"
#include "core/tree/tensordict.h"
#include "handle_table.h"
#include "tensordict/td.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace capi {

[[noreturn]] void fail_null(const char* what);
[[noreturn]] void fail_handle(const void* handle, const char* wanted);

template <class T>
T* not_null(T* pointer, const char* name) {
  if (pointer == nullptr) fail_null(name);
  return pointer;
}

// Maps a handle type to the object behind it. Each slot holds one counted pointer or one owned object.
template <class Handle>
struct Traits;

template <>
struct Traits<td_tensor> {
  static constexpr Kind kind = Kind::tensor;
  static constexpr const char* name = "tensor";
  using Object = at::Tensor;
  static void* pack(at::Tensor tensor) { return tensor.unsafeReleaseIntrusivePtr().release(); }
  static at::Tensor unpack(void* raw) noexcept {
    return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(
        static_cast<c10::TensorImpl*>(raw)));
  }
};

template <>
struct Traits<td_tensordict> {
  static constexpr Kind kind = Kind::dict;
  static constexpr const char* name = "dictionary";
  using Object = td::TensorDict;
  static void* pack(td::TensorDict td) { return std::move(td).take_node().release(); }
  static td::TensorDict unpack(void* raw) noexcept {
    return td::TensorDict(td::NodePtr::reclaim(static_cast<td::Node*>(raw)));
  }
};

// For handles that own one object.
template <class T, Kind k>
struct OwnedTraits {
  static constexpr Kind kind = k;
  using Object = T;
  static void* pack(std::unique_ptr<T> object) { return object.release(); }
  static std::unique_ptr<T> unpack(void* raw) noexcept {
    return std::unique_ptr<T>(static_cast<T*>(raw));
  }
};

// The object behind a handle, for the length of a call. It takes no reference, so it costs no atomic
// operation.
template <class Handle>
class Borrowed {
 public:
  using Object = typename Traits<Handle>::Object;
  explicit Borrowed(void* raw) noexcept { new (&object_) Object(Traits<Handle>::unpack(raw)); }
  ~Borrowed() {}  // keeps the reference of the table
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  operator Object&() noexcept { return object_; }  // NOLINT: implicit on purpose
  Object& operator*() noexcept { return object_; }
  Object* operator->() noexcept { return &object_; }

 private:
  union {
    Object object_;
  };
};

template <class Handle>
void* find(const Handle* handle) {
  using T = Traits<Handle>;
  void* raw = HandleTable::instance().find(reinterpret_cast<std::uintptr_t>(handle), T::kind);
  if (raw == nullptr) fail_handle(handle, T::name);
  return raw;
}

inline Borrowed<td_tensor> in(const td_tensor* handle) { return Borrowed<td_tensor>(find(handle)); }
inline Borrowed<td_tensordict> in(const td_tensordict* handle) {
  return Borrowed<td_tensordict>(find(handle));
}

// For handles that own their object.
template <class Handle>
typename Traits<Handle>::Object* in(const Handle* handle) {
  return static_cast<typename Traits<Handle>::Object*>(find(handle));
}

template <class Handle>
typename Traits<Handle>::Object* find_or_null(const Handle* handle) noexcept {
  using T = Traits<Handle>;
  return static_cast<typename T::Object*>(
      HandleTable::instance().find(reinterpret_cast<std::uintptr_t>(handle), T::kind));
}

// Throws Code::version unless the libtorch of this process has the minor version that the library was
// built for. The first call that makes a handle checks it.
void check_torch();
inline std::atomic<bool> torch_checked{false};
inline void require_torch() {
  if (!torch_checked.load(std::memory_order_relaxed)) check_torch();
}

// A result handle. The constructor clears it and takes a slot for it, so that put(), the last step of a call,
// cannot fail: it may follow a change that is not undone.
template <class Handle>
class Out {
 public:
  explicit Out(Handle** result) : result_(not_null(result, "result")) {
    *result_ = nullptr;
    require_torch();
    slot_ = HandleTable::instance().take();
  }
  Out(Out&& other) noexcept
      : result_(other.result_), slot_(std::exchange(other.slot_, HandleTable::no_slot)) {}
  ~Out() {
    if (slot_ != HandleTable::no_slot) HandleTable::instance().give_free(slot_);
  }

  // At most once.
  template <class Object>
  void put(Object&& object) noexcept {
    using T = Traits<Handle>;
    void* raw = T::pack(std::forward<Object>(object));
    *result_ = reinterpret_cast<Handle*>(
        HandleTable::instance().open(std::exchange(slot_, HandleTable::no_slot), raw, T::kind));
  }

 private:
  Handle** result_;
  std::uint32_t slot_;
};

template <class Handle>
void free_handle(Handle* handle) noexcept {
  using T = Traits<Handle>;
  void* raw = HandleTable::instance().close(reinterpret_cast<std::uintptr_t>(handle), T::kind);
  if (raw != nullptr) T::unpack(raw);
}

// Clears every result that is given, before a NULL among them is refused.
template <class... Handles>
void clear_results(Handles**... results) {
  ((results != nullptr ? void(*results = nullptr) : void()), ...);
}

// Several result handles.
template <class Handle>
class OutList {
 public:
  OutList(Handle** results, std::size_t room, std::size_t* count)
      : results_(results), room_(room), count_(not_null(count, "count")) {
    if (room != 0) not_null(results, "results");
    std::fill_n(results_, room_, nullptr);
  }

  // Reports the number of results before they are made, and takes slots for them. Returns false if the caller
  // asked for the number only.
  bool expect(std::size_t n) {
    *count_ = n;
    if (room_ != 0 && room_ < n) {
      td::fail(td::Code::buffer_too_small, n, " handles are returned, the array has room for ",
               room_);
    }
    if (room_ == 0) return false;
    outs_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) outs_.emplace_back(results_ + i);
    return true;
  }

  // As many as were expected, or fewer.
  template <class Object>
  void put(std::vector<Object> objects) noexcept {
    for (std::size_t i = 0; i < objects.size(); ++i) outs_[i].put(std::move(objects[i]));
  }

 private:
  Handle** results_;
  std::size_t room_;
  std::size_t* count_;
  std::vector<Out<Handle>> outs_;
};

// Copy into the caller's memory. They always report the length, and fail if the content does not fit.
void write_sizes(td::SizesView sizes, int64_t* to, std::size_t room, std::size_t* dims);
void write_text(std::string_view text, char* to, std::size_t room, std::size_t* length);
void write_bytes(std::string_view bytes, void* to, std::size_t room, std::size_t* length);

// (path, path_len). Views the names of the caller.
class PathIn {
 public:
  PathIn(const char* const* path, std::size_t path_len) {
    not_null(path, "path");
    for (std::size_t i = 0; i < path_len; ++i) {
      if (path[i] == nullptr) fail_name(i);
      names_.emplace_back(path[i]);
    }
  }
  operator td::Path() const noexcept { return names_; }  // NOLINT: implicit on purpose

 private:
  [[noreturn]] static void fail_name(std::size_t i);

  c10::SmallVector<std::string_view, 4> names_;
};

// Numbers of the caller, copied: they are checked, and then used. Sizes are at most 64.
td::Sizes numbers_in(const int64_t* numbers, std::size_t n, const char* name);
td::Sizes sizes_in(const int64_t* sizes, std::size_t dims, const char* name = "sizes");

// The caller's array itself, which must not change during the call.
template <class T>
c10::ArrayRef<T> array_in(const T* from, std::size_t n, const char* name) {
  if (n != 0) not_null(from, name);
  return {from, n};
}

using Items = c10::SmallVector<td::IndexItem, 6>;
Items items_in(const td_index_item* items, std::size_t items_len);
void write_items(const std::vector<td::IndexItem>& from, td_index_item* to, std::size_t room,
                 std::size_t* length);

c10::SmallVector<td::TensorDict, 8> dicts_in(const td_tensordict* const* sources, std::size_t n);

// Options; NULL means the defaults. Fields of a newer version than this one must be zero. `first_size` is the
// size of the first version; say it for a struct that has grown.
template <class Options>
Options options_in(const Options* options, const Options& defaults,
                   std::size_t first_size = sizeof(Options)) {
  Options result = defaults;
  if (options == nullptr) return result;
  const std::size_t size = options->struct_size;
  if (size < first_size) {
    td::fail(td::Code::invalid_argument, "options of ", size,
             " bytes: struct_size must be at least ", first_size);
  }
  constexpr std::size_t last_size = 4096;  // no version is larger: a larger number is garbage
  if (size > last_size) {
    td::fail(td::Code::invalid_argument, "options of ", size,
             " bytes: struct_size cannot be more than ", last_size);
  }
  const char* bytes = reinterpret_cast<const char*>(options);
  for (std::size_t i = sizeof(Options); i < size; ++i) {
    if (bytes[i] != 0) {
      td::fail(td::Code::unsupported, "options of ", size,
               " bytes hold a field that this version does not know");
    }
  }
  std::memcpy(&result, options, std::min(size, sizeof(Options)));
  return result;
}

// Devices and dtypes for the numbers of the ABI.
std::optional<c10::Device> device_in(td_device_type type,
                                     int32_t index);             // empty for TD_DEVICE_NONE
c10::Device real_device_in(td_device_type type, int32_t index);  // refuses TD_DEVICE_NONE
td_device_type device_type_out(const std::optional<c10::Device>& device);
int32_t device_index_out(const std::optional<c10::Device>& device);
c10::ScalarType dtype_in(td_dtype dtype);
td_dtype dtype_out(c10::ScalarType dtype) noexcept;
const char* dtype_text(td_dtype dtype) noexcept;  // "torch.float32"; "" if unknown

}  // namespace capi

// The functions of the interface use them by these names.
using capi::in;
using capi::items_in;
using capi::not_null;
using capi::Out;
using capi::PathIn;
using capi::sizes_in;
