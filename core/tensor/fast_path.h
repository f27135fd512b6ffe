// core/tensor/fast_path.h: bypasses libtorch's dispatcher where that cannot be observed.
#pragma once

#include "core/base/error.h"
#include "core/base/recycler.h"
#include "core/tensor/sizes.h"

#include <ATen/core/Tensor.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/GradMode.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace td::fast {

// Dispatch keys of plain strided tensors. Others (wrappers, subclasses; batched, nested, sparse, quantised,
// conjugate or lazy tensors) need the dispatcher.
inline constexpr c10::DispatchKeySet plain_keys =
    c10::DispatchKeySet({c10::DispatchKey::CPU, c10::DispatchKey::CUDA, c10::DispatchKey::Meta,
                         c10::DispatchKey::ADInplaceOrView}) |
    c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset;

inline bool plain(const at::Tensor& tensor) noexcept {
  return tensor.defined() && (tensor.key_set() | plain_keys) == plain_keys;
}

// Whether the calling thread records no gradients and has nothing (vmap, tracing, a mode) between the caller
// and the kernels. Ask once per operation, not per leaf.
inline bool can_skip_dispatcher() noexcept {
  const c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  return !c10::GradMode::is_enabled() && keys.included_ == c10::default_included_set &&
         keys.excluded_ == c10::default_excluded_set;
}

// Whether memcpy can read and write the tensor.
inline bool plain_cpu(const at::Tensor& tensor) noexcept {
  return plain(tensor) && tensor.device().type() == c10::DeviceType::CPU;
}

// Whether no two elements share memory; false if unsure.
inline bool distinct_elements(const at::Tensor& tensor) noexcept {
  if (tensor.is_non_overlapping_and_dense()) return true;
  const SizesView sizes = tensor.sizes();
  const SizesView strides = tensor.strides();
  c10::SmallVector<std::pair<std::int64_t, std::int64_t>, 6> dims;  // stride, size
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] > 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t reach = 0;  // offset of the last element of the inner dimensions
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

// Whether memory can be written row by row. If elements share memory, as in an expanded tensor, ATen refuses
// the write or defines the order.
inline bool writable_rows(const at::Tensor& tensor) noexcept {
  return plain_cpu(tensor) && distinct_elements(tensor);
}

// A TensorImpl whose object is allocated by the Recycler.
class Impl : public c10::TensorImpl {
 public:
  using c10::TensorImpl::TensorImpl;
  static void* operator new(std::size_t) { return Recycler<sizeof(c10::TensorImpl)>::take(); }
  static void operator delete(void* memory) { Recycler<sizeof(c10::TensorImpl)>::give(memory); }
};
static_assert(sizeof(Impl) == sizeof(c10::TensorImpl));

// The type marks a view that autograd does not know: autograd metadata would cost as much as the view.
class ViewImpl : public Impl {
 public:
  using Impl::Impl;
};
// A view of a tensor that requires gradients.
class RecordedViewImpl final : public ViewImpl {
 public:
  using ViewImpl::ViewImpl;
};
static_assert(sizeof(RecordedViewImpl) == sizeof(c10::TensorImpl));

// Whether make_view() made the view, of a tensor that requires gradients. Gradients written through it would
// not reach its base, unnoticed by libtorch: check this before a recorded write.
inline bool is_view_of_recorded(const c10::TensorImpl& impl) noexcept {
  return typeid(impl) == typeid(RecordedViewImpl);
}
inline bool is_unrecorded_view(const c10::TensorImpl& impl) noexcept {
  return typeid(impl) == typeid(ViewImpl) || is_view_of_recorded(impl);
}

// A view of a plain tensor that shares its version counter, as ATen's views do. Requires
// can_skip_dispatcher(). With Impl it equals the result of detach().
template <class Kind = ViewImpl>
at::Tensor make_view(const at::Tensor& base, SizesView sizes, SizesView strides,
                     std::int64_t offset) {
  c10::TensorImpl* from = base.unsafeGetTensorImpl();
  if constexpr (std::is_same_v<Kind, ViewImpl>) {
    const bool recorded = from->autograd_meta() != nullptr && from->requires_grad();
    if (recorded || is_view_of_recorded(*from))
      return make_view<RecordedViewImpl>(base, sizes, strides, offset);
  }
  auto impl = c10::make_intrusive<Kind>(c10::TensorImpl::VIEW, c10::Storage(from->unsafe_storage()),
                                        from->key_set(), from->dtype());
  impl->set_sizes_and_strides(sizes, strides, offset);
  if (!from->is_inference()) impl->set_version_counter(from->version_counter());
  return at::Tensor(
      c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(impl.release()));
}

// Uninitialised CPU memory.
inline c10::Storage make_storage(std::size_t bytes) {
  c10::Allocator* allocator = c10::GetCPUAllocator();
  return {c10::Storage::use_byte_size_t(), bytes, allocator->allocate(bytes), allocator,
          /*resizable=*/true};
}

// A contiguous tensor over memory, from a byte on. It knows nothing of others there: its version is its own.
inline at::Tensor make_part(c10::Storage storage, c10::ScalarType dtype, std::size_t first_byte,
                            SizesView sizes,
                            c10::DispatchKeySet keys = c10::DispatchKeySet(c10::DispatchKey::CPU)) {
  auto impl = c10::make_intrusive<Impl>(std::move(storage), keys, c10::scalarTypeToTypeMeta(dtype));
  impl->set_sizes_contiguous(sizes);
  if (first_byte != 0)
    impl->set_storage_offset(static_cast<std::int64_t>(first_byte / c10::elementSize(dtype)));
  return at::Tensor(
      c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(impl.release()));
}

// A contiguous tensor over memory that others own, as from at::from_blob, which takes longer than the rest of a call and
// has a std::function for the owner.
inline at::Tensor over_memory(
    c10::DataPtr memory, std::size_t bytes, c10::ScalarType dtype, SizesView sizes,
    c10::DispatchKeySet keys = c10::DispatchKeySet(c10::DispatchKey::CPU)) {
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, std::move(memory),
                       /*allocator=*/nullptr, /*resizable=*/false);
  return make_part(std::move(storage), dtype, 0, sizes, keys);
}

// Uninitialised contiguous CPU memory, as from at::empty.
inline at::Tensor make_dense(SizesView sizes, c10::ScalarType dtype) {
  std::size_t bytes = c10::elementSize(dtype);
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes)) {
      fail(Code::out_of_memory, "a tensor of shape ", show_sizes(sizes),
           " needs more bytes than can be addressed");
    }
  }
  return make_part(make_storage(bytes), dtype, 0, sizes);
}

// Tells autograd that the values changed, as every in-place operation does.
inline void bump_version(const at::Tensor& tensor) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (!impl->is_inference()) impl->bump_version();
}

}  // namespace td::fast
