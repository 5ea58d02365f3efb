#include <keyway/autograd/engine.h>
#include <keyway/autograd/gradcheck.h>
#include <keyway/core/base/error.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::autograd {

namespace {

using Values = std::vector<double>;

struct Tolerance {
  double eps;
  double atol;
  double rtol;
};

bool has_elements_to_move(const Tensor& tensor) {
  return tensor.defined() && (is_floating_point(tensor.dtype()) || is_complex(tensor.dtype()));
}

bool is_checked(const Tensor& tensor) { return has_elements_to_move(tensor) && tensor.requires_grad(); }

// What is checked of a tensor: a complex one as its real and imaginary parts. Its gradient is d/d(real) + i
// d/d(imaginary), so the parts of the gradient are the gradients of the parts.
Tensor parts_of(const Tensor& tensor) { return is_complex(tensor.dtype()) ? keyway::view_as_real(tensor) : tensor; }

void check_inputs(const variable_list& inputs) {
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    if (!input.defined() || !input.requires_grad()) continue;
    any = true;
    const bool is_double = input.dtype() == ScalarType::Double || input.dtype() == ScalarType::ComplexDouble;
    KEYWAY_CHECK_AS(Autograd, is_double && input.is_cpu() && input.is_leaf(),
                    "gradcheck: input {} has to be a leaf of float64 or complex128 on the CPU, but is {}", i,
                    describe(input));
  }
  KEYWAY_CHECK_AS(Autograd, any, "gradcheck: no input requires a gradient");
}

// The elements in row-major order, on whichever device they are.
Values values_of(const Tensor& tensor) {
  const NoGradGuard no_grad;
  const ExcludeDispatchKeyGuard no_modes{DispatchKeySet(Functionality::Python)};  // whose answers may have no memory
  const Tensor dense = parts_of(tensor.detach()).to(kCPU, ScalarType::Double).contiguous();
  const double* data = dense.const_data_ptr<double>();
  return {data, data + dense.numel()};
}

// Element i in row-major order.
double* element(const Tensor& tensor, std::int64_t i) {
  std::int64_t offset = 0;
  for (std::int64_t d = tensor.dim() - 1; d >= 0; --d) {
    offset += i % tensor.size(d) * tensor.stride(d);
    i /= tensor.size(d);
  }
  return tensor.data_ptr<double>() + offset;
}

// What each result is with one element of an input moved.
std::vector<Values> results_at(const CheckedFunction& fn, const variable_list& inputs, double* moved, double value) {
  const double before = *moved;
  *moved = value;
  std::vector<Values> results;
  for (const Tensor& result : fn(inputs)) {
    results.push_back(has_elements_to_move(result) ? values_of(result) : Values());
  }
  *moved = before;
  return results;
}

// d result[k] / d input[i], for the parts of one input: difference[result][k * numel + i].
std::vector<Values> differences(const CheckedFunction& fn, const variable_list& inputs, const Tensor& input,
                                double eps) {
  std::vector<Values> jacobians;
  const auto numel = static_cast<std::size_t>(input.numel());
  for (std::size_t i = 0; i < numel; ++i) {
    double* moved = element(input, static_cast<std::int64_t>(i));
    const auto above = results_at(fn, inputs, moved, *moved + eps);
    const auto below = results_at(fn, inputs, moved, *moved - eps);
    jacobians.resize(above.size());
    for (std::size_t r = 0; r < above.size(); ++r) {
      jacobians[r].resize(above[r].size() * numel);
      for (std::size_t k = 0; k < above[r].size(); ++k) {
        jacobians[r][k * numel + i] = (above[r][k] - below[r][k]) / (2 * eps);
      }
    }
  }
  return jacobians;
}

// The same by backward: gradients[input][k * numel + i]. All zeros for a result without history.
std::vector<Values> gradients(const Tensor& result, const variable_list& inputs) {
  std::vector<Values> jacobians;
  const auto count = static_cast<std::size_t>(result.numel());
  for (const Tensor& input : inputs)
    jacobians.emplace_back(count * static_cast<std::size_t>(parts_of(input.detach()).numel()));
  if (!result.requires_grad()) return jacobians;
  for (std::size_t k = 0; k < count; ++k) {
    const Tensor seed = keyway::zeros(result.sizes(), TensorOptions().dtype(ScalarType::Double));
    *element(seed, static_cast<std::int64_t>(k)) = 1;
    const auto grads = grad({result}, inputs, {seed.to(result.device(), result.dtype())}, /*retain_graph=*/true,
                            /*create_graph=*/false,
                            /*allow_unused=*/true);
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      if (!grads[n].defined()) continue;
      const Values row = values_of(grads[n]);
      std::copy(row.begin(), row.end(), jacobians[n].begin() + static_cast<std::ptrdiff_t>(k * row.size()));
    }
  }
  return jacobians;
}

