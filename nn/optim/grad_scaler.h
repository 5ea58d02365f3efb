// GradScaler: keeps gradients of float16 from becoming zeros. A loss is multiplied by a large number before backward,
// and its gradients are divided by it before they are used; steps whose gradients are not finite are left out.
//
//   optim::GradScaler scaler;
//   scaler.scale(loss).backward();
//   scaler.step(optimizer);
//   scaler.update();
//
// P. Micikevicius et al., Mixed Precision Training, ICLR 2018.
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

#include <map>
#include <vector>

namespace keyway::inline v1::optim {

struct KEYWAY_API GradScalerOptions {
  KEYWAY_OPTION(double, init_scale) = 65536;
  KEYWAY_OPTION(double, growth_factor) = 2;     // > 1: of the scale, after growth_interval updates without one left out
  KEYWAY_OPTION(double, backoff_factor) = 0.5;  // between 0 and 1: of the scale, after a step that was left out
  KEYWAY_OPTION(std::int64_t, growth_interval) = 2000;  // at least 1
  KEYWAY_OPTION(bool, enabled) = true;  // if not, losses and gradients are left as they are, and every step is made
};

// Requires: optimizers that it was given are there until the next update().
class KEYWAY_API GradScaler {
 public:
  // Throws keyway::Error for options that are not as said.
  explicit GradScaler(GradScalerOptions options = {});

  // `loss` times the scale, on the loss's device.
  Tensor scale(const Tensor& loss);
  // Divides the gradients of the optimizer's parameters in place: before they are clipped, say; else step() does it.
  // Throws keyway::Error for gradients of float16, before a loss was scaled, and for a second time before update().
  void unscale_(const Optimizer& optimizer);
  // optimizer.step(), if all gradients are finite; whether they were. Waits for the device. Throws keyway::Error for a
  // second step before update(), and for an optimizer without gradients.
  bool step(Optimizer& optimizer);
  // The scale for what follows. Throws keyway::Error if no gradients were unscaled since the last time.
  void update();

  // What losses are multiplied by; 1 if it is not enabled. Waits for the device.
  double get_scale() const;
  const GradScalerOptions& options() const { return options_; }

  // "scale", "growth_tracker": to go on from later. To be taken after update().
  nn::StateDict state_dict() const;
  // Throws keyway::Error where one is missing; nothing is changed then.
  void load_state_dict(const nn::StateDict& state);

 private:
  // What became of one optimizer's gradients since the last update.
  struct Steps {
    std::vector<Tensor> found_inf;  // one for each device; none: they are still scaled
    bool stepped = false;
  };

  GradScalerOptions options_;
  // On the device of the first loss; on the CPU before.
  Tensor scale_, growth_tracker_;
  bool scaled_ = false;
  std::map<const Optimizer*, Steps> steps_;
};

}  // namespace keyway::inline v1::optim
