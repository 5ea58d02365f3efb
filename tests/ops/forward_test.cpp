// The generated suite: forward mode gives what two backwards of the whole call give, and either can be differentiated.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/forward/dual.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/differentiable.h>
#include <keyway/tests/ops/gradient_exceptions.h>
#include <keyway/tests/ops/samples.h>

#include <cmath>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Numbers that are neither alike nor large.
Tensor direction_of(const Tensor& tensor) {
  const Tensor steps = keyway::arange(1, tensor.numel() + 1, TensorOptions(kDouble)).reshape(tensor.sizes());
  const Tensor real = steps.mul(0.7).sin().add(0.3);
  if (!is_complex(tensor.dtype())) return real.to(tensor.dtype());
  return keyway::view_as_complex(keyway::stack({real, steps.mul(1.3).cos()}, -1));
}

bool has_gradient(const Tensor& tensor) { return tensor.defined() && autograd::is_differentiable(tensor.dtype()); }

// The tangents of the results, zeros where there are none; those of forward mode, at the innermost level.
variable_list tangents_forward(const Differentiable& function, const variable_list& inputs, variable_list& primals) {
  variable_list duals, tangents;
  for (const Tensor& input : inputs) duals.push_back(make_dual(input, direction_of(input)));
  for (const Tensor& result : function.results(duals)) {
    if (!has_gradient(result)) continue;
    const UnpackedDual parts = unpack_dual(result);
    primals.push_back(parts.primal);
    tangents.push_back(parts.tangent.defined() ? parts.tangent : keyway::zeros_like(parts.primal));
  }
  return tangents;
}

// The same by two backwards, the results' gradients being variables of the first.
variable_list tangents_by_backward(const Differentiable& function, const variable_list& inputs,
                                   variable_list& primals) {
  variable_list outputs, weights, tangents;
  for (const Tensor& result : function.results(inputs)) {
    if (!has_gradient(result)) continue;
    primals.push_back(result);
    tangents.push_back(keyway::zeros_like(result));
    if (!result.requires_grad()) continue;
    outputs.push_back(result);
    weights.push_back(result);
  }
  if (outputs.empty()) return tangents;
  for (Tensor& weight : weights)
    weight = (outputs.size() == 1 ? ones_as(weight) : keyway::zeros_like(weight)).detach().requires_grad_();
  const variable_list products = autograd::grad(outputs, inputs, weights, true, true, true);
  variable_list used, directions;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!products[i].defined() || !products[i].requires_grad()) continue;
    used.push_back(products[i]);
    directions.push_back(direction_of(inputs[i]));
  }
  if (used.empty()) return tangents;
  const variable_list found = autograd::grad(used, weights, directions, true, true, true);
  std::size_t next = 0;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    if (!primals[i].requires_grad()) continue;
    if (found[next].defined()) tangents[i] = found[next];
    ++next;
  }
  return tangents;
}

// The sum of the real products of all elements.
double inner(const variable_list& a, const variable_list& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() || a[i].numel() == 0) continue;
    const Tensor product = keyway::real(a[i].detach() * keyway::conj_physical(b[i].detach()));
    sum += product.sum().item().to<double>();
  }
  return sum;
}

// The products of tangents with weights are those of gradients with directions: a derivative has a transpose.
void check_transposed(const Differentiable& function, const variable_list& tangents) {
  const variable_list leaves = function.leaves();
  variable_list weights, outputs, seeds, directions;
  for (const Tensor& result : function.results(leaves)) {
    if (!has_gradient(result)) continue;
    weights.push_back(direction_of(result).add(0.17));
    if (!result.requires_grad()) continue;
    outputs.push_back(result);
    seeds.push_back(weights.back());
  }
  for (const Tensor& leaf : leaves) directions.push_back(direction_of(leaf));
  variable_list gradients(leaves.size());
  if (!outputs.empty()) gradients = autograd::grad(outputs, leaves, seeds, false, false, true);
  const double expected = inner(gradients, directions), found = inner(tangents, weights);
  if (!std::isfinite(expected) || !std::isfinite(found)) return;
  CHECK(std::fabs(found - expected) <= 1e-9 * (1 + std::fabs(expected)));
}

variable_list plain_inputs(const Differentiable& function) {
  variable_list inputs;
  for (const Tensor& leaf : function.leaves()) inputs.push_back(leaf.detach());
  return inputs;
}

