// RunTimeCompiler: NVRTC, which makes machine code of the texts of kernels. The library is opened when it is first
// needed; no header of it is. Internal to backends/cuda/graph.
#pragma once

#include <keyway/core/base/array_ref.h>

#include <string>

namespace keyway::inline v1::cuda {

// Why there is no NVRTC, with what to install; empty if there is one. It is the newest one that is not newer than the
// driver, which loads no code of a newer one.
const std::string& run_time_compiler_problem();

// What to make for a device of this compute capability (90 for 9.0), where code can be made for `known` ones: "sm_90",
// its machine code; "compute_80", where it is not among them: PTX for the newest one below it, which the driver
// translates. Throws keyway::Error(NotImplemented) where there is none below it.
std::string best_architecture(ArrayRef<int> known, int capability);
// The same of what NVRTC knows. Requires: there is one.
std::string architecture_for(int capability);

// What NVRTC makes of a text, for "sm_90" machine code and for "compute_90" PTX. It finds the headers of Keyway that
// the text includes, which are a part of this library, and nothing else. As for the backend's own kernels, products and
// sums are not contracted. Throws keyway::Error(Internal) with NVRTC's log. Requires: there is one.
std::string compiled(const std::string& text, const std::string& architecture);

}  // namespace keyway::inline v1::cuda
