#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/tools/keyway/conform/neighbour_calls.h>
#include <keyway/tools/keyway/conform/spread_elements.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

// How much a number of that float may change where its last bit does: 2 to this power.
int last_bit_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Double:
    case ScalarType::ComplexDouble: return -52;
    case ScalarType::Half:
    case ScalarType::ComplexHalf: return -10;
    case ScalarType::BFloat16: return -7;
    case ScalarType::Float8_e4m3fn: return -3;
    case ScalarType::Float8_e5m2: return -2;
    default: return -23;
  }
}

// Changes the complex numbers among the arguments by as many units of float64. Whether there are any.
bool change_numbers(Stack& arguments, int units) {
  bool any = false;
  for (IValue& argument : arguments) {
    if (!argument.is(ValueTag::Complex)) continue;
    any = true;
    argument = IValue(argument.to_complex() * (1 + std::ldexp(units, -52)));
  }
  return any;
}

}  // namespace

TensorBase widened(const TensorBase& tensor) {
  const NoGradGuard no_grad;
  const Tensor values = Tensor(tensor).detach();
  const bool is_float = is_complex(values.dtype()) || is_floating_point(values.dtype());
  if (!is_float) return values;
  Tensor wide = values.to(is_complex(values.dtype()) ? kComplexDouble : kDouble);
  wide.requires_grad_(tensor.requires_grad());
  return wide;
}

std::optional<ScalarType> narrowest_float(const std::vector<TensorBase>& tensors) {
  std::optional<ScalarType> narrowest;
  for (const TensorBase& tensor : tensors) {
    if (!is_floating_point(tensor.dtype()) && !is_complex(tensor.dtype())) continue;
    const auto size_of = [](ScalarType dtype) { return element_size(dtype) / (is_complex(dtype) ? 2 : 1); };
    if (!narrowest || size_of(tensor.dtype()) < size_of(*narrowest)) narrowest = tensor.dtype();
  }
  return narrowest;
}

ConformCall NeighbourCalls::exact(const std::vector<Value>& values) const {
  if (shares_memory(values)) return {};
  Stack arguments = op_.arguments(values, DeviceType::CPU);
  const std::optional<ScalarType> narrowest = narrowest_float(tensors_of(arguments));
  if (!narrowest || narrowest == kDouble || narrowest == kComplexDouble) return {};
  update_tensors(arguments, [](TensorBase& tensor) { tensor = widened(tensor); });
  ConformCall call = reference_.call(std::move(arguments));
  return call.error.empty() ? call : ConformCall();
}

// Of a pointwise operator: how far the reference errs for many numbers in the range where functions have their shape.
// Where it happens to round correctly here, but not there, another may do so elsewhere.
double NeighbourCalls::error_elsewhere(const std::vector<Value>& values) const {
  const std::vector<Value> many = with_many_elements(values);
  const ConformCall call = reference_.call(op_.arguments(many, DeviceType::CPU)), wide = exact(many);
  const std::vector<TensorBase> rounded = tensors_of(call.results), unrounded = tensors_of(wide.results);
  double greatest = 0;
  for (std::size_t i = 0; i < rounded.size() && rounded.size() == unrounded.size(); ++i) {
    if (kCastTypes.contains(rounded[i].dtype()) && rounded[i].sizes() == unrounded[i].sizes()) {
      greatest = std::max(greatest, greatest_error(rounded[i], unrounded[i]));
    }
  }
  return greatest;
}

// Of sums in float64, how far the reference errs in float32, where that can be asked; infinite where it has no digit.
double NeighbourCalls::error_in_float32(std::vector<Value> values, const Find& find) const {
  if (shares_memory(values)) return 0;
  for (Value& value : values) {
    for (TensorRecipe& recipe : value.tensors) {
      if (recipe.dtype == kDouble) recipe.dtype = kFloat;
      if (recipe.dtype == kComplexDouble) recipe.dtype = kComplexFloat;
    }
  }
  const ConformCall wide = exact(values);
  ConformCall call = reference_.call(op_.arguments(values, DeviceType::CPU));
  if (!call.error.empty()) return 0;
  const TensorBase rounded = find(call), unrounded = find(wide);
  const bool fits = rounded.defined() && unrounded.defined() && rounded.sizes() == unrounded.sizes();
  const double error = fits ? error_of_sums(rounded, unrounded) : 0;
  constexpr double kNoDigit = 1 << 21;  // of 24 bits; how many of 53 there are is not known then
  return error < kNoDigit ? error : INFINITY;
}

ConformCall NeighbourCalls::nearby(const std::vector<Value>& values, Step step, bool in_own_dtype) const {
  if (shares_memory(values)) return {};
  Stack arguments = op_.arguments(values, DeviceType::CPU);
  const std::optional<ScalarType> narrowest = narrowest_float(tensors_of(arguments));
  const bool has_complex = change_numbers(arguments, step.units);
  if (!narrowest && !has_complex) return {};
  const int own = last_bit_of(narrowest.value_or(kDouble));
  const double part = std::ldexp(step.units, in_own_dtype || step.is_rounded ? own : std::min(own, -23));
  std::int64_t number = 0;
  update_tensors(arguments, [&](TensorBase& tensor) {
    if (!is_floating_point(tensor.dtype()) && !is_complex(tensor.dtype())) return;
    const NoGradGuard no_grad;
    const std::int64_t begin = number++ + (step.is_rounded ? 1 : 0);
    if (!step.is_rounded) tensor = widened(tensor);
    const Tensor all =
        make_view(tensor, {static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.itemsize())}, {1}, 0);
    // Up, up, down, and so on, from another place on in each tensor: neighbours and pairs differ in different ways.
    const Tensor signs = (remainder(arange(begin, begin + all.numel(), kDouble), 3) < 1.5).to(kDouble) * 2 - 1;
    const Tensor factors = signs * part + 1;
    all.copy_(Tensor(widened(all)) * (is_complex(all.dtype()) ? factors.to(kComplexDouble) : factors));
  });
  ConformCall call = reference_.call(std::move(arguments));
  return call.error.empty() ? call : ConformCall();
}

std::string NeighbourCalls::float_difference(const std::vector<Value>& values, const TensorBase& got, Expected expected,
                                             const Find& find, bool in_own_dtype) const {
  const std::string problem = value_difference(got, expected);
  if (problem.empty()) return problem;
  if (expected.is_pointwise) {
    expected.error_elsewhere = error_elsewhere(values);
  } else {
    if (!expected.exact.defined()) expected.error_in_float32 = error_in_float32(values, find);
    for (const Step step : {Step{1}, Step{-1}, Step{2}, Step{-3}, Step{1, true}, Step{-1, true}, Step{2, true}}) {
      const TensorBase nearby_result = find(nearby(values, step, in_own_dtype));
      if (nearby_result.defined() && nearby_result.sizes() == got.sizes()) expected.nearby.push_back(nearby_result);
    }
  }
  return value_difference(got, expected);
}

}  // namespace keyway::inline v1::tools
