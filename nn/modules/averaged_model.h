// AveragedModel: averages of a model's weights over training (Izmailov et al., 2018). update_bn: the statistics that
// batch normalisations have with them.
//
//   optim::AveragedModel average(std::make_shared<NetImpl>(options), *net);
//   average->update_parameters(*net);   // after each step or epoch
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <functional>
#include <memory>
#include <vector>

namespace keyway::inline v1::optim {

// The new average of one that `num_averaged` parameters went into so far.
using AverageFunction = std::function<Tensor(const Tensor& averaged, const Tensor& current, std::int64_t num_averaged)>;
// The mean of all parameters so far.
KEYWAY_API AverageFunction get_swa_avg_fn();
// decay * average + (1 - decay) * parameter. Throws keyway::Error for a decay outside of [0, 1].
KEYWAY_API AverageFunction get_ema_avg_fn(double decay = 0.999);

class AveragedModelOptions {
  KEYWAY_OPTION(AverageFunction, avg_fn) = nullptr;  // get_swa_avg_fn()
  KEYWAY_OPTION(bool, use_buffers) = false;          // buffers are averaged, not copied
};

// `module` is a copy of a model whose parameters are averages of those that update_parameters() was called with; the
// first are copied. A module cannot copy itself in C++: the caller gives a second one of the same class and options.
class KEYWAY_API AveragedModelImpl : public nn::Module {
 public:
  // Copies the model's values into `module`. Throws keyway::Error if their parameters differ in names or shapes.
  AveragedModelImpl(std::shared_ptr<nn::Module> module, const nn::Module& model, AveragedModelOptions options = {});
  // Takes the parameters of the model into the averages. Throws keyway::Error if it has other parameters or buffers
  // than `module`, in number or shape; then nothing has changed.
  void update_parameters(const nn::Module& model);

  AveragedModelOptions options;
  std::shared_ptr<nn::Module> module;
  Tensor n_averaged;  // a buffer, int64 of no dimensions
};
using AveragedModel = nn::ModuleHolder<AveragedModelImpl>;

// Makes the statistics of all batch normalisations in the model those of `batches`, which call(batch) gives to the
// model. Where a call throws, the model trains, or does not, as before, with the momenta of before.
KEYWAY_API void update_bn(const std::vector<Tensor>& batches, nn::Module& model,
                          const std::function<void(const Tensor& batch)>& call);

}  // namespace keyway::inline v1::optim
