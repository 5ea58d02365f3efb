// What the files of NVIDIA's libraries share: tables of the functions that are used, and what a library has on a
// device.
//
//   #define KEYWAY_CUFFT_FUNCTIONS(X) X(cufft, Create) X(cufft, Destroy)
//   KEYWAY_LIBRARY_TABLE(Cufft, KEYWAY_CUFFT_FUNCTIONS)
//
// is a struct Cufft with the pointers Create and Destroy, found in the file that its constructor is told.
// Internal to backends/cuda.
#pragma once

#include <keyway/backends/common/operands.h>
#include <keyway/backends/cuda/driver/devices.h>
#include <keyway/backends/cuda/driver/shared_library.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace keyway::inline v1::cuda {

#define KEYWAY_LIBRARY_POINTER(prefix, name) decltype(&prefix##name) name = nullptr;
#define KEYWAY_LIBRARY_FIND(prefix, name) library.find(#prefix #name, name);
#define KEYWAY_LIBRARY_TABLE(Table, FUNCTIONS)                  \
  struct Table {                                                \
    FUNCTIONS(KEYWAY_LIBRARY_POINTER)                           \
    bool is_open = false;                                       \
    std::string problem; /* empty if all functions are there */ \
    Table() = default;                                          \
    explicit Table(const std::string& file) {                   \
      LibraryFunctions<ToolkitLibrary> library(file);           \
      FUNCTIONS(KEYWAY_LIBRARY_FIND)                            \
      is_open = library.is_open();                              \
      problem = library.problem();                              \
    }                                                           \
  };

// The one T of each device, which lives as long as the process.
template <typename T>
T& of_device(Device device) {
  static auto& all = *new std::array<T, kMaxDevices>;
  return all[static_cast<std::size_t>(device.index())];
}

// Memory that a call needs beside its operands; undefined if that is none.
inline TensorBase workspace(std::size_t bytes, Device on) {
  return bytes == 0 ? TensorBase() : make_tensor({static_cast<std::int64_t>(bytes)}, kByte, on);
}

}  // namespace keyway::inline v1::cuda
