#include <keyway/core/base/error.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conform_judge.h>
#include <keyway/tools/keyway/conform/spread_elements.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

// Those of dimensions that have several elements.
bool same_strides(const TensorBase& a, const TensorBase& b) {
  for (std::size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.numel() > 0 && a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

std::string geometry_of(const TensorBase& tensor) {
  return describe(tensor) + " strides " + FormatArg(tensor.strides()).str();
}

// Which of the arguments' tensors a result is, or shares memory with; none is -1.
struct Kinship {
  std::ptrdiff_t is = -1, shares_with = -1;
  friend bool operator==(Kinship, Kinship) = default;
};
Kinship kinship_of(const TensorBase& result, const std::vector<TensorBase>& arguments) {
  Kinship kinship;
  for (std::size_t i = arguments.size(); i-- > 0;) {
    if (arguments[i].is_same(result)) kinship.is = static_cast<std::ptrdiff_t>(i);
    if (arguments[i].is_alias_of(result)) kinship.shares_with = static_cast<std::ptrdiff_t>(i);
  }
  return kinship;
}

// A tensor of higher precision for a float or complex one.
TensorBase widened(const TensorBase& tensor) {
  const NoGradGuard no_grad;
  const Tensor values = Tensor(tensor).detach();
  const bool is_float = is_complex(values.dtype()) || is_floating_point(values.dtype());
  if (!is_float) return values;
  Tensor wide = values.to(is_complex(values.dtype()) ? kComplexDouble : kDouble);
  wide.requires_grad_(tensor.requires_grad());
  return wide;
}

bool shares_memory(const std::vector<Value>& values) {
  return std::any_of(values.begin(), values.end(), [](const Value& value) {
    return std::any_of(value.tensors.begin(), value.tensors.end(),
                       [](const TensorRecipe& recipe) { return recipe.sharing != Sharing::None; });
  });
}

// The narrowest float among the tensors.
std::optional<ScalarType> narrowest_float(const std::vector<TensorBase>& tensors) {
  std::optional<ScalarType> narrowest;
  for (const TensorBase& tensor : tensors) {
    if (!is_floating_point(tensor.dtype()) && !is_complex(tensor.dtype())) continue;
    const auto size_of = [](ScalarType dtype) { return element_size(dtype) / (is_complex(dtype) ? 2 : 1); };
    if (!narrowest || size_of(tensor.dtype()) < size_of(*narrowest)) narrowest = tensor.dtype();
  }
  return narrowest;
}

// Of integers, which are added up as floats here: how exact a sum of these is depends on all of them.
double sum_of_integers(const std::vector<TensorBase>& tensors) {
  double sum = 0;
  for (const TensorBase& tensor : tensors) {
    if (is_integral(tensor.dtype(), false)) sum += Tensor(tensor).to(kDouble).abs().sum().item<double>();
  }
  return sum;
}

// Each result is multiplied by numbers that differ, so that gradients do not cancel: those of a sum of softmax would.
std::vector<Tensor> gradients_of(const ConformCall& call) {
  constexpr std::int64_t kCount = 61;
  std::vector<Tensor> gradients;
  Tensor total;
  for (const TensorBase& result : tensors_of(call.results)) {
    if (!result.requires_grad() || result.is_leaf()) continue;
    const Tensor root(result);
    const Tensor real = is_complex(root.dtype()) ? view_as_real(root) : root;
    const ScalarType wide = real.dtype() == kDouble ? kDouble : kFloat;
    const Tensor numbers = arange(0, real.numel(), kDouble);
    const Tensor weights = (remainder(numbers * 23, kCount) / kCount + 0.5).to(wide).to(real.device());
    const Tensor sum = (real.to(wide) * weights.view(real.sizes())).sum();
    total = total.defined() ? total + sum.to(total.dtype()) : sum;
  }
  if (!total.defined()) return gradients;
  total.backward();
  for (const TensorBase& argument : tensors_of(call.arguments)) {
    if (argument.requires_grad() && argument.is_leaf()) gradients.push_back(Tensor(argument).grad());
  }
  return gradients;
}

}  // namespace

Outcome ConformJudge::judge(const std::vector<Value>& values) const {
  if (!can_be_made(values)) return {Verdict::NotServed, "tensors that cannot be copied"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Elements that several tensors of a list have in common are changed in nobody's order.
    if (op_.is_written(i) && !op_.is_out(i) && values[i].kind == Value::Kind::Tensors && shares_memory(values)) {
      return {Verdict::NotServed, "a list that is written, and memory that is shared"};
    }
  }
  try {
    const Outcome outcome = compare(values);
    return outcome.verdict == Verdict::Returned ? compare(with_spread_elements(values)) : outcome;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::OutOfMemory) return {Verdict::NotServed, error.what()};
    throw;
  }
}

