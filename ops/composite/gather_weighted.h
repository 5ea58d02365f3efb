// Weighted sums of elements at given indices of a dimension: what interpolate and grid_sample are made of.
#pragma once

#include <keyway/ops/all.h>

namespace keyway::inline v1::composite {

// `_gather_weighted`, by its kernel where the backend has one. `all_there`: no index is -1.
Tensor gather_weighted(const Tensor& table, const Tensor& indices, const Tensor& weights, bool all_there);

}  // namespace keyway::inline v1::composite