bool is_close(double gradient, double difference, const Tolerance& tolerance) {
  if (std::isnan(gradient) || std::isnan(difference)) return false;
  return std::fabs(gradient - difference) <= tolerance.atol + tolerance.rtol * std::fabs(difference);
}

// The index of element i in a tensor of these sizes: "[1, 0]".
std::string index_of(IntArrayRef sizes, std::size_t i) {
  DimVector index(sizes.size());
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t d = sizes.size(); d-- > 0;) {
    index[d] = rest % sizes[d];
    rest /= sizes[d];
  }
  return format("{}", {IntArrayRef(index)});
}

void compare(const Values& found, const Values& expected, const Tensor& result, std::size_t result_number,
             const Tensor& input, std::size_t input_number, const Tolerance& tolerance) {
  const auto numel = static_cast<std::size_t>(input.numel());
  for (std::size_t at = 0; at < expected.size(); ++at) {
    if (is_close(found[at], expected[at], tolerance)) continue;
    KEYWAY_FAIL(Autograd,
                "gradcheck: the gradient of result {} at {} with respect to input {} at {} is {}, but the difference "
                "quotient is {}",
                result_number, index_of(result.sizes(), at / numel), input_number, index_of(input.sizes(), at % numel),
                found[at], expected[at]);
  }
}

// Values between -1 and 1 that look random, the same whenever they are made.
Tensor seed_like(const Tensor& result, std::size_t number) {
  const ExcludeDispatchKeyGuard no_modes{DispatchKeySet(Functionality::Python)};  // whose answers may have no memory
  Tensor seed = keyway::empty(result.sizes(), TensorOptions().dtype(ScalarType::Double));
  auto* data = seed.data_ptr<double>();
  for (std::int64_t i = 0; i < seed.numel(); ++i) data[i] = std::cos(7.0 * static_cast<double>(i) + 3.0 * number + 1.0);
  seed.requires_grad_(true);
  return seed;
}

}  // namespace

bool gradcheck(const CheckedFunction& fn, const variable_list& inputs, double eps, double atol, double rtol) {
  const Tolerance tolerance{eps, atol, rtol};
  check_inputs(inputs);
  variable_list wanted;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_checked(inputs[i])) continue;
    wanted.push_back(inputs[i]);
    numbers.push_back(i);
  }
  const variable_list results = fn(inputs);
  std::vector<std::vector<Values>> expected;
  for (const Tensor& input : wanted) expected.push_back(differences(fn, inputs, parts_of(input.detach()), eps));
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!has_elements_to_move(results[r])) continue;
    const Tensor result = parts_of(results[r]);
    const auto found = gradients(result, wanted);
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      if (wanted[n].numel() == 0) continue;
      compare(found[n], expected[n][r], result, r, parts_of(wanted[n].detach()), numbers[n], tolerance);
    }
  }
  return true;
}

bool gradgradcheck(const CheckedFunction& fn, const variable_list& inputs, double eps, double atol, double rtol) {
  variable_list all = inputs;
  std::vector<std::size_t> recorded;
  const variable_list results = fn(inputs);
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!is_checked(results[r])) continue;
    recorded.push_back(r);
    all.push_back(seed_like(parts_of(results[r].detach()), r));
  }
  const CheckedFunction gradient = [&](const variable_list& given) {
    const variable_list function_inputs(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
    const variable_list values = fn(function_inputs);
    variable_list outputs, seeds;
    for (const std::size_t r : recorded) {
      outputs.push_back(parts_of(values[r]));
      seeds.push_back(given[inputs.size() + seeds.size()].to(outputs.back().device(), ScalarType::Double));
    }
    variable_list wanted;
    for (const Tensor& input : function_inputs) {
      if (is_checked(input)) wanted.push_back(input);
    }
    return grad(outputs, wanted, seeds, /*retain_graph=*/true, /*create_graph=*/true, /*allow_unused=*/true);
  };
  return gradcheck(gradient, all, eps, atol, rtol);
}

}  // namespace keyway::inline v1::autograd