Outcome ConformJudge::compare(const std::vector<Value>& values) const {
  const ConformCall cpu = op_.call(values, DeviceType::CPU);
  const ConformCall there = op_.call(values, device());
  if (!there.is_served || !cpu.is_served) return {Verdict::NotServed, there.is_served ? cpu.error : there.error};
  if (cpu.error.empty() && !there.error.empty()) return {Verdict::Differs, "refused: " + there.error};
  if (!cpu.error.empty() && (there.error.empty() || there.is_late)) {
    // What is refused for the sake of a value, a device need not look at, or finds while the host goes on.
    if (op_.call(values, DeviceType::Meta).error.empty()) return {Verdict::Refused, cpu.error};
    return {Verdict::Differs, "served, but the CPU refuses: " + cpu.error};
  }
  if (!there.leaves_device) return {Verdict::Differs, "another device or stream is current after the call"};
  const bool returned = there.error.empty();
  const ConformCall exact = returned ? exact_call(values) : ConformCall();
  std::string problem = returned ? result_difference(values, there, cpu, exact) : "";
  if (problem.empty()) problem = argument_difference(values, there, cpu, exact);
  if (problem.empty() && returned) problem = repeat_difference(values, there);
  if (problem.empty() && returned) problem = gradient_difference(values, there, cpu, exact);
  if (!problem.empty()) return {Verdict::Differs, problem};
  return {returned ? Verdict::Returned : Verdict::Refused, there.error};
}

// The CPU's for arguments of higher precision; without results where it has none.
ConformCall ConformJudge::exact_call(const std::vector<Value>& values) const {
  if (shares_memory(values)) return {};
  Stack arguments = op_.arguments(values, DeviceType::CPU);
  const std::optional<ScalarType> narrowest = narrowest_float(tensors_of(arguments));
  if (!narrowest || narrowest == kDouble || narrowest == kComplexDouble) return {};
  update_tensors(arguments, [](TensorBase& tensor) { tensor = widened(tensor); });
  ConformCall call = op_.call(std::move(arguments), DeviceType::CPU);
  return call.error.empty() ? call : ConformCall();
}

// Of a pointwise operator: how far the CPU errs for many numbers in the range where functions have their shape. Where
// the CPU happens to round correctly here, but not there, another may do so elsewhere.
double ConformJudge::error_elsewhere(const std::vector<Value>& values) const {
  const std::vector<Value> many = with_many_elements(values);
  const ConformCall cpu = op_.call(many, DeviceType::CPU), exact = exact_call(many);
  const std::vector<TensorBase> rounded = tensors_of(cpu.results), unrounded = tensors_of(exact.results);
  double greatest = 0;
  for (std::size_t i = 0; i < rounded.size() && rounded.size() == unrounded.size(); ++i) {
    if (kCastTypes.contains(rounded[i].dtype()) && rounded[i].sizes() == unrounded[i].sizes()) {
      greatest = std::max(greatest, greatest_error(rounded[i], unrounded[i]));
    }
  }
  return greatest;
}

// The CPU's for arguments of which each number differs a little: as far as float32 would round it, if the call has
// narrower floats than float64.
ConformCall ConformJudge::call_nearby(const std::vector<Value>& values, int units) const {
  if (shares_memory(values)) return {};
  Stack arguments = op_.arguments(values, DeviceType::CPU);
  const std::optional<ScalarType> narrowest = narrowest_float(tensors_of(arguments));
  if (!narrowest) return {};
  const bool is_double = narrowest == kDouble || narrowest == kComplexDouble;
  const double part = std::ldexp(units, is_double ? -52 : -23);
  update_tensors(arguments, [&](TensorBase& tensor) {
    if (!is_floating_point(tensor.dtype()) && !is_complex(tensor.dtype())) return;
    const NoGradGuard no_grad;
    tensor = widened(tensor);
    const Tensor all =
        make_view(tensor, {static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.itemsize())}, {1}, 0);
    // Up, up, down, and so on: neighbours and pairs differ in different ways.
    const Tensor signs = (remainder(arange(0, all.numel(), kDouble), 3) < 1.5).to(kDouble) * 2 - 1;
    all.copy_(all * (signs * part + 1).to(all.dtype()));
  });
  ConformCall call = op_.call(std::move(arguments), DeviceType::CPU);
  return call.error.empty() ? call : ConformCall();
}

