// CosineSimilarity, PairwiseDistance: how near vectors are to each other.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

class CosineSimilarityOptions {
  KEYWAY_OPTION(std::int64_t, dim) = 1;
  KEYWAY_OPTION(double, eps) = 1e-8;
};
// The cosine of the angle between vectors along `dim`; their lengths count as at least eps.
KEYWAY_MODULE(CosineSimilarity, WithOptions<CosineSimilarityOptions>,
              Tensor forward(const Tensor& x1, const Tensor& x2));

class PairwiseDistanceOptions {
  KEYWAY_OPTION(double, p) = 2;
  KEYWAY_OPTION(double, eps) = 1e-6;
  KEYWAY_OPTION(bool, keepdim) = false;
};
// The p-norm over the last dimension of the differences between vectors, to which eps is added.
KEYWAY_MODULE(PairwiseDistance, WithOptions<PairwiseDistanceOptions>,
              Tensor forward(const Tensor& x1, const Tensor& x2));

}  // namespace keyway::inline v1::nn
