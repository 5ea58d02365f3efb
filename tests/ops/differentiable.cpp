#include <keyway/autograd/engine.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/ops/differentiable.h>
#include <keyway/tests/ops/gradient_exceptions.h>
#include <keyway/tests/ops/test_values.h>

#include <algorithm>

namespace keyway::inline v1::testing {

namespace {

// What is checked by differences has to be small.
bool is_small(const Sample& sample) {
  std::int64_t numel = 0;
  for (const Slot slot : slots_of(sample.arguments)) numel += tensor_at(sample.arguments, slot).numel();
  return numel <= 40;
}

}  // namespace

variable_list Differentiable::leaves() const {
  variable_list inputs;
  for (const Slot slot : slots) {
    Tensor leaf = tensor_at(sample.arguments, slot).detach();
    inputs.push_back(leaf.requires_grad_());
  }
  return inputs;
}

variable_list Differentiable::results(const variable_list& inputs) const {
  const ArgumentList arguments = operator_named(op).schema().arguments();
  Stack stack = sample.arguments;
  for (std::size_t i = 0; i < slots.size(); ++i) stack = with_tensor(stack, slots[i], inputs[i]);
  for (const Slot slot : slots_of(stack)) {
    if (arguments[slot.argument].is_write()) stack = with_tensor(stack, slot, tensor_at(stack, slot).clone());
  }
  manual_seed(7);
  operator_named(op).call_boxed(stack);
  return tensors_in(stack);
}

variable_list Differentiable::operator()(const variable_list& inputs) const {
  variable_list all = results(inputs);
  std::erase_if(all, [](const Tensor& tensor) {
    return !tensor.defined() || !(is_floating_point(tensor.dtype()) || is_complex(tensor.dtype()));
  });
  const auto has_history = [](const Tensor& result) { return result.requires_grad(); };
  if (!sample.entry->implicit && std::any_of(all.begin(), all.end(), has_history))
    std::erase_if(all, std::not_fn(has_history));
  return all;
}

Differentiable differentiable(const Sample& sample, std::string_view op) {
  Differentiable function{sample, std::string(op), {}};
  const ArgumentList arguments = operator_named(op).schema().arguments();
  for (const Slot slot : slots_of(sample.arguments)) {
    const ScalarType dtype = tensor_at(sample.arguments, slot).dtype();
    if (dtype != kDouble && dtype != kComplexDouble) continue;
    if (!is_constant(sample.entry->op, arguments[slot.argument].name())) function.slots.push_back(slot);
  }
  return function;
}

std::vector<Sample> double_samples(const OpCases& entry) {
  std::vector<Sample> samples = all_samples(entry);
  std::erase_if(samples, [](const Sample& sample) {
    return sample.text.find("in float64") == std::string::npos || !is_small(sample);
  });
  return samples;
}

std::optional<Sample> in_complex(const Sample& sample) {
  Sample made{sample.entry, sample.text + ", complex", sample.arguments};
  std::size_t first = 0;
  for (const Slot slot : slots_of(sample.arguments)) {
    const Tensor real = tensor_at(sample.arguments, slot).detach();
    if (real.dtype() != kDouble) continue;
    const Tensor imaginary = test_values(real.sizes(), kDouble, {0.2, 1.2}, first);
    made.arguments = with_tensor(made.arguments, slot, keyway::view_as_complex(keyway::stack({real, imaginary}, -1)));
  }
  if (first == 0 || !call(sample.entry->op, made.arguments).error.empty()) return std::nullopt;
  return made;
}

bool is_about_the_graph(const OpCases& entry) {
  return has_tag(entry, "nondeterministic") || entry.samples.find("requires_grad_(") != std::string_view::npos ||
         is_exempt(entry.op);
}

variable_list gradients_of(const variable_list& results, const variable_list& inputs, const Seed& seed) {
  variable_list outputs, seeds;
  for (const Tensor& result : results) {
    if (!result.requires_grad()) continue;
    outputs.push_back(result);
    seeds.push_back(seed(result));
  }
  if (outputs.empty()) return {};
  return autograd::grad(outputs, inputs, seeds, false, false, true);
}

variable_list gradients_of(const Differentiable& function, const Seed& seed) {
  const variable_list inputs = function.leaves();
  return gradients_of(function(inputs), inputs, seed);
}

Tensor ones_as(const Tensor& result) { return keyway::ones(result.sizes(), result.options()); }

Stack stack_of(const variable_list& tensors) {
  Stack stack;
  for (const Tensor& tensor : tensors) stack.emplace_back(TensorBase(tensor));
  return stack;
}

}  // namespace keyway::inline v1::testing
