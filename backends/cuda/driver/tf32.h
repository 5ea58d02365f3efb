// Whether float32 and complex64 may be rounded to TF32, 10 bits of fraction, before they are multiplied: a policy of
// this backend for all libraries. Internal to backends/cuda.
#pragma once

#include <cstdlib>
#include <string_view>

namespace keyway::inline v1::cuda {

inline bool allows_tf32() {
  static const bool allowed = [] {
    const char* const wanted = std::getenv("KEYWAY_CUDA_ALLOW_TF32");
    return wanted != nullptr && std::string_view(wanted) == "1";
  }();
  return allowed;
}

}  // namespace keyway::inline v1::cuda
