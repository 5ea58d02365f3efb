#include <keyway/core/keys/thread_state.h>
#include <keyway/nn/optim/grad_scaler.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1::optim {
namespace {

const Tensor& entry_of(const nn::StateDict& state, const char* name) {
  const Tensor* value = state.find(name);
  KEYWAY_CHECK(value != nullptr, "GradScaler: its state lacks '{}'", name);
  KEYWAY_CHECK(value->numel() == 1, "GradScaler: '{}' of its state is no number, but of shape {}", name,
               value->sizes());
  return *value;
}

// Gradients of one device and one dtype.
using Groups = std::map<std::pair<std::pair<DeviceType, int>, ScalarType>, std::vector<Tensor>>;

Groups gradients_of(const Optimizer& optimizer) {
  Groups groups;
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    for (const Tensor& parameter : group.params()) {
      const Tensor grad = parameter.grad();
      if (!grad.defined()) continue;
      KEYWAY_CHECK(grad.scalar_type() != kHalf,
                   "GradScaler: a gradient is float16, which its divided values may not fit in: parameters of float32 "
                   "have others");
      groups[{{grad.device().type(), grad.device().index()}, grad.scalar_type()}].push_back(grad.detach());
    }
  }
  return groups;
}

}  // namespace

GradScaler::GradScaler(GradScalerOptions options)
    : options_(options),
      scale_(full({}, options.init_scale(), kFloat)),
      growth_tracker_(zeros({}, TensorOptions(kInt))) {
  KEYWAY_CHECK(options.growth_factor() > 1, "GradScaler: growth_factor is {}, but must be greater than 1",
               options.growth_factor());
  KEYWAY_CHECK(options.backoff_factor() > 0 && options.backoff_factor() < 1,
               "GradScaler: backoff_factor is {}, but must lie between 0 and 1", options.backoff_factor());
  KEYWAY_CHECK(options.growth_interval() >= 1, "GradScaler: growth_interval is {}, but must be at least 1",
               options.growth_interval());
}

Tensor GradScaler::scale(const Tensor& loss) {
  if (!options_.enabled()) return loss;
  if (!std::exchange(scaled_, true)) {
    scale_ = scale_.to(loss.device());
    growth_tracker_ = growth_tracker_.to(loss.device());
  }
  return loss * scale_.to(loss.device());
}

void GradScaler::unscale_(const Optimizer& optimizer) {
  if (!options_.enabled()) return;
  KEYWAY_CHECK(scaled_, "GradScaler: no loss was scaled yet");
  Steps& steps = steps_[&optimizer];
  KEYWAY_CHECK(!steps.stepped && steps.found_inf.empty(),
               "GradScaler: the optimizer's gradients were unscaled already since the last update()");
  const NoGradGuard no_grad;
  // In float64: the reciprocal of a large float32 may not be a normal one.
  const Tensor inverse = scale_.to(kDouble).reciprocal().to(kFloat);
  std::vector<Tensor> found;
  for (const auto& [kind, gradients] : gradients_of(optimizer)) {
    const Device device = gradients.front().device();
    if (found.empty() || found.back().device() != device)
      found.push_back(zeros({}, TensorOptions(kFloat).device(device)));
    _amp_foreach_non_finite_check_and_unscale_(gradients, found.back(), inverse.to(device));
  }
  steps.found_inf = std::move(found);
}

bool GradScaler::step(Optimizer& optimizer) {
  if (!options_.enabled()) {
    optimizer.step();
    return true;
  }
  if (steps_[&optimizer].found_inf.empty()) unscale_(optimizer);
  Steps& steps = steps_[&optimizer];
  KEYWAY_CHECK(!steps.stepped, "GradScaler: the optimizer has made a step already since the last update()");
  KEYWAY_CHECK(!steps.found_inf.empty(), "GradScaler: none of the optimizer's parameters has a gradient");
  const bool all_finite =
      std::ranges::all_of(steps.found_inf, [](const Tensor& found) { return found.item<float>() == 0; });
  if (all_finite) optimizer.step();
  steps.stepped = true;  // one that throws is no step
  return all_finite;
}

void GradScaler::update() {
  if (!options_.enabled()) return;
  const NoGradGuard no_grad;
  Tensor any;
  for (const auto& [optimizer, steps] : steps_) {
    for (const Tensor& found : steps.found_inf) {
      const Tensor here = found.to(scale_.device());
      any = any.defined() ? any + here : here;
    }
  }
  KEYWAY_CHECK(any.defined(), "GradScaler: no gradients were unscaled since the last update()");
  _amp_update_scale_(scale_, growth_tracker_, any, options_.growth_factor(), options_.backoff_factor(),
                     options_.growth_interval());
  steps_.clear();
}

double GradScaler::get_scale() const { return options_.enabled() ? scale_.item<float>() : 1; }

nn::StateDict GradScaler::state_dict() const {
  nn::StateDict state;
  state.insert("scale", scale_.clone());
  state.insert("growth_tracker", growth_tracker_.clone());
  return state;
}

void GradScaler::load_state_dict(const nn::StateDict& state) {
  const Tensor &scale = entry_of(state, "scale"), &tracker = entry_of(state, "growth_tracker");
  const Device device = scale_.device();
  scale_ = full({}, scale.item<double>(), TensorOptions(kFloat).device(device));
  growth_tracker_ = full({}, tracker.item<std::int64_t>(), TensorOptions(kInt).device(device));
}

}  // namespace keyway::inline v1::optim
