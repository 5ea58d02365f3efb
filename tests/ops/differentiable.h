// Calls of the generated suite as functions of the tensors that have gradients.
#pragma once

#include <keyway/autograd/node.h>
#include <keyway/tests/ops/samples.h>

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::testing {

using autograd::variable_list;

struct Differentiable {
  Sample sample;
  std::string op;  // the overload to call
  std::vector<Slot> slots;

  // The sample's tensors as leaves that require gradients.
  variable_list leaves() const;
  // All that the call returns for these; what it writes to is copied before.
  variable_list results(const variable_list& inputs) const;
  // The results that have gradients: those that are floating, and where an entry states derivatives and not for all
  // results, those for which it does.
  variable_list operator()(const variable_list& inputs) const;
};

// By every tensor of float64 or complex128 that a derivative is taken by.
Differentiable differentiable(const Sample& sample, std::string_view op);

// The samples in float64 that are small enough to be checked by differences.
std::vector<Sample> double_samples(const OpCases& entry);
// The sample with imaginary parts added to all that is float64; none if the operator refuses it.
std::optional<Sample> in_complex(const Sample& sample);
bool is_about_the_graph(const OpCases& entry);

// The gradients of `inputs`, which `outputs` were computed from, for gradients of the outputs that `seed` makes.
using Seed = std::function<Tensor(const Tensor& result)>;
variable_list gradients_of(const variable_list& outputs, const variable_list& inputs, const Seed& seed);
variable_list gradients_of(const Differentiable& function, const Seed& seed);
Tensor ones_as(const Tensor& result);
Stack stack_of(const variable_list& tensors);

// The message of the error, empty if there was none.
template <typename F>
std::string error_in(const F& check) {
  try {
    check();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace keyway::inline v1::testing
