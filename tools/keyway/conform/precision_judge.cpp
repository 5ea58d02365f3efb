#include <keyway/core/base/error.h>
#include <keyway/tools/keyway/conform/functional_reference.h>
#include <keyway/tools/keyway/conform/moderate_numbers.h>
#include <keyway/tools/keyway/conform/neighbour_calls.h>
#include <keyway/tools/keyway/conform/operator_judges.h>
#include <keyway/tools/keyway/conform/spread_elements.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

// The same call with the greatest size of its tensors replaced by a larger one, so that sums have many terms.
std::vector<Value> with_long_dimension(std::vector<Value> values) {
  constexpr std::int64_t kLong = 259, kMostElements = 1 << 14;
  std::int64_t greatest = 1;
  for (const Value& value : values) {
    for (const TensorRecipe& recipe : value.tensors) {
      for (const std::int64_t size : recipe.sizes) greatest = std::max(greatest, size);
    }
  }
  for (Value& value : values) {
    for (TensorRecipe& recipe : value.tensors) {
      if (greatest == 1 || recipe.sharing != Sharing::None) return {};
      std::replace(recipe.sizes.begin(), recipe.sizes.end(), greatest, kLong);
      recipe.strides.clear();
      double elements = 1;
      for (const std::int64_t size : recipe.sizes) elements *= static_cast<double>(size);
      if (elements > kMostElements) return {};
    }
  }
  return values;
}

bool is_finite(const TensorBase& tensor) {
  return !is_floating_point(tensor.dtype()) || Tensor(tensor).to(kDouble).isfinite().all().item<bool>();
}

double greatest_of(const TensorBase& tensor) {
  if (!tensor.is_floating_point() || tensor.numel() == 0) return 0;
  return Tensor(tensor).detach().abs().max().to(kDouble).item<double>();
}

class PrecisionJudge final : public Judge {
 public:
  PrecisionJudge(const OperatorHandle& op, DeviceType device)
      : Judge(device),
        op_(op),
        reference_(op, device),
        neighbours_(op_, reference_),
        is_composite_(op_.is_composite(device)),
        draws_(op.entry().has_tag("nondeterministic_seeded")) {}
  PrecisionJudge(const PrecisionJudge&) = delete;
  PrecisionJudge& operator=(const PrecisionJudge&) = delete;

  Outcome judge(const std::vector<Value>& values) const override {
    if (!op_.has_values() || draws_ || !can_be_made(values)) return {Verdict::NotServed, "results without values"};
    for (const std::vector<Value>& each : {values, with_spread_elements(values)}) {
      const Outcome outcome = compare(each, false);
      if (outcome.verdict != Verdict::Returned) return outcome;
    }
    const std::vector<Value> longer = with_long_dimension(values);
    return longer.empty() ? Outcome() : compare(longer, true);
  }

 private:
  Outcome compare(const std::vector<Value>& values, bool is_long) const {
    const auto narrowest = narrowest_float(tensors_of(op_.arguments(values, DeviceType::CPU)));
    const bool is_half = narrowest && element_size(*narrowest) / (is_complex(*narrowest) ? 2 : 1) <= 2;
    if (!is_moderate(values, is_half && is_composite_ ? 16 : 1e4)) return {Verdict::NotServed, "great or tiny numbers"};
    const ConformCall exact = neighbours_.exact(values);
    if (exact.results.empty()) return {Verdict::NotServed, "no narrower float than float64, or none is served"};
    const ConformCall call = op_.call(values, device());
    if (!call.is_served) return {Verdict::NotServed, call.error};
    if (!call.error.empty()) return {Verdict::Refused, call.error};
    const std::vector<TensorBase> got = produced(op_, call);
    if (is_long && !std::all_of(got.begin(), got.end(), is_finite)) return {};
    std::string problem = difference(values, got, exact, is_long);
    if (!problem.empty()) return {Verdict::Differs, "beside the same call in float64, " + problem};
    problem = gradient_difference(values, call, exact);
    if (!problem.empty()) return {Verdict::GradientFails, "beside the same call in float64, " + problem};
    return {};
  }

