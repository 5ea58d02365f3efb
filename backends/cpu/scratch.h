// Scratch: memory of a kernel for the time of a call.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/host_allocator.h>

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

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
    data_ += bytes_for<T>(count);
    return reinterpret_cast<T*>(part);
  }
  template <typename T>
  static constexpr std::size_t bytes_for(std::int64_t count) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(count), sizeof(T), &bytes) || bytes > SIZE_MAX - 63)
        [[unlikely]]
      KEYWAY_FAIL(OutOfMemory, "a kernel would need {} elements of {} bytes", count, sizeof(T));
    return (bytes + 63) / 64 * 64;
  }

 private:
  DataPtr heap_;
  char* data_;
  alignas(64) char inline_[kInline];
};

}  // namespace keyway::inline v1
