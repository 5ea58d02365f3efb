// Loss scaling of mixed precision.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/foreach.cuh>
#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/backends/cuda/kernels/kernels_amp.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/loss_scale.h>

namespace keyway::inline v1::cuda {

namespace {

// Operand: the scale.
template <typename Count>
struct UpdateLossScale {
  NextLossScale next;
  const float* found_inf;
  Count* growth_tracker;

  KEYWAY_HD void operator()(const Element<1>& element) const {
    next(*found_inf, element.at<float>(0), *growth_tracker);
  }
};

}  // namespace

void _amp_foreach_non_finite_check_and_unscale_(ArrayRef<TensorBase> self, TensorBase& found_inf,
                                                const TensorBase& inv_scale) {
  const ForeachLists lists({{self}}, copy_elements);
  visit_floating(lists.dtype(), "unscaling", [&]<typename T>() {
    over_lists(UnscaleGradient<T>{inv_scale.data_ptr<float>(), found_inf.data_ptr<float>()}, lists, {});
  });
}

void _amp_update_scale_(TensorBase& self, TensorBase& growth_tracker, const TensorBase& found_inf,
                        double scale_growth_factor, double scale_backoff_factor, std::int64_t growth_interval) {
  const IterationSpace space = ElementSpace(self.sizes()).tensor(self).space();
  const NextLossScale next{scale_growth_factor, scale_backoff_factor, growth_interval};
  visit_dtype<kIndexTypes>(growth_tracker.dtype(), "loss scaling", [&]<typename Count>() {
    each<1>(space, UpdateLossScale<Count>{next, found_inf.data_ptr<float>(), growth_tracker.data_ptr<Count>()},
            self.device());
  });
}

}  // namespace keyway::inline v1::cuda
