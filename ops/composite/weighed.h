// Sums of elements at given places of a dimension, times weights: what images on other grids are made of.
#pragma once

#include <keyway/ops/all.h>

namespace keyway::inline v1::composite {

// `_gather_weighed`, by its kernel where the backend has one. `all_there`: no place is -1.
Tensor gather_weighed(const Tensor& table, const Tensor& places, const Tensor& weights, bool all_there);

}  // namespace keyway::inline v1::composite
