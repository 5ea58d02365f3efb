#include <keyway/backends/common/plan_cache.h>
#include <keyway/backends/cuda/fourier_problem.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/ops/rules/views.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

namespace {

// All dimensions, `last` behind the others.
DimVector order_with(std::int64_t rank, IntArrayRef last) {
  DimVector order;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (!std::binary_search(last.begin(), last.end(), d)) order.push_back(d);
  }
  for (const std::int64_t d : last) order.push_back(d);
  return order;
}

TensorBase permuted(const TensorBase& tensor, const DimVector& order) {
  const ViewGeometry to = rules::permute(tensor, IntArrayRef(order));
  return make_view(tensor, IntArrayRef(to.sizes), IntArrayRef(to.strides), to.offset);
}

}  // namespace

std::size_t FourierProblem::hash() const {
  PlanHash all;
  all.add_all(std::array{static_cast<std::int64_t>(dtype), static_cast<std::int64_t>(rank), batch});
  all.add_all(sizes);
  return all.value();
}

FourierProblem fourier_problem(const TensorBase& tensor, std::size_t rank) {
  FourierProblem problem{tensor.dtype(), rank, {}, tensor.numel()};
  const IntArrayRef sizes = tensor.sizes();
  for (std::size_t d = 0; d < rank; ++d) {
    problem.sizes[d] = sizes[sizes.size() - rank + d];
    problem.batch /= problem.sizes[d];
  }
  return problem;
}

DimVector transformed_dims(const TensorBase& tensor, IntArrayRef dim) {
  DimVector dims;
  for (const std::int64_t given : dim) {
    const std::int64_t d = wrap_dim(given, tensor.dim());
    if (tensor.dim() > 0 && tensor.sizes()[static_cast<std::size_t>(d)] > 1) dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

TensorBase with_last(const TensorBase& tensor, IntArrayRef last) {
  return permuted(tensor, order_with(tensor.dim(), last));
}

TensorBase without_last(const TensorBase& tensor, IntArrayRef last) {
  const DimVector order = order_with(tensor.dim(), last);
  DimVector back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  return permuted(tensor, back);
}

}  // namespace keyway::inline v1::cuda
