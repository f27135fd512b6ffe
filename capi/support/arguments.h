// arguments.h: arguments of C turned into those of the core, and results back.
#pragma once

#include "handle_table.h"
#include "td/index.h"
#include "td/tensordict.h"
#include "tensordict/td.h"

#include <cstring>
#include <string_view>

namespace capi {

[[noreturn]] void fail_null(const char* what);
[[noreturn]] void fail_handle(const void* handle, const char* wanted);

template <class T>
T* not_null(T* pointer, const char* name) {
  if (pointer == nullptr) fail_null(name);
  return pointer;
}

// What a handle type stands for. Each keeps one counted pointer, or one owned object, in its slot.
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
  static void* pack(const td::TensorDict& td) { return td::NodePtr(td.node()).release(); }
  static td::TensorDict unpack(void* raw) noexcept {
    return td::TensorDict(td::NodePtr::reclaim(static_cast<td::Node*>(raw)));
  }
};

// The object behind a handle, for the length of a call: it owns nothing, so a call counts nothing.
template <class Handle>
class Borrowed {
 public:
  using Object = typename Traits<Handle>::Object;
  explicit Borrowed(void* raw) noexcept { new (&object_) Object(Traits<Handle>::unpack(raw)); }
  ~Borrowed() {}  // the table keeps its reference
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  operator Object&() noexcept { return object_; }  // NOLINT: stands for the object
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

// A result handle: cleared before anything else, written last, and only on success.
template <class Handle>
class Out {
 public:
  explicit Out(Handle** result) : result_(not_null(result, "result")) { *result_ = nullptr; }

  template <class Object>
  void put(Object&& object) {
    using T = Traits<Handle>;
    void* raw = T::pack(std::forward<Object>(object));
    try {
      *result_ = reinterpret_cast<Handle*>(HandleTable::instance().open(raw, T::kind));
    } catch (...) {
      T::unpack(raw);
      throw;
    }
  }

 private:
  Handle** result_;
};

template <class Handle>
void free_handle(Handle* handle) noexcept {
  using T = Traits<Handle>;
  void* raw = HandleTable::instance().close(reinterpret_cast<std::uintptr_t>(handle), T::kind);
  if (raw != nullptr) T::unpack(raw);
}

// Numbers and text into the caller's memory: the length always, the content when it fits.
template <class T>
void write_list(const T* from, std::size_t n, T* to, std::size_t room, std::size_t* length);
void write_sizes(td::SizesView sizes, int64_t* to, std::size_t room, std::size_t* dims);
void write_text(std::string_view text, char* to, std::size_t room, std::size_t* length);

// (path, path_len): the names are viewed, not copied.
class PathIn {
 public:
  PathIn(const char* const* path, std::size_t path_len);
  operator td::Path() const noexcept { return names_; }  // NOLINT: stands for the path

 private:
  c10::SmallVector<std::string_view, 4> names_;
};

td::SizesView sizes_in(const int64_t* sizes, std::size_t dims, const char* name = "sizes");

using Items = c10::SmallVector<td::IndexItem, 6>;
Items items_in(const td_index_item* items, std::size_t items_len);

// Options: NULL means the defaults; what a newer client has to say must be zero.
template <class Options>
Options options_in(const Options* options, const Options& defaults, std::size_t first_size) {
  Options result = defaults;
  if (options == nullptr) return result;
  const std::size_t size = options->struct_size;
  if (size < first_size) {
    td::fail(td::Code::invalid_argument, "options of ", size, " bytes: struct_size must be at least ", first_size);
  }
  const char* bytes = reinterpret_cast<const char*>(options);
  for (std::size_t i = sizeof(Options); i < size; ++i) {
    if (bytes[i] != 0) {
      td::fail(td::Code::unsupported, "options of ", size, " bytes hold a field that this version does not know");
    }
  }
  std::memcpy(&result, options, std::min(size, sizeof(Options)));
  return result;
}

// Devices and dtypes by the numbers of the ABI.
std::optional<c10::Device> device_in(td_device_type type, int32_t index);  // none for TD_DEVICE_NONE
td_device_type device_type_out(const std::optional<c10::Device>& device);
int32_t device_index_out(const std::optional<c10::Device>& device);
c10::ScalarType dtype_in(td_dtype dtype);
td_dtype dtype_out(c10::ScalarType dtype) noexcept;

}  // namespace capi
