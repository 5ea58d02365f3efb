#include <keyway/nn/modules/averaged_model.h>
#include <keyway/nn/modules/batch_norm.h>
#include <keyway/ops/all.h>

#include <utility>

namespace keyway::inline v1::optim {

AverageFunction get_swa_avg_fn() {
  return [](const Tensor& averaged, const Tensor& current, std::int64_t num_averaged) {
    return averaged.add(current.sub(averaged).div(num_averaged + 1));
  };
}

AverageFunction get_ema_avg_fn(double decay) {
  KEYWAY_CHECK(0 <= decay && decay <= 1, "get_ema_avg_fn: the decay is {}, but must be in [0, 1]", decay);
  return [decay](const Tensor& averaged, const Tensor& current, std::int64_t) {
    return averaged.mul(decay).add(current, 1 - decay);
  };
}

AveragedModelImpl::AveragedModelImpl(std::shared_ptr<nn::Module> module_, const nn::Module& model,
                                     AveragedModelOptions options_)
    : options(std::move(options_)), module(register_module("module", std::move(module_))) {
  n_averaged = register_buffer("n_averaged", zeros({}, TensorOptions().dtype(kLong)));
  module->load_state_dict(model.state_dict());
}

void AveragedModelImpl::update_parameters(const nn::Module& model) {
  const NoGradGuard no_grad;
  const auto averaged_of = [&](const nn::Module& of) {
    std::vector<Tensor> members = of.parameters();
    if (options.use_buffers()) {
      for (const Tensor& buffer : of.buffers()) members.push_back(buffer);
    }
    return members;
  };
  const std::vector<Tensor> averages = averaged_of(*module), currents = averaged_of(model);
  KEYWAY_CHECK(averages.size() == currents.size(), "AveragedModel: the model has {} parameters, not {}",
               currents.size(), averages.size());
  const auto count = n_averaged.item<std::int64_t>();
  const AverageFunction average = options.avg_fn() ? options.avg_fn() : get_swa_avg_fn();
  for (std::size_t i = 0; i < averages.size(); ++i) {
    const Tensor current = currents[i].detach().to(averages[i].device(), currents[i].dtype());
    averages[i].copy_(count == 0 ? current : average(averages[i], current, count));
  }
  if (!options.use_buffers()) {
    const std::vector<Tensor> own = module->buffers(), other = model.buffers();
    for (std::size_t i = 0; i < own.size(); ++i) own[i].copy_(other[i]);
  }
  n_averaged.add_(1);
}

void update_bn(const std::vector<Tensor>& batches, nn::Module& model, const std::function<void(const Tensor&)>& call) {
  std::vector<std::pair<nn::NormBase*, std::optional<double>>> momenta;
  model.apply([&](nn::Module& part) {
    auto* const norm = dynamic_cast<nn::NormBase*>(&part);
    if (norm == nullptr) return;
    momenta.emplace_back(norm, norm->options.momentum());
    norm->reset_running_stats();
    norm->options.momentum(std::nullopt);
  });
  if (momenta.empty()) return;
  const bool was_training = model.is_training();
  model.train();
  {
    const NoGradGuard no_grad;
    for (const Tensor& batch : batches) call(batch);
  }
  for (const auto& [norm, momentum] : momenta) norm->options.momentum(momentum);
  model.train(was_training);
}

}  // namespace keyway::inline v1::optim
