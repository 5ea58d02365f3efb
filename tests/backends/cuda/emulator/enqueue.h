// What libraries of the emulated device use of its runtime.
#pragma once

#include <cuda_runtime_api.h>
#include <functional>
#include <string>

namespace emulator {

// Work of a stream, done when somebody waits for it.
void enqueue(cudaStream_t stream, std::function<void()> work);

// Memory that a library takes for itself; null if there is none left. Stops the program while the thread captures a
// graph.
void* take_memory();
// For calls of libraries that may ask for memory: stops the program while the thread captures a graph.
void check_may_wait(const char* call);

// For what a device would be stopped by, or would quietly do wrong.
[[noreturn]] void stop(const std::string& what);

}  // namespace emulator
