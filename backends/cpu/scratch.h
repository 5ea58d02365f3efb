// Scratch: memory of a kernel for the time of a call.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/device/host_allocator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace keyway::inline v1 {

// What `count` Ts take, rounded up to 64. Throws keyway::Error where that is more than can be addressed.
template <typename T>
constexpr std::size_t scratch_bytes(std::int64_t count) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), sizeof(T), &bytes) || bytes > SIZE_MAX - 63) [[unlikely]]
    KEYWAY_FAIL(OutOfMemory, "a kernel would need {} elements of {} bytes", count, sizeof(T));
  return (bytes + 63) / 64 * 64;
}

// Uninitialised, aligned to 64. What fits into `kInline` bytes is part of the object and costs nothing.
template <std::size_t kInline>
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : heap_(bytes > kInline ? host_allocator().allocate(bytes) : DataPtr()),
        data_(bytes > kInline ? static_cast<char*>(heap_.get()) : inline_) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // What has not been taken.
  char* data() { return data_; }
  // The next `count` Ts, uninitialised, aligned to 64. Requires: the parts taken so far, each rounded up to 64 bytes,
  // fit.
  template <typename T>
  T* take(std::int64_t count) {
    char* const part = data_;
    data_ += scratch_bytes<T>(count);
    return reinterpret_cast<T*>(part);
  }

 private:
  DataPtr heap_;
  char* data_;
  alignas(64) char inline_[kInline];
};

// An array as large as a tensor: its memory is the host allocator's, and counts for its limit, as that of
// std::vector does not. Uninitialised, aligned to 64.
template <typename T>
class ScratchArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ScratchArray() = default;
  explicit ScratchArray(std::int64_t size)
      : memory_(size > 0 ? host_allocator().allocate(scratch_bytes<T>(size)) : DataPtr()), size_(size) {}
  ScratchArray(std::int64_t size, T value) : ScratchArray(size) { std::fill(begin(), end(), value); }

  T* data() const { return static_cast<T*>(memory_.get()); }
  std::int64_t size() const { return size_; }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  T& operator[](std::int64_t i) const { return data()[i]; }

 private:
  DataPtr memory_;
  std::int64_t size_ = 0;
};

}  // namespace keyway::inline v1