  std::string difference(const std::vector<Value>& values, const std::vector<TensorBase>& got, const ConformCall& exact,
                         bool is_long) const {
    const std::vector<TensorBase> unrounded = produced(reference_.caller(), exact);
    for (std::size_t i = 0; i < got.size() && got.size() == unrounded.size(); ++i) {
      Expected held{.cpu = {}, .exact = unrounded[i], .is_pointwise = op_.is_pointwise(), .is_basic = false};
      // In one order after the other, float32 loses more than in several at once.
      if (is_long && got[i].dtype() == kFloat) held.greatest_term = 4 * greatest_of(unrounded[i]);
      const std::string problem = held_against(values, got[i], held, is_composite_, [&](const ConformCall& near) {
        const std::vector<TensorBase> results = produced(reference_.caller(), near);
        return i < results.size() ? results[i] : TensorBase();
      });
      if (!problem.empty())
        return got.size() == 1 ? "the result: " + problem : fmt::format("result {}: {}", i, problem);
    }
    return {};
  }

  // `find` is where the result is in a call with other arguments; `held.cpu` is what it should be, rounded.
  std::string held_against(const std::vector<Value>& values, const TensorBase& got, Expected held, bool is_composite,
                           const NeighbourCalls::Find& find) const {
    const auto is_float = [](ScalarType dtype) { return is_floating_point(dtype) || is_complex(dtype); };
    if (!is_float(got.dtype()) || !is_float(held.exact.dtype())) return {};
    if (got.sizes() != held.exact.sizes()) {
      return fmt::format("{} is made, not {}", describe(got), describe(held.exact));
    }
    held.cpu = Tensor(held.exact).detach().to(got.dtype());
    const std::string problem = value_difference(got, held);
    if (problem.empty()) return {};
    for (const int units : {1, -1, 2, -3}) {
      const TensorBase result = find(neighbours_.nearby(values, {units}, is_composite));
      if (result.defined() && result.sizes() == got.sizes()) held.nearby.push_back(result);
    }
    return value_difference(got, held);
  }

  // Formulas of gradients call other operators.
  std::string gradient_difference(const std::vector<Value>& values, const ConformCall& call,
                                  const ConformCall& exact) const {
    std::vector<Tensor> got, unrounded;
    try {
      unrounded = reference_.gradients(exact);
    } catch (const Error&) {
      return {};  // which the derivative judge sees
    }
    if (unrounded.empty() || !is_moderate(values, 16)) return {};
    try {
      got = gradients_of(call);
    } catch (const Error& error) {
      return std::string("backward fails: ") + error.what();
    }
    for (std::size_t i = 0; i < got.size() && i < unrounded.size(); ++i) {
      if (!got[i].defined() || !unrounded[i].defined()) continue;
      const auto find = [&](const ConformCall& near) -> TensorBase {
        try {
          const std::vector<Tensor> gradients = reference_.gradients(near);
          if (i < gradients.size()) return gradients[i];
        } catch (const Error&) {
        }
        return {};
      };
      // Those of a sum with weights around 1, which may cancel.
      const Expected held{.cpu = {}, .exact = on_cpu(unrounded[i]), .greatest_term = 1};
      const std::string problem = held_against(values, on_cpu(got[i]), held, true, find);
      if (!problem.empty()) return fmt::format("gradient {}: {}", i, problem);
    }
    return {};
  }

  ConformOperator op_;
  FunctionalReference reference_;
  NeighbourCalls neighbours_;
  bool is_composite_, draws_;
};

}  // namespace

std::unique_ptr<Judge> make_precision_judge(const OperatorHandle& op, DeviceType device) {
  return std::make_unique<PrecisionJudge>(op, device);
}

}  // namespace keyway::inline v1::tools
