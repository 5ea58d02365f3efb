// Launches of one thread an element.
#pragma once

#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/detail/IndexUtils.cuh>

namespace at::cuda {

template <typename T>
T ATenCeilDiv(T a, T b) {
  return at::ceil_div(a, b);
}

}  // namespace at::cuda
