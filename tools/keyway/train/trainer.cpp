#include <keyway/keyway.h>
#include <keyway/tools/keyway/train/trainer.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace keyway::inline v1::tools {

namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.99;
constexpr double kFloor = 0.05;  // of the learning rate, at the end

// Matrices decay; what scales and shifts does not.
std::vector<optim::OptimizerParamGroup> parameter_groups(const nn::Module& model, const optim::AdamWOptions& options) {
  std::vector<Tensor> matrices, others;
  for (const Tensor& parameter : model.parameters()) (parameter.dim() >= 2 ? matrices : others).push_back(parameter);
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::move(matrices));
  groups.emplace_back(std::move(others),
                      std::make_unique<optim::AdamWOptions>(optim::AdamWOptions(options).weight_decay(0)));
  return groups;
}

optim::AdamW make_optimizer(const nn::Module& model, const TrainerOptions& options) {
  const auto adamw =
      optim::AdamWOptions(options.learning_rate).betas({kBeta1, kBeta2}).weight_decay(options.weight_decay);
  return optim::AdamW(parameter_groups(model, adamw), adamw);
}

// A factor that rises in a line over the warm-up, then falls along half a cosine to the floor at the last step.
optim::LambdaLR::Lambda warmed_cosine(std::int64_t steps) {
  const std::int64_t warmup = std::min<std::int64_t>(steps / 20, 100);
  KEYWAY_CHECK(steps > warmup, "{} steps leave none to learn in", steps);
  return [steps, warmup](std::int64_t step) {
    if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
    const double way = std::min(1.0, static_cast<double>(step - warmup) / static_cast<double>(steps - warmup));
    return kFloor + (1 - kFloor) * (1 + std::cos(std::numbers::pi * way)) / 2;
  };
}

}  // namespace

Trainer::Trainer(Transformer model, const Corpus& corpus, const TrainerOptions& options)
    : model_(std::move(model)),
      corpus_(corpus),
      options_(options),
      random_(options.seed),
      parameters_(model_->parameters()),
      optimizer_(make_optimizer(*model_, options)),
      schedule_(optimizer_, warmed_cosine(options.steps)) {
  const auto context = static_cast<std::size_t>(model_->options().context);
  KEYWAY_CHECK(corpus.training().size() > context, "the text to learn from has {} characters, but one context {}",
               corpus.training().size(), context);
}

Trainer::Batch Trainer::draw_batch() {
  const auto context = model_->options().context;
  const Characters text = corpus_.training();
  const std::uint64_t starts = text.size() - static_cast<std::size_t>(context);
  Tensor inputs = empty({options_.batch, context}, kLong), targets = empty({options_.batch, context}, kLong);
  for (std::int64_t row = 0; row < options_.batch; ++row) {
    const auto* from = text.data() + random_() % starts;
    std::copy_n(from, context, inputs.data_ptr<std::int64_t>() + row * context);
    std::copy_n(from + 1, context, targets.data_ptr<std::int64_t>() + row * context);
  }
  return {inputs.to(model_->device(), kLong), targets.to(model_->device(), kLong)};
}

double Trainer::step() {
  const Batch batch = draw_batch();
  const Tensor logits = model_(batch.inputs);
  const Tensor loss = nn::functional::cross_entropy(logits.view({-1, logits.size(-1)}), batch.targets.view({-1}));
  optimizer_.zero_grad();
  loss.backward();
  nn::utils::clip_grad_norm_(parameters_, options_.max_grad_norm);
  optimizer_.step();
  schedule_.step();
  return loss.item<double>();
}

}  // namespace keyway::inline v1::tools
