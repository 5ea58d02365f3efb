// Steps of optimizers, and what they count them with.
#include <keyway/backends/cuda/driver/foreach.cuh>
#include <keyway/backends/cuda/kernels/kernels_optimizer.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/optimizer.h>

#include <algorithm>
#include <vector>

namespace keyway::inline v1::cuda {

namespace {

void add_to_all(ArrayRef<TensorBase> tensors, const Scalar& scalar) {
  const ForeachLists lists({{tensors}}, copy_elements);
  visit_dtype<kNumberTypes>(lists.dtype(), "_foreach_add_", [&]<typename T>() {
    using Math = Opmath<T>;
    over_lists(ForeachAdd<T>{{scalar.to<Math>(), Math(1)}}, lists, {});
  });
}

}  // namespace

void _foreach_add__Scalar(ArrayRef<TensorBase> self, const Scalar& scalar) {
  check_converts(scalar, self);
  // One launch has tensors of one dtype.
  std::vector<TensorBase> rest = self.vec();
  while (!rest.empty()) {
    const ScalarType dtype = rest.front().dtype();
    const auto others =
        std::stable_partition(rest.begin(), rest.end(), [&](const auto& t) { return t.dtype() == dtype; });
    const auto count = static_cast<std::size_t>(others - rest.begin());
    add_to_all({rest.data(), count}, scalar);
    rest.erase(rest.begin(), others);
  }
}

#include <keyway/backends/common/fused_steps.inc>

}  // namespace keyway::inline v1::cuda
