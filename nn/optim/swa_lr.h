// SWALR: to the constant learning rate of stochastic weight averaging (Izmailov et al., 2018).
#pragma once

#include <keyway/nn/optim/lr_scheduler.h>

#include <string>

namespace keyway::inline v1::optim {

// From the present learning rate to `swa_lr` in `anneal_epochs` steps along a cosine or a line; constant after them.
class KEYWAY_API SWALR final : public LRScheduler {
 public:
  // `anneal_strategy` is "cos" or "linear". Throws keyway::Error for another one, and for a negative anneal_epochs.
  SWALR(Optimizer& optimizer, PerGroup swa_lr, std::int64_t anneal_epochs = 10, std::string anneal_strategy = "cos");

 private:
  std::vector<double> get_lr() override;
  // How much of `swa_lr` there is at a step.
  double part(std::int64_t step) const;
  std::vector<double> swa_lrs_;
  std::int64_t anneal_epochs_;
  std::string anneal_strategy_;
};

}  // namespace keyway::inline v1::optim
