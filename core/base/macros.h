// What marks a declaration as public, and as callable from device code.
#pragma once

// Public symbols of the library. Everything else is hidden (the modules are built with hidden visibility).
#define KEYWAY_API __attribute__((visibility("default")))

// Functions that CUDA device code calls too.
#if defined(__CUDACC__)
#define KEYWAY_HD __host__ __device__
#else
#define KEYWAY_HD
#endif

// Error paths: kept out of the hot part of a function and of the binary.
#define KEYWAY_COLD __attribute__((noinline, cold))
