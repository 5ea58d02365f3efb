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

namespace {

void check_alike(const char* what, const std::vector<Tensor>& own, const std::vector<Tensor>& other) {
  KEYWAY_CHECK(own.size() == other.size(), "AveragedModel: the model has {} {}, not {}", other.size(), what,
               own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    KEYWAY_CHECK(own[i].sizes() == other[i].sizes(), "AveragedModel: number {} of the model's {} has shape {}, not {}",
                 i, what, other[i].sizes(), own[i].sizes());
  }
}

}  // namespace

void AveragedModelImpl::update_parameters(const nn::Module& model) {
  const NoGradGuard no_grad;
  std::vector<Tensor> averages = module->parameters(), currents = model.parameters();
  const std::vector<Tensor> own = module->buffers(), other = model.buffers();
  check_alike("parameters", averages, currents);
  check_alike("buffers", own, other);
  if (options.use_buffers()) {
    averages.insert(averages.end(), own.begin(), own.end());
    currents.insert(currents.end(), other.begin(), other.end());
  }
  const auto count = n_averaged.item<std::int64_t>();
  const AverageFunction average = options.avg_fn() ? options.avg_fn() : get_swa_avg_fn();
  for (std::size_t i = 0; i < averages.size(); ++i) {
    const Tensor current = currents[i].detach().to(averages[i].device(), currents[i].dtype());
    averages[i].copy_(count == 0 ? current : average(averages[i], current, count));
  }
  if (!options.use_buffers()) {
    for (std::size_t i = 0; i < own.size(); ++i) own[i].copy_(other[i]);
  }
  n_averaged.add_(1);
}

namespace {

// Batch normalisations that take the mean of all batches, from now on; as they were again when this goes.
class MeansOfBatches {
 public:
  explicit MeansOfBatches(nn::Module& model) : model_(model), was_training_(model.is_training()) {
    model.apply([&](nn::Module& part) {
      if (auto* const norm = dynamic_cast<nn::BatchNormBase*>(&part)) {
        momenta_.emplace_back(norm, norm->options.momentum());
      }
    });
  }
  MeansOfBatches(const MeansOfBatches&) = delete;
  MeansOfBatches& operator=(const MeansOfBatches&) = delete;
  ~MeansOfBatches() {
    for (const auto& [norm, momentum] : momenta_) norm->options.momentum(momentum);
    if (!momenta_.empty()) model_.train(was_training_);
  }

  bool is_empty() const { return momenta_.empty(); }
  void begin() {
    model_.train();
    for (const auto& [norm, momentum] : momenta_) {
      norm->reset_running_stats();
      norm->options.momentum(std::nullopt);
    }
  }

 private:
  nn::Module& model_;
  bool was_training_;
  std::vector<std::pair<nn::BatchNormBase*, std::optional<double>>> momenta_;
};

}  // namespace

void update_bn(const std::vector<Tensor>& batches, nn::Module& model, const std::function<void(const Tensor&)>& call) {
  MeansOfBatches norms(model);
  if (norms.is_empty()) return;
  norms.begin();
  const NoGradGuard no_grad;
  for (const Tensor& batch : batches) call(batch);
}

}  // namespace keyway::inline v1::optim
