// How often libraries of the emulated device are called: for tests that are to see which way a kernel took.
#pragma once

#include <cstdint>

namespace emulator {

void count(const char* call);

}  // namespace emulator

// Looked up by the tests, in the plug-in (tests/backends/cuda/driver/emulated_calls.h).
extern "C" __attribute__((visibility("default"))) std::int64_t keyway_emulated_calls(const char* call);
