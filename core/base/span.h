// core/base/span.h: a view of contiguous elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace td {

// Converts from each container with data() and size(), including libtorch's.
template <class T>
class Span {
 public:
  using value_type = T;

  constexpr Span() = default;
  constexpr Span(const T* data, std::size_t size) : data_(data), size_(size) {}
  constexpr Span(const T& one) : data_(&one), size_(1) {}
  // The list must outlive the span: only for arguments.
  constexpr Span(const std::initializer_list<T>& list) : Span(list.begin(), list.size()) {}
  template <std::size_t n>
  constexpr Span(const T (&array)[n]) : data_(array), size_(n) {}
  template <class C, class = std::enable_if_t<std::is_convertible_v<
                         decltype(std::declval<const C&>().data()), const T*>>>
  constexpr Span(const C& container) : data_(container.data()), size_(container.size()) {}

  constexpr const T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const T* begin() const noexcept { return data_; }
  constexpr const T* end() const noexcept { return data_ + size_; }
  constexpr const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  constexpr const T& front() const noexcept { return data_[0]; }
  constexpr const T& back() const noexcept { return data_[size_ - 1]; }

  constexpr Span slice(std::size_t first) const noexcept { return {data_ + first, size_ - first}; }
  constexpr Span slice(std::size_t first, std::size_t count) const noexcept {
    return {data_ + first, count};
  }
  std::vector<T> vec() const { return {begin(), end()}; }

  friend bool operator==(Span a, Span b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend bool operator!=(Span a, Span b) { return !(a == b); }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace td
