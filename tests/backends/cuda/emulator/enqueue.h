// What libraries of the emulated device use of its runtime.
#pragma once

#include <cuda_runtime_api.h>
#include <functional>
#include <string>

namespace emulator {

// Work of a stream, done when somebody waits for it.
void enqueue(cudaStream_t stream, std::function<void()> work);

// For what a device would be stopped by, or would quietly do wrong.
[[noreturn]] void stop(const std::string& what);

}  // namespace emulator
