// RunTimeCompiler: NVRTC, which makes machine code of the texts of kernels. The library is opened when it is first
// needed; no header of it is. Internal to backends/cuda/graph.
#pragma once

#include <string>

namespace keyway::inline v1::cuda {

// Why there is no NVRTC, with what to install; empty if there is one.
const std::string& run_time_compiler_problem();

// What NVRTC makes of a text, for "sm_90" machine code and for "compute_90" PTX. It finds the headers of Keyway that
// the text includes, which are a part of this library, and nothing else. As for the backend's own kernels, products and
// sums are not contracted. Throws keyway::Error(Internal) with NVRTC's log. Requires: there is one.
std::string compiled(const std::string& text, const std::string& architecture);

}  // namespace keyway::inline v1::cuda
