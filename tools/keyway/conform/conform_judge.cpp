#include <keyway/core/base/error.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conform_judge.h>
#include <keyway/tools/keyway/conform/defined_results.h>
#include <keyway/tools/keyway/conform/spread_elements.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

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

// Of integers, which are added up as floats here: how exact a sum of these is depends on all of them.
double sum_of_integers(const std::vector<TensorBase>& tensors) {
  double sum = 0;
  for (const TensorBase& tensor : tensors) {
    if (is_integral(tensor.dtype(), false)) sum += Tensor(tensor).to(kDouble).abs().sum().item<double>();
  }
  return sum;
}

}  // namespace

Outcome ConformJudge::judge(const std::vector<Value>& values) const {
  if (!can_be_made(values)) return {Verdict::NotServed, "tensors that cannot be copied"};
  if (writes_shared_list(op_, values)) return {Verdict::NotServed, "a list that is written, and memory that is shared"};
  if (has_default_of_device(op_, values)) return {Verdict::NotServed, "a default that each device has its own of"};
  const Outcome outcome = compare(values);
  return outcome.verdict == Verdict::Returned ? compare(with_spread_elements(values)) : outcome;
}

Outcome ConformJudge::compare(const std::vector<Value>& values) const {
  const ConformCall cpu = reference_->call(op_.arguments(values, DeviceType::CPU));
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
  const ConformCall exact = returned ? neighbours_.exact(values) : ConformCall();
  std::string problem = returned ? result_difference(values, there, cpu, exact) : "";
  if (problem.empty()) problem = argument_difference(values, there, cpu, exact);
  if (problem.empty() && returned) problem = repeat_difference(values, there);
  if (problem.empty() && returned) problem = gradient_difference(values, there, cpu, exact);
  if (!problem.empty()) return {Verdict::Differs, problem};
  return {returned ? Verdict::Returned : Verdict::Refused, there.error};
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
    if (has_choice(op_, values)) continue;
    Expected held{.cpu = b, .exact = {}, .is_pointwise = op_.is_pointwise(), .is_basic = op_.is_basic()};
    if (unrounded.size() == got.size() && unrounded[i].sizes() == b.sizes()) held.exact = unrounded[i];
    const std::string problem = neighbours_.float_difference(values, on_cpu(a), held, [&](const ConformCall& call) {
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
  return has_choice(op_, values) ? defined_difference(values, there, cpu, exact) : "";
}

// Of results that their definition leaves a choice.
std::string ConformJudge::defined_difference(const std::vector<Value>& values, const ConformCall& there,
                                             const ConformCall& cpu, const ConformCall& exact) const {
  const std::vector<TensorBase> got = defined_parts(op_, there), expected = defined_parts(op_, cpu);
  const std::vector<TensorBase> unrounded = defined_parts(op_, exact);
  for (std::size_t i = 0; i < got.size() && i < expected.size(); ++i) {
    Expected held{.cpu = expected[i], .exact = {}, .computed_in = narrowest_float(tensors_of(cpu.results))};
    if (unrounded.size() == expected.size() && unrounded[i].sizes() == expected[i].sizes()) held.exact = unrounded[i];
    const std::string problem = neighbours_.float_difference(values, got[i], held, [&](const ConformCall& call) {
      const std::vector<TensorBase> parts = defined_parts(op_, call);
      return i < parts.size() ? parts[i] : TensorBase();
    });
    if (!problem.empty()) return fmt::format("part {} of what the results have to be: {}", i, problem);
  }
  return {};
}

// Of a tensor that is written: its elements, and those beside them in its storage, which stay as they were.
std::string ConformJudge::written_difference(const std::vector<Value>& values, const TensorBase& got,
                                             const Expected& expected, const NeighbourCalls::Find& find) const {
  const NoGradGuard no_grad;
  const TensorBase cpu = whole_storage(expected.cpu);
  if (overlaps_itself(got.sizes(), got.strides())) return same_bits(whole_storage(got), cpu) ? "" : "it was changed";
  const std::string problem = neighbours_.float_difference(values, on_cpu(got), expected, find);
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
      if (op_.is_written(i) && has_choice(op_, values)) continue;
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
      } else if (!op_.is_written_elsewhere(a, there) && !same_bits(whole_storage(a), whole_storage(b))) {
        problem = "it was changed, or memory beside it";
      }
      if (!problem.empty()) return fmt::format("after the call, {}: {}", name, problem);
    }
  }
  return {};
}

std::string ConformJudge::repeat_difference(const std::vector<Value>& values, const ConformCall& there) const {
  if (!op_.has_values()) return {};
  const ConformCall again = op_.call(values, device());
  if (!again.is_served) return {};  // beside the results of the first there is too little memory
  if (!again.error.empty()) return "the second time it is refused: " + again.error;
  const std::string problem = bits_difference(op_, again, there);
  return problem.empty() ? "" : "the second time, " + problem;
}

std::string ConformJudge::gradient_difference(const std::vector<Value>& values, const ConformCall& there,
                                              const ConformCall& cpu, const ConformCall& exact) const {
  std::vector<Tensor> a, b, unrounded;
  if (has_choice(op_, values) || has_lost_gradients(op_, values)) return {};
  try {
    b = reference_->gradients(cpu);
    unrounded = reference_->gradients(exact);
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
    const std::string problem = neighbours_.float_difference(values, on_cpu(a[i]), held, [&](const ConformCall& call) {
      const std::vector<Tensor> gradients = reference_->gradients(call);
      return i < gradients.size() ? TensorBase(gradients[i]) : TensorBase();
    });
    if (!problem.empty()) return fmt::format("gradient {}: {}", i, problem);
  }
  return {};
}

}  // namespace keyway::inline v1::tools
