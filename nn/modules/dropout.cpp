#include <keyway/nn/functional/dropout.h>
#include <keyway/nn/modules/dropout.h>
#include <keyway/ops/all.h>

#include <ostream>

namespace keyway::inline v1::nn {

DropoutBase::DropoutBase(DropoutOptions options_, const char* what) : options(options_), what_(what) {
  KEYWAY_CHECK(options.p() >= 0 && options.p() <= 1, "{}: p is a probability, but is {}", what, options.p());
}

void DropoutBase::pretty_print(std::ostream& stream) const {
  stream << what_ << "(p=" << options.p();
  if (options.inplace()) stream << ", inplace=true";
  stream << ")";
}

Tensor DropoutImpl::forward(const Tensor& input) {
  return options.inplace() ? input.dropout_(options.p(), is_training()) : dropout(input, options.p(), is_training());
}

Tensor Dropout1dImpl::forward(const Tensor& input) {
  return functional::dropout1d(input, options.p(), is_training(), options.inplace());
}

Tensor Dropout2dImpl::forward(const Tensor& input) {
  return functional::dropout2d(input, options.p(), is_training(), options.inplace());
}

Tensor Dropout3dImpl::forward(const Tensor& input) {
  return functional::dropout3d(input, options.p(), is_training(), options.inplace());
}

Tensor AlphaDropoutImpl::forward(const Tensor& input) {
  return functional::alpha_dropout(input, options.p(), is_training(), options.inplace());
}

Tensor FeatureAlphaDropoutImpl::forward(const Tensor& input) {
  return functional::feature_alpha_dropout(input, options.p(), is_training(), options.inplace());
}

}  // namespace keyway::inline v1::nn
