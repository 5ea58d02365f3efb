#include <keyway/autograd/function.h>
#include <keyway/nn/functional/loss.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace keyway::inline v1::nn::functional {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of each state, the value of the one that is `by` before it; minus infinity where there is none.
Tensor shifted(const Tensor& values, std::int64_t by) {
  const Tensor moved = full_like(values, -kInfinity);
  const std::int64_t kept = values.size(1) - std::abs(by);
  if (kept > 0)
    moved.narrow(1, std::max<std::int64_t>(by, 0), kept).copy_(values.narrow(1, std::max<std::int64_t>(-by, 0), kept));
  return moved;
}

// log(sum of exp), also where all are minus infinity.
Tensor sum_of(const std::vector<Tensor>& values) {
  const Tensor stacked = stack(values), greatest = stacked.amax(IntArrayRef({0}));
  const Tensor base = greatest.masked_fill(greatest.eq(-kInfinity), 0);
  return stacked.sub(base).exp().sum(IntArrayRef({0})).log().add(base);
}

// Losses [batch] of log-probabilities [time, batch, classes] and labels [batch, longest]. States are the labels with
// blanks between and around them, [batch, 2 * longest + 1].
struct Ctc : autograd::Function<Ctc> {
  static Tensor forward(autograd::AutogradContext& ctx, const Tensor& log_probs, const Tensor& given,
                        const Tensor& lengths, const Tensor& counts, std::int64_t blank);
  static autograd::variable_list backward(autograd::AutogradContext& ctx, autograd::variable_list grads);
};

Tensor Ctc::forward(autograd::AutogradContext& ctx, const Tensor& log_probs, const Tensor& given, const Tensor& lengths,
                    const Tensor& counts, std::int64_t blank) {
  const std::int64_t batch = given.size(0), longest = given.size(1), time = log_probs.size(0);
  const Tensor indices = arange(longest, TensorOptions(given.device()).dtype(kLong));
  const Tensor labels = given.masked_fill(indices.ge(counts.unsqueeze(1)), blank);
  const Tensor states = labels.new_full({batch, 2 * longest + 1}, blank);
  if (longest > 0) states.slice(1, 1, std::nullopt, 2).copy_(labels);
  const Tensor skips = zeros_like(states, TensorOptions().dtype(kBool));
  const std::int64_t far = std::max<std::int64_t>(states.size(1) - 2, 0);
  if (far > 0) skips.narrow(1, 2, far).copy_(states.narrow(1, 2, far).ne(states.narrow(1, 0, far)));
  const Tensor scores = log_probs.gather(2, states.expand({time, batch, states.size(1)}));
  Tensor alpha = scores.new_full(states.sizes(), -kInfinity);
  alpha.select(1, 0).fill_(0);
  std::vector<TensorBase> steps = {scores, states, skips, lengths};
  for (std::int64_t t = 0; t < time; ++t) {
    const Tensor jumped = shifted(alpha, 2).masked_fill(skips.logical_not(), -kInfinity);
    const Tensor moved = sum_of({alpha, shifted(alpha, 1), jumped});
    alpha = where(lengths.gt(t).unsqueeze(1), moved.add(scores.select(0, t)), alpha);
    steps.push_back(alpha);
  }
  const Tensor end = counts.mul(2).unsqueeze(1);
  const Tensor before = alpha.gather(1, end.sub(1).clamp(Scalar(0))).masked_fill(end.eq(0), -kInfinity);
  const Tensor losses = sum_of({alpha.gather(1, end), before}).squeeze(1).neg();
  steps.push_back(end);
  ctx.save_for_backward({log_probs, losses});
  ctx.saved_data["steps"] = std::move(steps);  // scores, states, skips, lengths, alpha of each step, end
  return losses;
}

// Of log_probs, by the gradient [batch] of losses; not recorded.
Tensor gradient_of(const Tensor& log_probs, const Tensor& losses, const std::vector<TensorBase>& steps,
                   const Tensor& grad) {
  const NoGradGuard no_grad;
  const Tensor scores(steps[0]), states(steps[1]), skips(steps[2]), lengths(steps[3]), end(steps.back());
  const std::int64_t time = log_probs.size(0), far = std::max<std::int64_t>(states.size(1) - 2, 0);
  const Tensor numbers = arange(states.size(1), TensorOptions(states.device()).dtype(kLong));
  const Tensor last =
      where(numbers.eq(end).logical_or(numbers.eq(end.sub(1))), Scalar(0.0), Scalar(-kInfinity)).to(scores.dtype());
  const Tensor may_skip = zeros_like(skips);
  if (far > 0) may_skip.narrow(1, 0, far).copy_(skips.narrow(1, 2, far));
  Tensor beta = last;
  std::vector<Tensor> gradients(static_cast<std::size_t>(time));
  for (std::int64_t t = time - 1; t >= 0; --t) {
    if (t + 1 < time) {
      const Tensor after = beta.add(scores.select(0, t + 1));
      const Tensor jumped = shifted(after, -2).masked_fill(may_skip.logical_not(), -kInfinity);
      beta = where(lengths.gt(t + 1).unsqueeze(1), sum_of({after, shifted(after, -1), jumped}), last);
    }
    const Tensor alpha(steps[static_cast<std::size_t>(4 + t)]);
    const Tensor shares = alpha.add(beta).add(losses.unsqueeze(1)).exp();
    Tensor gradient = log_probs.select(0, t).exp().scatter_add(1, states, shares.neg()).mul(grad.unsqueeze(1));
    const Tensor used = lengths.gt(t).logical_and(grad.ne(0)).unsqueeze(1);
    gradient = gradient.masked_fill(losses.eq(kInfinity).unsqueeze(1), std::numeric_limits<double>::quiet_NaN());
    gradients[static_cast<std::size_t>(t)] = gradient.masked_fill(used.logical_not(), 0);
  }
  return gradients.empty() ? zeros_like(log_probs) : stack(gradients);
}

