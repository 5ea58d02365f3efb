#include <keyway/core/device/device_guard.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conform_judge.h>
#include <keyway/tools/keyway/conform/tolerance.h>
#include <keyway/tools/keyway/fuzz/results.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

constexpr std::uint64_t kSeed = 7;  // of random operators, for every call

TensorBase on_cpu(const TensorBase& tensor) {
  const NoGradGuard no_grad;
  return tensor.is_cpu() ? tensor : TensorBase(Tensor(tensor).detach().to(kCPU));
}

std::uint32_t version_of(const TensorBase& tensor) { return tensor.is_inference() ? 0 : tensor._version(); }

// Whether the tensors can be copied to a device: those of a few elements to the byte cannot, nor those on Meta.
bool can_be_made(const std::vector<Value>& values) {
  for (const Value& value : values) {
    for (const TensorRecipe& recipe : value.tensors) {
      const bool is_on_meta = recipe.device == DeviceType::Meta;
      if (recipe.defined && (is_on_meta || !kCastTypes.contains(recipe.dtype))) return false;
    }
  }
  return true;
}

// All elements of the storage, as a tensor of the CPU.
TensorBase whole_storage(const TensorBase& tensor) {
  const std::int64_t count[] = {static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.itemsize())};
  const std::int64_t stride[] = {1};
  return on_cpu(make_view(tensor, count, stride, 0));
}

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

// Numbers that all differ, in the range of those of the recipe.
void spread(TensorRecipe& recipe) {
  if (!recipe.defined || recipe.elements.size() < 2 || !is_floating_point(recipe.dtype)) return;
  double low = INFINITY, high = -INFINITY;
  for (const Scalar& element : recipe.elements) {
    if (element.is_complex() || !std::isfinite(element.to<double>())) return;
    low = std::min(low, element.to<double>());
    high = std::max(high, element.to<double>());
  }
  constexpr int kCount = 61;  // no size of the plan is a multiple
  recipe.elements.clear();
  for (int i = 0; i < kCount; ++i) {
    const double part = static_cast<double>(i * 23 % kCount) / kCount;
    recipe.elements.emplace_back(low + (high - low) * part);
  }
}
std::vector<Value> with_spread_elements(std::vector<Value> values) {
  for (Value& value : values) std::for_each(value.tensors.begin(), value.tensors.end(), spread);
  return values;
}

// A tensor of higher precision for a float or complex one.
TensorBase widened(const TensorBase& tensor) {
  const NoGradGuard no_grad;
  const Tensor values = Tensor(tensor).detach();
  if (is_complex(values.dtype())) return values.to(kComplexDouble);
  return is_floating_point(values.dtype()) ? values.to(kDouble) : values;
}

}  // namespace

ConformJudge::ConformJudge(const OperatorHandle& op, DeviceType device)
    : Judge(device), op_(op), arguments_(argument_names(op)) {
  for (const Argument argument : op.schema().arguments()) {
    written_.push_back(argument.is_write());
    out_.push_back(argument.is_out());
    SchemaType type = argument.type();
    if (type.is(TypeKind::Optional)) type = type.element();
    names_device_.push_back(type.is(TypeKind::Device));
  }
  has_values_ = !op.entry().has_tag("nondeterministic");
  is_pointwise_ = op.entry().has_tag("pointwise");
}

Outcome ConformJudge::judge(const std::vector<Value>& values) const {
  if (!can_be_made(values)) return {Verdict::NotServed, "tensors that cannot be copied"};
  try {
    const Outcome outcome = compare(values);
    return outcome.verdict == Verdict::Returned ? compare(with_spread_elements(values)) : outcome;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::OutOfMemory) return {Verdict::NotServed, error.what()};
    throw;
  }
}

ConformJudge::Call ConformJudge::call_on(const std::vector<Value>& values, DeviceType device) const {
  Call call;
  call.arguments = make_stack(values, device);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (names_device_[i]) call.arguments[i] = IValue(Device(device));
    // A call draws from a generator of its own, which begins anew.
    if (call.arguments[i].is(ValueTag::Generator)) {
      Generator own(device);
      own.manual_seed(kSeed);
      call.arguments[i] = IValue(own);
    }
  }
  for (const TensorBase& tensor : tensors_of(call.arguments)) call.versions.push_back(version_of(tensor));
  call.results = call.arguments;
  manual_seed(kSeed);
  const Device current = current_device(device);
  try {
    op_.call_boxed(call.results);
    if (device != DeviceType::CPU) synchronize(Device(device));
    call.leaves_device = current_device(device) == current;
  } catch (const Error& error) {
    call.error = error.what();
    call.is_served = error.kind() != ErrorKind::NotImplemented && error.kind() != ErrorKind::OutOfMemory;
  }
  return call;
}

Outcome ConformJudge::compare(const std::vector<Value>& values) const {
  const Call cpu = call_on(values, DeviceType::CPU);
  const Call there = call_on(values, device());
  if (!there.is_served || !cpu.is_served) return {Verdict::NotServed, there.is_served ? cpu.error : there.error};
  if (cpu.error.empty() && !there.error.empty()) return {Verdict::Differs, "refused: " + there.error};
  if (!cpu.error.empty() && there.error.empty()) {
    // What is refused for the sake of a value, a device need not look at.
    if (call_on(values, DeviceType::Meta).error.empty()) return {Verdict::Refused, cpu.error};
    return {Verdict::Differs, "served, but the CPU refuses: " + cpu.error};
  }
  if (!there.leaves_device) return {Verdict::Differs, "another device is current after the call"};
  std::string problem = there.error.empty() ? result_difference(there, cpu) : "";
  if (problem.empty()) problem = argument_difference(there, cpu);
  if (problem.empty() && there.error.empty()) problem = repeat_difference(values, there);
  if (problem.empty() && there.error.empty()) problem = gradient_difference(there, cpu);
  if (!problem.empty()) return {Verdict::Differs, problem};
  return {there.error.empty() ? Verdict::Returned : Verdict::Refused, there.error};
}