// Calls `check` with each call of an entry that has something to differentiate by; what backward refuses is left out.
template <typename F>
void for_each_function(const char* what, std::size_t at_least, const F& check) {
  Tally tally(what);
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& real : double_samples(entry)) {
      std::vector<Sample> samples{real};
      if (const auto complex = in_complex(real)) samples.push_back(*complex);
      for (const Sample& sample : samples) {
        for (const std::string_view op : {std::string_view(entry.op), std::string_view(entry.inplace)}) {
          if (op.empty() || has_other_gradient(sample)) continue;
          const Differentiable function = differentiable(sample, op);
          if (function.slots.empty()) continue;
          INFO(op << ": " << sample.text);
          tally.count(entry);
          check(function);
        }
      }
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(at_least));
}

}  // namespace

TEST_CASE("tangents of forward mode are those of two backwards") {
  for_each_function("tangents", 1000, [](const Differentiable& function) {
    variable_list expected, values, found, primals;
    if (!error_in([&] { expected = tangents_by_backward(function, function.leaves(), values); }).empty()) return;
    const std::string error = error_in([&] {
      const DualLevel level;
      found = tangents_forward(function, plain_inputs(function), primals);
    });
    CHECK(error == "");
    CHECK(difference(stack_of(primals), stack_of(values)) == "");
    CHECK(difference(stack_of(found), stack_of(expected)) == "");
    check_transposed(function, found);
    for (const Tensor& tangent : found) CHECK_FALSE(tangent.requires_grad());
    for (const Tensor& primal : primals) CHECK_FALSE(primal.requires_grad());
  });
}

TEST_CASE("tangents can be differentiated backward") {
  for_each_function("backward over forward", 500, [](const Differentiable& function) {
    variable_list expected, found, primals;
    const std::string wrong = error_in([&] {
      const variable_list leaves = function.leaves();
      const variable_list tangents = tangents_by_backward(function, leaves, primals);
      expected = gradients_of(tangents, leaves, direction_of);
    });
    if (!wrong.empty() || expected.empty()) return;
    const std::string error = error_in([&] {
      const DualLevel level;
      const variable_list leaves = function.leaves();
      found = gradients_of(tangents_forward(function, leaves, primals), leaves, direction_of);
    });
    CHECK(error == "");
    found.resize(expected.size());
    const variable_list leaves = function.leaves();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!expected[i].defined()) expected[i] = keyway::zeros_like(leaves[i]);
      if (!found[i].defined()) found[i] = keyway::zeros_like(leaves[i]);
    }
    CHECK(difference(stack_of(found), stack_of(expected)) == "");
  });
}

TEST_CASE("gradients have tangents: those of the gradient's derivative") {
  for_each_function("forward over backward", 500, [](const Differentiable& function) {
    const auto gradient = [&](const variable_list& inputs, bool create_graph) {
      variable_list outputs, weights;
      for (const Tensor& result : function.results(inputs)) {
        if (!has_gradient(result)) continue;
        // What depends on nothing takes no part.
        if (!result.key_set().has(Functionality::ForwardAD) && !result.requires_grad()) continue;
        outputs.push_back(result);
        weights.push_back(direction_of(result));
      }
      if (outputs.empty()) return variable_list(inputs.size());
      return autograd::grad(outputs, inputs, weights, true, create_graph, true);
    };
    variable_list expected, found;
    const std::string wrong = error_in([&] {
      const variable_list leaves = function.leaves();
      variable_list gradients = gradient(leaves, true), used, directions;
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (!gradients[i].defined() || !gradients[i].requires_grad()) continue;
        used.push_back(gradients[i]);
        directions.push_back(direction_of(leaves[i]));
      }
      expected.resize(leaves.size());
      if (!used.empty()) expected = autograd::grad(used, leaves, directions, false, false, true);
    });
    if (!wrong.empty()) return;
    const std::string error = error_in([&] {
      const DualLevel level;
      variable_list duals;
      for (const Tensor& leaf : function.leaves()) duals.push_back(make_dual(leaf, direction_of(leaf)));
      for (const Tensor& dual : gradient(duals, false))
        found.push_back(dual.defined() ? unpack_dual(dual).tangent : Tensor());
    });
    CHECK(error == "");
    if (!error.empty()) return;
    const variable_list leaves = function.leaves();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!expected[i].defined()) expected[i] = keyway::zeros_like(leaves[i]);
      if (!found[i].defined()) found[i] = keyway::zeros_like(leaves[i]);
    }
    CHECK(difference(stack_of(found), stack_of(expected)) == "");
  });
}