// What has no gradient: of a gradient that was not recorded.
struct NotTwice : autograd::Function<NotTwice> {
  static Tensor forward(autograd::AutogradContext& /*ctx*/, const Tensor& x) { return x.clone(); }
  static autograd::variable_list backward(autograd::AutogradContext& /*ctx*/, autograd::variable_list /*grads*/) {
    KEYWAY_FAIL(Value, "ctc_loss: its gradients have none");
  }
};

autograd::variable_list Ctc::backward(autograd::AutogradContext& ctx, autograd::variable_list grads) {
  const std::vector<Tensor> saved = ctx.saved_tensors();
  Tensor gradient = gradient_of(saved[0], saved[1], ctx.saved_data["steps"].to_tensor_list(), grads[0]);
  const bool is_recorded = grad_enabled() && (saved[0].requires_grad() || grads[0].requires_grad());
  if (is_recorded) gradient = NotTwice::apply(gradient.requires_grad_());
  return {gradient, Tensor(), Tensor(), Tensor()};
}

std::vector<std::int64_t> numbers_of(const Tensor& lengths, const Tensor& log_probs, std::int64_t most,
                                     const char* name) {
  KEYWAY_CHECK(!lengths.is_floating_point() && !lengths.is_complex() && lengths.dtype() != kBool,
               "ctc_loss: {} must be integers, not {}", name, lengths.dtype());
  KEYWAY_CHECK(lengths.numel() == log_probs.size(1), "ctc_loss: {} has {} numbers, but the batch is {}", name,
               lengths.numel(), log_probs.size(1));
  const Tensor flat = lengths.reshape({-1}).to(kCPU, kLong).contiguous();
  std::vector<std::int64_t> numbers(flat.const_data_ptr<std::int64_t>(),
                                    flat.const_data_ptr<std::int64_t>() + flat.numel());
  for (const std::int64_t number : numbers) {
    KEYWAY_CHECK(number >= 0 && number <= most, "ctc_loss: a number of {} is {}, but must be in [0, {}]", name, number,
                 most);
  }
  return numbers;
}

// The labels as [batch, longest].
Tensor padded(const Tensor& targets, const std::vector<std::int64_t>& counts, bool is_single) {
  const std::int64_t longest = counts.empty() ? 0 : *std::ranges::max_element(counts);
  const auto batch = static_cast<std::int64_t>(counts.size());
  const Tensor labels = targets.detach().to(kLong);
  if (labels.dim() == 2 || is_single) {
    const Tensor rows = labels.dim() == 2 ? labels : labels.unsqueeze(0);
    KEYWAY_CHECK(rows.size(0) == batch && rows.size(1) >= longest,
                 "ctc_loss: targets have shape {}, but there are {} sequences of up to {} labels", targets.sizes(),
                 batch, longest);
    return rows.narrow(1, 0, longest);
  }
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  KEYWAY_CHECK(labels.numel() == all, "ctc_loss: target_lengths sum up to {}, but there are {} targets", all,
               labels.numel());
  const Tensor rows = labels.new_zeros({batch, longest});
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t count = counts[static_cast<std::size_t>(i)];
    rows.select(0, i).narrow(0, 0, count).copy_(labels.narrow(0, at, count));
    at += count;
  }
  return rows;
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, std::int64_t blank, std::int64_t reduction, bool zero_infinity) {
  const bool is_single = log_probs.dim() == 2;
  KEYWAY_CHECK(is_single || log_probs.dim() == 3, "ctc_loss: log_probs have 2 or 3 dimensions, not {}",
               log_probs.dim());
  KEYWAY_CHECK(log_probs.dtype() == kFloat || log_probs.dtype() == kDouble,
               "ctc_loss: log_probs are float32 or float64, not {}", log_probs.dtype());
  KEYWAY_CHECK(targets.dim() == 1 || targets.dim() == 2, "ctc_loss: targets have 1 or 2 dimensions, not {}",
               targets.dim());
  const Tensor probs = is_single ? log_probs.unsqueeze(1) : log_probs;
  KEYWAY_CHECK(0 <= blank && blank < probs.size(2), "ctc_loss: blank is {}, but must be in [0, {})", blank,
               probs.size(2));
  const auto lengths = numbers_of(input_lengths, probs, probs.size(0), "input_lengths");
  const auto counts = numbers_of(target_lengths, probs, std::numeric_limits<std::int64_t>::max(), "target_lengths");
  const Device device = probs.device();
  const auto on_device = [&](const Tensor& numbers) { return numbers.reshape({-1}).to(device, kLong); };
  const Tensor sizes = on_device(target_lengths);
  Tensor losses =
      Ctc::apply(probs, padded(targets, counts, is_single).to(device, kLong), on_device(input_lengths), sizes, blank);
  if (zero_infinity) losses = losses.masked_fill(losses.detach().eq(kInfinity), 0);
  if (reduction == Reduction::Mean) return losses.div(sizes.clamp(Scalar(1))).mean();
  if (reduction == Reduction::Sum) return losses.sum();
  return is_single ? losses.squeeze(0) : losses;
}

}  // namespace keyway::inline v1::nn::functional