std::string ConformJudge::float_difference(const std::vector<Value>& values, const TensorBase& got, Expected expected,
                                           const Find& find) const {
  const std::string problem = value_difference(got, expected);
  if (problem.empty()) return problem;
  if (expected.is_pointwise) {
    expected.error_elsewhere = error_elsewhere(values);
  } else {
    for (const int units : {1, -1, 2, -3}) {
      const TensorBase nearby = find(call_nearby(values, units));
      if (nearby.defined() && nearby.sizes() == got.sizes()) expected.nearby.push_back(nearby);
    }
  }
  return value_difference(got, expected);
}

std::string ConformJudge::result_difference(const std::vector<Value>& values, const ConformCall& there,
                                            const ConformCall& cpu, const ConformCall& exact) const {
  const std::vector<TensorBase> got = tensors_of(there.results), expected = tensors_of(cpu.results);
  if (got.size() != expected.size()) {
    return fmt::format("{} tensors are returned, but the CPU returns {}", got.size(), expected.size());
  }
  const std::vector<TensorBase> unrounded = tensors_of(exact.results);
  const std::vector<TensorBase> given = tensors_of(there.arguments), given_cpu = tensors_of(cpu.arguments);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string name = got.size() == 1 ? "the result" : fmt::format("result {}", i);
    const TensorBase &a = got[i], &b = expected[i];
    const bool is_there = a.device().type() == device() || a.device() == b.device();
    if (a.sizes() != b.sizes() || a.dtype() != b.dtype() || !same_strides(a, b) || !is_there) {
      return fmt::format("{} is {}, not as the CPU's {}", name, geometry_of(a), geometry_of(b));
    }
    if (kinship_of(a, given) != kinship_of(b, given_cpu)) {
      return name + " shares memory with other arguments than the CPU's";
    }
    // What shares memory with an argument is compared with it.
    if (!op_.has_values() || kinship_of(a, given).shares_with >= 0 || !kCastTypes.contains(a.dtype())) continue;
    Expected held{.cpu = b, .exact = {}, .is_pointwise = op_.is_pointwise(), .is_basic = op_.is_basic()};
    if (unrounded.size() == got.size() && unrounded[i].sizes() == b.sizes()) held.exact = unrounded[i];
    const std::string problem = float_difference(values, on_cpu(a), held, [&](const ConformCall& call) {
      const std::vector<TensorBase> results = tensors_of(call.results);
      return i < results.size() ? results[i] : TensorBase();
    });
    if (!problem.empty()) return name + ": " + problem;
  }
  for (std::size_t i = 0; i < cpu.results.size() && op_.has_values(); ++i) {
    const IValue &a = there.results[i], &b = cpu.results[i];
    if (b.tag() != a.tag()) return fmt::format("result {} is {}, not {}", i, to_string(a.tag()), to_string(b.tag()));
    if ((b.is(ValueTag::Int) || b.is(ValueTag::Bool) || b.is(ValueTag::Double)) && to_string(a) != to_string(b)) {
      return fmt::format("result {} is {}, not {}", i, to_string(a), to_string(b));
    }
  }
  return {};
}

// Of a tensor that is written: its elements, and those beside them in its storage, which stay as they were.
std::string ConformJudge::written_difference(const std::vector<Value>& values, const TensorBase& got,
                                             const Expected& expected, const Find& find) const {
  const NoGradGuard no_grad;
  const TensorBase cpu = whole_storage(expected.cpu);
  if (overlaps_itself(got.sizes(), got.strides())) return same_bits(whole_storage(got), cpu) ? "" : "it was changed";
  const std::string problem = float_difference(values, on_cpu(got), expected, find);
  if (!problem.empty()) return problem;
  const TensorBase there = Tensor(whole_storage(got)).clone();
  const TensorBase elements = make_view(there, got.sizes(), got.strides(), got.storage_offset());
  Tensor(elements).copy_(Tensor(expected.cpu).detach());
  return same_bits(there, cpu) ? "" : "memory beside it was changed";
}

