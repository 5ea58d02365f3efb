// Blocks of a launch, on the host.
#pragma once

#include <cuda_runtime_api.h>
#include <functional>

namespace emulator {

// Runs `thread` for every thread of every block, each with threadIdx and its like set. Of a block one thread runs to
// its next barrier or its end, then another one, in an order that is turned round from block to block and from barrier
// to barrier: a kernel that lacks a barrier gives other results than one that has it.
void run_grid(dim3 blocks, dim3 threads, const std::function<void()>& thread);

}  // namespace emulator
