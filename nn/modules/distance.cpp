#include <keyway/nn/modules/distance.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor CosineSimilarityImpl::forward(const Tensor& x1, const Tensor& x2) {
  return cosine_similarity(x1, x2, options.dim(), options.eps());
}

Tensor PairwiseDistanceImpl::forward(const Tensor& x1, const Tensor& x2) {
  return pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

}  // namespace keyway::inline v1::nn
