// Loss scaling of mixed precision.
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/foreach.h>
#include <keyway/backends/cpu/kernels_amp.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/loss_scale.h>

namespace keyway::inline v1::cpu {

void _amp_foreach_non_finite_check_and_unscale_(ArrayRef<TensorBase> self, TensorBase& found_inf,
                                                const TensorBase& inv_scale) {
  const ForeachLists lists({{self}}, copy_elements);
  visit_floating(lists.dtype(), "unscaling", [&]<typename T>() {
    over_lists(UnscaleGradient<T>{inv_scale.data_ptr<float>(), found_inf.data_ptr<float>()}, lists, {});
  });
}

void _amp_update_scale_(TensorBase& self, TensorBase& growth_tracker, const TensorBase& found_inf,
                        double scale_growth_factor, double scale_backoff_factor, std::int64_t growth_interval) {
  const NextLossScale next{scale_growth_factor, scale_backoff_factor, growth_interval};
  visit_dtype<kIndexTypes>(growth_tracker.dtype(), "loss scaling", [&]<typename Count>() {
    next(*found_inf.data_ptr<float>(), *self.data_ptr<float>(), *growth_tracker.data_ptr<Count>());
  });
}

}  // namespace keyway::inline v1::cpu
