// Losses. A reduction is 0 for none, 1 for the mean, 2 for the sum.
#pragma once

#include <keyway/tensor.h>

#include <optional>

namespace keyway::inline v1::composite {

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                          std::int64_t reduction, std::int64_t ignore_index, double label_smoothing);
Tensor mse_loss(const Tensor& self, const Tensor& target, std::int64_t reduction);
Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                         std::int64_t reduction);
Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                std::int64_t reduction, std::int64_t ignore_index);
Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                   std::int64_t reduction, std::int64_t ignore_index);

}  // namespace keyway::inline v1::composite
