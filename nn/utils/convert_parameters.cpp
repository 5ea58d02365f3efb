#include <keyway/core/base/error.h>
#include <keyway/nn/utils/convert_parameters.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn::utils {

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  const NoGradGuard no_grad;
  std::int64_t count = 0;
  for (const Tensor& parameter : parameters) count += parameter.numel();
  KEYWAY_CHECK(vec.dim() == 1 && vec.numel() >= count,
               "vector_to_parameters: the vector has shape {}, but the parameters have {} elements", vec.sizes(),
               count);
  std::int64_t at = 0;
  for (const Tensor& parameter : parameters) {
    parameter.copy_(vec.narrow(0, at, parameter.numel()).view_as(parameter));
    at += parameter.numel();
  }
}

}  // namespace keyway::inline v1::nn::utils
