#include <keyway/nn/modules/dropout.h>
#include <keyway/ops/all.h>

#include <ostream>

namespace keyway::inline v1::nn {

DropoutImpl::DropoutImpl(DropoutOptions options_) : options(options_) {
  KEYWAY_CHECK(options.p() >= 0 && options.p() <= 1, "Dropout: p is a probability, but is {}", options.p());
}

Tensor DropoutImpl::forward(const Tensor& input) { return dropout(input, options.p(), is_training()); }

void DropoutImpl::pretty_print(std::ostream& stream) const { stream << "Dropout(p=" << options.p() << ")"; }

}  // namespace keyway::inline v1::nn
