// ArrayRef<T>: a view of a contiguous run of const T that somebody else owns.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace keyway::inline v1 {

template <typename T>
class ArrayRef;

namespace detail {
// A container, other than ArrayRef itself, that holds its Ts side by side.
template <typename C, typename T>
concept ContainerOf = !std::is_same_v<C, ArrayRef<T>> && requires(const C& c) {
  { c.data() } -> std::convertible_to<const T*>;
  requires sizeof(*c.data()) == sizeof(T);  // a pointer to a derived class converts too
  { c.size() } -> std::convertible_to<std::size_t>;
};
}  // namespace detail

// Cheap to copy; valid while what it was made from lives. One made from a braced list lives until the end
// of the full expression, which is what an argument needs and no more: never store it.
template <typename T>
class ArrayRef {
 public:
  using value_type = T;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* first, const T* last) : data_(first), size_(static_cast<std::size_t>(last - first)) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(std::initializer_list<T> list) : data_(list.begin()), size_(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  template <std::size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}  // NOLINT
  // One integer, where a list is asked for: view(-1), max_pool2d(x, 2). It must live as long as a braced
  // list.
  constexpr ArrayRef(const T& one) requires std::same_as<T, std::int64_t> : data_(&one), size_(1) {}  // NOLINT
  // Any container with data() and size() of T: std::vector, std::array, SmallVector, std::span.
  template <detail::ContainerOf<T> C>
  constexpr ArrayRef(const C& container) : data_(container.data()), size_(container.size()) {}  // NOLINT

  constexpr const T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  // Requires: i < size().
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }

  // Requires: start <= size(). The run from `start`, at most `count` long.
  constexpr ArrayRef slice(std::size_t start, std::size_t count = static_cast<std::size_t>(-1)) const {
    const std::size_t rest = size_ - start;
    return {data_ + start, count < rest ? count : rest};
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  constexpr bool equals(ArrayRef other) const { return *this == other; }

  friend constexpr bool operator==(ArrayRef a, ArrayRef b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

using IntArrayRef = ArrayRef<std::int64_t>;

}  // namespace keyway::inline v1
