#include <keyway/nn/modules/padding.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

template <std::size_t D>
Tensor PadNd<D>::forward(const Tensor& input) {
  return pad(input, options.padding(), mode_);
}

template <std::size_t D>
Tensor ConstantPadNd<D>::forward(const Tensor& input) {
  return pad(input, this->options.padding(), "constant", this->options.value());
}

template class PadNd<1>;
template class PadNd<2>;
template class PadNd<3>;
template class ConstantPadNd<1>;
template class ConstantPadNd<2>;
template class ConstantPadNd<3>;

}  // namespace keyway::inline v1::nn
