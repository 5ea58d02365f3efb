// SmallVector<T, N>: a vector of trivially copyable T whose first N elements need no allocation.
#pragma once

#include <keyway/core/base/array_ref.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>

namespace keyway::inline v1 {

template <typename T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;

  SmallVector() {}
  explicit SmallVector(std::size_t n, T value = T()) { resize(n, value); }
  SmallVector(ArrayRef<T> from) { assign(from); }
  SmallVector(std::initializer_list<T> from) { assign(from); }
  template <typename It>
  requires requires(It it) { *it++; }
  SmallVector(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  SmallVector(const SmallVector& other) { assign(other); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  SmallVector& operator=(ArrayRef<T> from) {
    assign(from);
    return *this;
  }
  ~SmallVector() = default;

  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  // Requires: i < size().
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    const std::size_t grown = n < 2 * capacity_ ? 2 * capacity_ : n;
    std::unique_ptr<T[]> heap(new T[grown]);
    if (size_ != 0) std::memcpy(static_cast<void*>(heap.get()), data(), size_ * sizeof(T));
    heap_ = std::move(heap);
    capacity_ = grown;
  }
  void resize(std::size_t n, T value = T()) {
    reserve(n);
    for (std::size_t i = size_; i < n; ++i) data()[i] = value;
    size_ = n;
  }
  void clear() { size_ = 0; }
  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  // Requires: !empty().
  void pop_back() { --size_; }
  // Requires: at <= size().
  void insert(std::size_t at, T value) {
    push_back(value);
    for (std::size_t i = size_ - 1; i > at; --i) data()[i] = data()[i - 1];
    data()[at] = value;
  }
  // Requires: at < size().
  void erase(std::size_t at) {
    for (std::size_t i = at + 1; i < size_; ++i) data()[i - 1] = data()[i];
    --size_;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) { return ArrayRef<T>(a) == ArrayRef<T>(b); }
  friend bool operator==(const SmallVector& a, ArrayRef<T> b) { return ArrayRef<T>(a) == b; }

 private:
  void assign(ArrayRef<T> from) {
    size_ = 0;
    reserve(from.size());
    copy(from.data(), from.size(), data());
    size_ = from.size();
  }
  // Few elements, which is what most are, take no call of memcpy.
  static void copy(const T* from, std::size_t n, T* to) {
    if (n > 3) [[unlikely]] {
      std::memcpy(static_cast<void*>(to), from, n * sizeof(T));
      return;
    }
    if (n > 0) to[0] = from[0];
    if (n > 1) to[1] = from[1];
    if (n > 2) to[2] = from[2];
  }
  void take(SmallVector& other) noexcept {
    if (other.heap_) {
      heap_ = std::move(other.heap_);
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.capacity_ = N;
    } else {
      copy(other.inline_, other.size_, data());
      size_ = other.size_;
    }
    other.size_ = 0;
  }

  std::size_t size_ = 0;
  std::size_t capacity_ = N;
  std::unique_ptr<T[]> heap_;
  T inline_[N];
};

// Sizes, strides and dimension lists: six dimensions without an allocation.
using DimVector = SmallVector<std::int64_t, 6>;

}  // namespace keyway::inline v1
