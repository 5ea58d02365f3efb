// Rules of Fourier transforms: results are row-major.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

inline OutputMeta _fft_c2c(const TensorBase& self, IntArrayRef, std::int64_t, bool) { return meta_of(self.sizes()); }

// The zeroth element and those up to the middle one, whose conjugate has the same index.
inline OutputMeta _fft_half(const TensorBase& self, std::int64_t) {
  OutputMeta result = meta_of(self.sizes());
  result.sizes.back() = result.sizes.back() / 2 + 1;
  return result;
}

}  // namespace keyway::inline v1::rules
