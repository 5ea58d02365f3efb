// Several tensors as one of one dimension, and back.
#pragma once

#include <torch/types.h>
#include <vector>

namespace torch::utils {

// All elements, one tensor after the other. Errors (Value): no tensor.
inline Tensor flatten_dense_tensors(ArrayRef<Tensor> tensors) {
  std::vector<Tensor> flat;
  flat.reserve(tensors.size());
  for (const Tensor& tensor : tensors) flat.push_back(tensor.reshape({-1}));
  return keyway::cat(flat);
}
// Pieces of `flat` with the sizes of `tensors`: views where sizes allow it.
inline std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, ArrayRef<Tensor> tensors) {
  std::vector<Tensor> pieces;
  pieces.reserve(tensors.size());
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    pieces.push_back(flat.narrow(0, start, tensor.numel()).view(tensor.sizes()));
    start += tensor.numel();
  }
  return pieces;
}

}  // namespace torch::utils
