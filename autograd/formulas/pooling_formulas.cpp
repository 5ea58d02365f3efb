#include <keyway/autograd/helpers_pooling.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

Tensor max_pool_double_backward(const Tensor& grad, const Tensor& indices, std::int64_t dims) {
  const auto flat = [&](const Tensor& tensor) {
    const auto kept = static_cast<std::size_t>(tensor.dim() - dims);
    DimVector sizes(tensor.sizes().slice(0, kept));
    sizes.push_back(checked_numel(tensor.sizes().slice(kept)));
    return tensor.reshape(sizes);
  };
  return flat(grad).gather(-1, flat(indices)).reshape(indices.sizes());
}

}  // namespace keyway::inline v1::autograd
