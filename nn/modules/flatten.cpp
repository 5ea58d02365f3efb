#include <keyway/nn/modules/flatten.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor FlattenImpl::forward(const Tensor& input) { return flatten(input, options.start_dim(), options.end_dim()); }

Tensor UnflattenImpl::forward(const Tensor& input) { return unflatten(input, options.dim(), options.sizes()); }

Tensor IdentityImpl::forward(const Tensor& input) { return input; }

}  // namespace keyway::inline v1::nn
