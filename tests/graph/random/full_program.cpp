#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>
#include <keyway/tests/graph/random/full_program.h>
#include <keyway/tests/graph/random/steps.h>
#include <keyway/tests/graph/replayed.h>

#include <random>

namespace keyway::inline v1::testing {
namespace {

constexpr ScalarType kArgumentDtypes[] = {kDouble, kLong, kBool, kHalf, kInt, kComplexFloat, kBFloat16, kFloat};

bool has_gradient(const Tensor& tensor) {
  return tensor.defined() && tensor.requires_grad() &&
         (is_floating_point(tensor.scalar_type()) || is_complex(tensor.scalar_type()));
}

Tensor random_tensor(IntArrayRef sizes, ScalarType dtype) {
  if (dtype == kBool) return keyway::rand(sizes).gt(0.5);
  if (is_floating_point(dtype) || is_complex(dtype)) return keyway::randn(sizes).to(dtype);
  return keyway::randint(-3, 4, sizes, TensorOptions(dtype));
}

Tensor loss_of(const std::vector<Tensor>& results) {
  Tensor loss;
  for (const Tensor& result : results) {
    if (!has_gradient(result)) continue;
    const Tensor real = is_complex(result.scalar_type()) ? keyway::view_as_real(result) : result;
    const Tensor part = (real * real).sum().to(kDouble);
    loss = loss.defined() ? loss + part : part;
  }
  return loss;
}

std::vector<Tensor> leaves_of(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) {
    if (input.requires_grad()) leaves.push_back(input);
  }
  return leaves;
}

}  // namespace

FullProgram::FullProgram(std::uint32_t seed) : seed_(seed), gradient_(static_cast<Gradient>(seed / 2 % 3)) {
  std::mt19937 random(seed);
  const std::uint32_t count = 3 + random() % 22;
  for (std::uint32_t i = 0; i < count; ++i) steps_.push_back(i);
}

std::vector<Tensor> FullProgram::inputs(std::uint32_t number) const {
  std::mt19937 random(seed_ + 1);
  std::int64_t rows = random() % 16 == 0 ? 0 : 1 + random() % 4, columns = 1 + random() % 5;
  if (random() % 16 == 0) rows = 96, columns = 61;  // elements enough for calls to be made block by block
  const ScalarType dtype = kArgumentDtypes[random() % std::size(kArgumentDtypes)];
  manual_seed(std::uint64_t{number} << 32 | seed_);
  const Tensor first = keyway::randn({2, rows, columns}), base = keyway::randn({rows + 2, columns});
  const Tensor shared = base.slice(0, 0, rows), other = base.slice(0, 2, rows + 2).t();
  const Tensor last = random_tensor({rows, columns}, dtype);
  const Tensor weight = keyway::randn({columns, columns}), counts = random_tensor({6}, dtype);
  const Tensor view = shares_state() ? counts.slice(0, 2, 5) : counts.slice(0, 2, 5).clone();
  if (gradient_ != Gradient::None) {
    first.requires_grad_();
    weight.requires_grad_();
  }
  return {first, shared, other, last, weight, counts, view};
}

bool FullProgram::settle() {
  std::vector<std::uint32_t> settled;
  const std::vector<Tensor> copies = copies_of(inputs(0));
  std::vector<Tensor> tensors;
  for (const Tensor& input : copies) tensors.push_back(input.requires_grad() ? input * 1.5 : input);
  for (const std::uint32_t step : steps_) {
    const std::size_t count = tensors.size();
    try {
      make_step(seed_ * 64 + step, tensors);
      settled.push_back(step);
    } catch (const Error&) {
      tensors.resize(count);
    }
  }
  steps_ = std::move(settled);
  if (steps_.empty()) return false;
  try {
    (*this)(copies_of(inputs(0)));
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<Tensor> FullProgram::forward(const std::vector<Tensor>& inputs) const {
  std::vector<Tensor> tensors;
  for (const Tensor& input : inputs) tensors.push_back(input.requires_grad() ? input * 1.5 : input);
  for (const std::uint32_t step : steps_) make_step(seed_ * 64 + step, tensors);
  std::mt19937 random(seed_ + 2);
  std::vector<Tensor> results;
  for (int i = 0; i < 3; ++i) results.push_back(tensors[random() % tensors.size()]);
  results.push_back(tensors.back());
  return results;
}

std::vector<Tensor> FullProgram::with_gradients(const std::vector<Tensor>& results,
                                                const std::vector<Tensor>& inputs) const {
  if (gradient_ == Gradient::None) return results;
  std::vector<Tensor> all;
  const std::vector<Tensor> leaves = leaves_of(inputs);
  if (const Tensor loss = grad_enabled() ? loss_of(results) : Tensor(); loss.defined()) {
    if (gradient_ == Gradient::Leave)
      autograd::backward({loss}, {}, false, false, leaves);
    else
      all = autograd::grad({loss}, leaves, {}, false, false, /*allow_unused=*/true);
  }
  for (const Tensor& result : results) all.push_back(result.detach());
  return all;
}

}  // namespace keyway::inline v1::testing
