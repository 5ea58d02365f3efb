#include <keyway/nn/functional.h>
#include <keyway/nn/init.h>
#include <keyway/nn/modules/batch_norm.h>

#include <ostream>

namespace keyway::inline v1::nn {

NormBase::NormBase(BatchNormOptions options_, const char* kind, std::int64_t dims, std::int64_t least)
    : options(options_), what_(kind + std::to_string(dims) + "d"), least_(least), most_(dims + 2) {
  const std::int64_t channels = options.num_features();
  const auto of_channels = [&](bool is_there) { return is_there ? empty({channels}) : Tensor(); };
  weight = register_parameter("weight", of_channels(options.affine()));
  bias = register_parameter("bias", of_channels(options.affine() && options.bias()));
  const bool tracks = options.track_running_stats();
  running_mean = register_buffer("running_mean", of_channels(tracks));
  running_var = register_buffer("running_var", of_channels(tracks));
  num_batches_tracked =
      register_buffer("num_batches_tracked", tracks ? empty({}, TensorOptions().dtype(kLong)) : Tensor());
  reset_parameters();
}

void NormBase::reset_running_stats() {
  if (!running_mean.defined()) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

void NormBase::reset_parameters() {
  reset_running_stats();
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

void NormBase::check_dims(const Tensor& input) const {
  KEYWAY_CHECK(least_ <= input.dim() && input.dim() <= most_, "{}: an input has {}{} dimensions, not {}", what_, least_,
               least_ == most_ ? std::string() : " or " + std::to_string(most_), input.dim());
}

void NormBase::pretty_print(std::ostream& stream) const {
  stream << what_ << "(" << options.num_features() << ", eps=" << options.eps() << ", momentum=";
  if (options.momentum()) {
    stream << *options.momentum();
  } else {
    stream << "none";
  }
  stream << ", affine=" << (options.affine() ? "true" : "false")
         << ", track_running_stats=" << (options.track_running_stats() ? "true" : "false") << ")";
}

// Counts the batch, if batches are, and says what part of it goes into the running statistics.
double BatchNormBase::count_batch() {
  if (is_training() && num_batches_tracked.defined()) {
    const NoGradGuard no_grad;
    num_batches_tracked.add_(1);
    if (!options.momentum()) return 1 / num_batches_tracked.item<double>();
  }
  return options.momentum().value_or(0);
}

Tensor BatchNormBase::forward(const Tensor& input) {
  check_dims(input);
  const bool by_batch = is_training() || !running_mean.defined();
  const auto more = functional::BatchNormFuncOptions()
                        .weight(weight)
                        .bias(bias)
                        .training(by_batch)
                        .momentum(count_batch())
                        .eps(options.eps());
  return functional::batch_norm(input, running_mean, running_var, more);
}

Tensor InstanceNormBase::forward(const Tensor& input) {
  check_dims(input);
  const auto more = functional::InstanceNormFuncOptions()
                        .running_mean(running_mean)
                        .running_var(running_var)
                        .weight(weight)
                        .bias(bias)
                        .use_input_stats(is_training() || !running_mean.defined())
                        .momentum(options.momentum().value_or(0))
                        .eps(options.eps());
  if (input.dim() == most_) return functional::instance_norm(input, more);
  return functional::instance_norm(input.unsqueeze(0), more).squeeze(0);
}

}  // namespace keyway::inline v1::nn
