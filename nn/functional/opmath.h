// What functions of several steps compute in. Internal to nn.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::nn::functional {

// `x` itself, or in float32 if it is of 16-bit floats: no step then rounds or overflows that the result does not.
inline Tensor to_opmath(const Tensor& x) { return x.dtype() == kHalf || x.dtype() == kBFloat16 ? x.to(kFloat) : x; }

}  // namespace keyway::inline v1::nn::functional
