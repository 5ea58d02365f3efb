// Steps of optimizers, and what they count them with.
#include <keyway/backends/cpu/foreach.h>
#include <keyway/backends/cpu/kernels_optimizer.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/optimizer.h>

namespace keyway::inline v1 {

namespace cpu {

void _foreach_add__Scalar(ArrayRef<TensorBase> self, const Scalar& scalar) {
  check_converts(scalar, self);
  for (const TensorBase& tensor : self) {
    const ForeachLists lists({{{&tensor, 1}}}, copy_elements);
    visit_dtype<kNumberTypes>(tensor.dtype(), "_foreach_add_", [&]<typename T>() {
      using Math = Opmath<T>;
      over_lists(ForeachAdd<T>{{scalar.to<Math>(), Math(1)}}, lists, {});
    });
  }
}

#include <keyway/backends/common/fused_steps.inc>

}  // namespace cpu

}  // namespace keyway::inline v1
