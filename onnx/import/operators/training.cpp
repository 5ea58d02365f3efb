// Losses, and steps of optimizers.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <cmath>
#include <functional>

namespace keyway::inline v1::onnx {

namespace {

// The losses of classes, whose logarithms of probabilities are in dimension 1.
Tensor class_loss(const Call& call, const Tensor& logs, const Tensor& labels, const std::optional<Tensor>& weight) {
  call.check(logs.dim() >= 2 && labels.dim() == logs.dim() - 1, "labels of sizes {} do not fit an input of sizes {}",
             labels.sizes(), logs.sizes());
  const Tensor classes = labels.to(kLong);
  const bool ignores = call.has_attribute("ignore_index");
  const Tensor ignored = ignores ? eq(classes, Scalar(call.attribute("ignore_index"))) : zeros_like(classes).to(kBool);
  const Tensor safe = where(ignored, zeros_like(classes), classes);
  Tensor losses = neg(squeeze(gather(logs, 1, safe.unsqueeze(1)), 1));
  Tensor weights = weight ? reshape(index_select(*weight, 0, reshape(safe, {-1})), safe.sizes()) : ones_like(losses);
  weights = where(ignored, zeros_like(weights), weights);
  losses = mul(losses, weights);
  const std::string reduction = call.text_attribute("reduction", "mean");
  if (reduction == "none") return losses;
  if (reduction == "sum") return sum(losses);
  call.check(reduction == "mean", "there is no reduction '{}'", reduction);
  return div(sum(losses), sum(weights));
}

Results likelihood_loss(const Call& call) {
  return {class_loss(call, call.tensor(0), call.tensor(1), call.tensor_if(2))};
}

Results cross_entropy(const Call& call) {
  const Tensor logs = log_softmax(call.tensor(0), 1);
  return {class_loss(call, logs, call.tensor(1), call.tensor_if(2)), logs};
}

// The tensors that a step takes: those of each kind behind each other. `step` gives what becomes of one of each.
template <typename F>
Results each_parameter(const Call& call, std::size_t kinds, F&& step) {
  call.check(call.inputs() > 2 && (call.inputs() - 2) % kinds == 0, "{} inputs are no multiple of {}",
             call.inputs() - 2, kinds);
  const std::size_t count = (call.inputs() - 2) / kinds;
  Results results((kinds - 1) * count);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Tensor> given;
    for (std::size_t kind = 0; kind < kinds; ++kind) given.push_back(call.tensor(2 + kind * count + i));
    const std::vector<Tensor> renewed = step(given);
    for (std::size_t kind = 0; kind + 1 < kinds; ++kind) results[kind * count + i] = renewed[kind];
  }
  return results;
}

Tensor regularized(const Call& call, const Tensor& parameter, const Tensor& grad) {
  return add(grad, mul(parameter, Scalar(call.single_attribute("norm_coefficient", 0))));
}

Results adagrad_step(const Call& call) {
  const double rate =
      call.number(0) / (1 + static_cast<double>(call.integer(1)) * call.single_attribute("decay_factor", 0));
  const double epsilon = call.single_attribute("epsilon", 1e-6);
  return each_parameter(call, 3, [&](const std::vector<Tensor>& x) {
    const Tensor grad = regularized(call, x[0], x[1]);
    const Tensor squares = add(x[2], mul(grad, grad));
    return std::vector<Tensor>{sub(x[0], div(mul(grad, Scalar(rate)), add(sqrt(squares), Scalar(epsilon)))), squares};
  });
}

Results adam_step(const Call& call) {
  const double alpha = call.single_attribute("alpha", 0.9);
  const double beta = call.single_attribute("beta", 0.999);
  const auto steps = static_cast<double>(call.integer(1));
  const double rate =
      steps > 0 ? call.number(0) * std::sqrt(1 - std::pow(beta, steps)) / (1 - std::pow(alpha, steps)) : call.number(0);
  return each_parameter(call, 4, [&](const std::vector<Tensor>& x) {
    const Tensor grad = regularized(call, x[0], x[1]);
    const Tensor mean = add(mul(x[2], Scalar(alpha)), mul(grad, Scalar(1 - alpha)));
    const Tensor squares = add(mul(x[3], Scalar(beta)), mul(mul(grad, grad), Scalar(1 - beta)));
    const Tensor root = add(sqrt(squares), Scalar(call.single_attribute("epsilon", 1e-6)));
    const Tensor moved = sub(x[0], div(mul(mean, Scalar(rate)), root));
    const double after = call.single_attribute("norm_coefficient_post", 0);
    return std::vector<Tensor>{mul(moved, Scalar(1 - after)), mean, squares};
  });
}

Results momentum_step(const Call& call) {
  const double rate = call.number(0);
  const bool first = call.integer(1) == 0;
  const double alpha = call.single_attribute("alpha");
  const double beta = first ? 1 : call.single_attribute("beta");
  const std::string mode = call.text_attribute("mode");
  call.check(mode == "standard" || mode == "nesterov", "mode '{}' is none of ONNX's", mode);
  return each_parameter(call, 3, [&](const std::vector<Tensor>& x) {
    const Tensor grad = regularized(call, x[0], x[1]);
    const Tensor velocity = add(mul(x[2], Scalar(alpha)), mul(grad, Scalar(beta)));
    const Tensor direction = mode == "nesterov" ? add(grad, mul(velocity, Scalar(alpha))) : velocity;
    return std::vector<Tensor>{sub(x[0], mul(direction, Scalar(rate))), velocity};
  });
}

constexpr std::string_view kPreview = "ai.onnx.preview.training";
constexpr int kMany = Operator::kAny;

constexpr Operator kTrainings[] = {
    {"Adagrad", 1, adagrad_step, kMany, "decay_factor epsilon norm_coefficient", kMany, Operator::Sort::Plain,
     kPreview},
    {"Adam", 1, adam_step, kMany, "alpha beta epsilon norm_coefficient norm_coefficient_post", kMany,
     Operator::Sort::Plain, kPreview},
    {"Momentum", 1, momentum_step, kMany, "alpha beta mode norm_coefficient", kMany, Operator::Sort::Plain, kPreview},
    {"NegativeLogLikelihoodLoss", 12, likelihood_loss, 3, "ignore_index reduction"},
    {"SoftmaxCrossEntropyLoss", 12, cross_entropy, 3, "ignore_index reduction", 2},
};

}  // namespace

Family training_family() { return kTrainings; }

}  // namespace keyway::inline v1::onnx
