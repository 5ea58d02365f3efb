// Scratch: memory of a kernel for the time of a call.
#pragma once

#include <keyway/core/host_allocator.h>

#include <cstddef>

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
  // The next `count` Ts, aligned to 64. Requires: the parts taken so far, each rounded up to 64 bytes, fit.
  template <typename T>
  T* take(std::int64_t count) {
    char* const part = data_;
    data_ += bytes_for<T>(count);
    return reinterpret_cast<T*>(part);
  }
  template <typename T>
  static constexpr std::size_t bytes_for(std::int64_t count) {
    return (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
  }

 private:
  DataPtr heap_;
  char* data_;
  alignas(64) char inline_[kInline];
};

}  // namespace keyway::inline v1
