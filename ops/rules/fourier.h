// Rules of Fourier transforms: results are row-major.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::rules {

inline OutputMeta _fft_c2c(const TensorBase& self, IntArrayRef, std::int64_t, bool) { return meta_of(self.sizes()); }

}  // namespace keyway::inline v1::rules