// The CPU's results for arguments of higher precision; empty where it has none. Of operators that write, there are
// none: their functional overloads have the same kernels.
Stack ConformJudge::exact_results(const Stack& arguments, const Stack& results) const {
  if (op_.schema().is_mutable()) return {};
  Stack exact = arguments;
  update_tensors(exact, [](TensorBase& tensor) { tensor = widened(tensor); });
  try {
    manual_seed(kSeed);
    op_.call_boxed(exact);
  } catch (const Error&) {
    return {};
  }
  return exact.size() == results.size() ? exact : Stack();
}

std::string ConformJudge::result_difference(const Call& there, const Call& cpu) const {
  const std::vector<TensorBase> got = tensors_of(there.results), expected = tensors_of(cpu.results);
  if (got.size() != expected.size()) {
    return fmt::format("{} tensors are returned, but the CPU returns {}", got.size(), expected.size());
  }
  const std::vector<TensorBase> exact = tensors_of(exact_results(cpu.arguments, cpu.results));
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
    if (!has_values_ || kinship_of(a, given).shares_with >= 0 || !kCastTypes.contains(a.dtype())) continue;
    Expected held{b, {}, is_pointwise_};
    if (exact.size() == got.size() && exact[i].sizes() == b.sizes()) held.exact = exact[i];
    const std::string problem = value_difference(on_cpu(a), held);
    if (!problem.empty()) return name + ": " + problem;
  }
  for (std::size_t i = 0; i < cpu.results.size() && has_values_; ++i) {
    const IValue &a = there.results[i], &b = cpu.results[i];
    if (b.tag() != a.tag()) return fmt::format("result {} is {}, not {}", i, to_string(a.tag()), to_string(b.tag()));
    if ((b.is(ValueTag::Int) || b.is(ValueTag::Bool) || b.is(ValueTag::Double)) && to_string(a) != to_string(b)) {
      return fmt::format("result {} is {}, not {}", i, to_string(a), to_string(b));
    }
  }
  return {};
}

std::string ConformJudge::argument_difference(const Call& there, const Call& cpu) const {
  std::size_t tensor = 0;
  for (std::size_t i = 0; i < cpu.arguments.size(); ++i) {
    const std::vector<TensorBase> got = tensors_of({there.arguments[i]}), expected = tensors_of({cpu.arguments[i]});
    for (std::size_t k = 0; k < got.size(); ++k, ++tensor) {
      const TensorBase &a = got[k], &b = expected[k];
      if (out_[i] && !cpu.error.empty()) continue;  // it may have grown before the error
      if (a.sizes() != b.sizes() || !same_strides(a, b) || a.storage_offset() != b.storage_offset()) {
        return fmt::format("{} has become {}, but the CPU's {}", arguments_[i], geometry_of(a), geometry_of(b));
      }
      const std::uint32_t changes = version_of(a) - there.versions[tensor],
                          of_cpu = version_of(b) - cpu.versions[tensor];
      if (changes != of_cpu) {
        return fmt::format("the version of {} grew by {}, but the CPU's by {}", arguments_[i], changes, of_cpu);
      }
      if (a.device().type() != device() || !has_values_) continue;
      const TensorBase x = whole_storage(a), y = whole_storage(b);
      if (x.sizes() != y.sizes()) {
        return fmt::format("the storage of {} has {} elements, but the CPU's {}", arguments_[i], x.numel(), y.numel());
      }
      const std::string problem = written_[i] ? value_difference(x, {y, {}, false})
                                              : (same_bits(x, y) ? "" : "it was changed, or memory beside it");
      if (!problem.empty()) return fmt::format("after the call, {}: {}", arguments_[i], problem);
    }
  }
  return {};
}

std::string ConformJudge::repeat_difference(const std::vector<Value>& values, const Call& there) const {
  if (!has_values_) return {};
  const Call again = call_on(values, device());
  if (!again.error.empty()) return "the second time it is refused: " + again.error;
  const std::vector<TensorBase> a = tensors_of(there.results), b = tensors_of(again.results);
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!kCastTypes.contains(a[i].dtype()) || a[i].nbytes() > a[i].storage().nbytes()) continue;
    if (!same_bits(on_cpu(a[i]), on_cpu(b[i]))) return fmt::format("result {} has other bits the second time", i);
  }
  return {};
}

std::string ConformJudge::gradient_difference(const Call& there, const Call& cpu) const {
  const auto gradients_of = [](const Call& call) {
    std::vector<Tensor> gradients;
    std::vector<Tensor> roots;
    for (const TensorBase& result : tensors_of(call.results)) {
      if (result.requires_grad() && !result.is_leaf()) roots.emplace_back(result);
    }
    if (roots.empty()) return gradients;
    Tensor total;
    for (const Tensor& root : roots) {
      const Tensor real = is_complex(root.dtype()) ? view_as_real(root) : root;
      const Tensor sum = real.to(kFloat).sum();
      total = total.defined() ? total + sum : sum;
    }
    total.backward();
    for (const TensorBase& argument : tensors_of(call.arguments)) {
      if (argument.requires_grad() && argument.is_leaf()) gradients.push_back(Tensor(argument).grad());
    }
    return gradients;
  };
  std::vector<Tensor> a, b;
  try {
    b = gradients_of(cpu);
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
    const std::string problem = value_difference(on_cpu(a[i]), {b[i], {}, false});
    if (!problem.empty()) return fmt::format("gradient {}: {}", i, problem);
  }
  return {};
}

}  // namespace keyway::inline v1::tools
