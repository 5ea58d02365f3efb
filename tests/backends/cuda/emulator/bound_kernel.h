// BoundKernel: a kernel with the arguments of its launch.
#pragma once

#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/kernel_address.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace emulator {

// Copies the arguments, as the runtime does: who launched it may change them afterwards.
class BoundKernel {
 public:
  BoundKernel(const void* kernel, const keyway::cuda::KernelSignature& signature, const void* const* arguments)
      : kernel_(kernel), call_(signature.call) {
    std::size_t lines = 0;
    for (std::size_t i = 0; i < signature.count; ++i) lines += lines_of(signature.sizes[i]);
    memory_.resize(lines);
    Line* line = memory_.data();
    for (std::size_t i = 0; i < signature.count; ++i) {
      std::memcpy(line, arguments[i], signature.sizes[i]);
      arguments_.push_back(line);
      line += lines_of(signature.sizes[i]);
    }
  }
  BoundKernel(const BoundKernel&) = delete;
  BoundKernel& operator=(const BoundKernel&) = delete;

  // What one thread does.
  void operator()() const { call_(kernel_, arguments_.data()); }

 private:
  struct alignas(64) Line {  // as aligned as any parameter
    std::byte bytes[64];
  };
  static std::size_t lines_of(std::size_t size) { return (size + sizeof(Line) - 1) / sizeof(Line); }

  const void* const kernel_;
  void (*const call_)(const void* kernel, void* const* arguments);
  std::vector<Line> memory_;
  std::vector<void*> arguments_;
};

}  // namespace emulator