std::string ConformJudge::argument_difference(const std::vector<Value>& values, const ConformCall& there,
                                              const ConformCall& cpu, const ConformCall& exact) const {
  const std::vector<TensorBase> all = tensors_of(cpu.arguments), unrounded = tensors_of(exact.arguments);
  std::size_t tensor = 0;
  for (std::size_t i = 0; i < cpu.arguments.size(); ++i) {
    const std::vector<TensorBase> got = tensors_of({there.arguments[i]}), expected = tensors_of({cpu.arguments[i]});
    for (std::size_t k = 0; k < got.size(); ++k, ++tensor) {
      const TensorBase &a = got[k], &b = expected[k];
      const std::string& name = op_.argument_name(i);
      if (op_.is_out(i) && !cpu.error.empty()) continue;  // it may have grown before the error
      if (a.sizes() != b.sizes() || !same_strides(a, b) || a.storage_offset() != b.storage_offset()) {
        return fmt::format("{} has become {}, but the CPU's {}", name, geometry_of(a), geometry_of(b));
      }
      const std::uint32_t changes = version_of(a) - there.versions[tensor],
                          of_cpu = version_of(b) - cpu.versions[tensor];
      if (changes != of_cpu) {
        return fmt::format("the version of {} grew by {}, but the CPU's by {}", name, changes, of_cpu);
      }
      if (a.device().type() != device() || !op_.has_values()) continue;
      if (a.storage().nbytes() != b.storage().nbytes()) {
        return fmt::format("the storage of {} has {} bytes, but the CPU's {}", name, a.storage().nbytes(),
                           b.storage().nbytes());
      }
      std::string problem;
      if (op_.is_written(i)) {
        Expected held{.cpu = b,
                      .exact = {},
                      .is_pointwise = op_.is_pointwise(),
                      .is_basic = op_.is_basic(),
                      .computed_in = narrowest_float(all),
                      .greatest_term = sum_of_integers(all)};
        if (tensor < unrounded.size() && unrounded[tensor].sizes() == b.sizes()) held.exact = unrounded[tensor];
        problem = written_difference(values, a, held, [&](const ConformCall& call) {
          const std::vector<TensorBase> arguments = tensors_of(call.arguments);
          return tensor < arguments.size() ? arguments[tensor] : TensorBase();
        });
      } else if (!is_written_elsewhere(a, there) && !same_bits(whole_storage(a), whole_storage(b))) {
        problem = "it was changed, or memory beside it";
      }
      if (!problem.empty()) return fmt::format("after the call, {}: {}", name, problem);
    }
  }
  return {};
}

// Whether an argument that is written shares its memory.
bool ConformJudge::is_written_elsewhere(const TensorBase& tensor, const ConformCall& call) const {
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (!op_.is_written(i)) continue;
    for (const TensorBase& written : tensors_of({call.arguments[i]})) {
      if (written.is_alias_of(tensor)) return true;
    }
  }
  return false;
}

std::string ConformJudge::repeat_difference(const std::vector<Value>& values, const ConformCall& there) const {
  if (!op_.has_values()) return {};
  const ConformCall again = op_.call(values, device());
  if (!again.error.empty()) return "the second time it is refused: " + again.error;
  const std::string problem = bits_difference(op_, again, there);
  return problem.empty() ? "" : "the second time, " + problem;
}

std::string ConformJudge::gradient_difference(const std::vector<Value>& values, const ConformCall& there,
                                              const ConformCall& cpu, const ConformCall& exact) const {
  std::vector<Tensor> a, b, unrounded;
  try {
    b = gradients_of(cpu);
    unrounded = gradients_of(exact);
  } catch (const Error&) {
    return {};
  }
  try {
    a = gradients_of(there);
  } catch (const Error& error) {
    return std::string("backward fails: ") + error.what();
  }
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].defined() != b[i].defined()) return fmt::format("gradient {} is there on one side only", i);
    if (!a[i].defined()) continue;
    if (a[i].sizes() != b[i].sizes() || a[i].dtype() != b[i].dtype()) {
      return fmt::format("gradient {} is {}, not as the CPU's {}", i, describe(a[i]), describe(b[i]));
    }
    Expected held{.cpu = b[i], .exact = {}};
    if (unrounded.size() == b.size() && unrounded[i].defined() && unrounded[i].sizes() == b[i].sizes()) {
      held.exact = unrounded[i];
    }
    const std::string problem = float_difference(values, on_cpu(a[i]), held, [&](const ConformCall& call) {
      const std::vector<Tensor> gradients = gradients_of(call);
      return i < gradients.size() ? TensorBase(gradients[i]) : TensorBase();
    });
    if (!problem.empty()) return fmt::format("gradient {}: {}", i, problem);
  }
  return {};
}

}  // namespace keyway::inline v1::tools
