// A convolution by the attributes of a call, for operators that prepare its operands.
#pragma once

#include <keyway/onnx/import/program/call.h>

namespace keyway::inline v1::onnx {

Tensor convolve(const Call& call, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias);

}  // namespace keyway::inline v1::onnx
