// InlineVector<T, N>: a vector that only grows, whose first N elements need no allocation; for what SmallVector, which
// copies bytes, cannot hold.
#pragma once

#include <keyway/core/base/array_ref.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

template <typename T, std::size_t N>
class InlineVector {
  static_assert(std::is_nothrow_move_constructible_v<T>);

 public:
  InlineVector() = default;
  InlineVector(const InlineVector&) = delete;
  InlineVector& operator=(const InlineVector&) = delete;
  ~InlineVector() {
    std::destroy_n(data_, size_);
    if (data_ != inline_data()) std::allocator<T>().deallocate(data_, capacity_);
  }

  void push_back(T value) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    std::construct_at(data_ + size_, std::move(value));
    ++size_;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  // Requires: i < size().
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& operator[](std::size_t i) { return data_[i]; }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }

  void grow() {
    T* const wider = std::allocator<T>().allocate(2 * capacity_);
    std::uninitialized_move_n(data_, size_, wider);
    std::destroy_n(data_, size_);
    if (data_ != inline_data()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = wider;
    capacity_ *= 2;
  }

  T* data_ = inline_data();
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = N;
  alignas(T) std::byte inline_[N * sizeof(T)];
};

}  // namespace keyway::inline v1
