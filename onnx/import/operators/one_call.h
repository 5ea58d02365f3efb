// Operators of ONNX that are one of Keyway's, under another name or the same: a word in the table.
#pragma once

#include <keyway/onnx/import/format/element_type.h>
#include <keyway/onnx/import/format/message.h>
#include <keyway/onnx/import/program/call.h>
#include <keyway/ops/all.h>
#include <keyway/ops/tensor_literal.h>

namespace keyway::inline v1::onnx {

// Abs is one<abs>.
template <Tensor (*op)(const Tensor&)>
Results one(const Call& call) {
  return {op(call.tensor(0))};
}

// Add is two<add>: operands of one dtype, which broadcast.
template <Tensor (*op)(const Tensor&, const Tensor&)>
Results two(const Call& call) {
  const Tensor& a = call.tensor(0);
  const Tensor& b = call.tensor(1);
  call.check(a.dtype() == b.dtype(), "the inputs must have one dtype, not {} and {}", a.dtype(), b.dtype());
  return {op(a, b)};
}

}  // namespace keyway::inline v1::onnx
