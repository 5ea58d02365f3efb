#include <keyway/core/base/error.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/tools/keyway/conform/functional_reference.h>
#include <keyway/tools/keyway/conform/moderate_numbers.h>
#include <keyway/tools/keyway/conform/neighbour_calls.h>
#include <keyway/tools/keyway/conform/operator_judges.h>
#include <keyway/tools/keyway/conform/spread_elements.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

constexpr std::int64_t kMostElements = 48;  // of all arguments together: each is moved four times

// What differences say of a derivative; nothing where they show a corner or a step, or are lost in rounding.
template <typename F>
std::optional<double> difference_quotient(double& x, F&& function) {
  const double at = x, step = 1e-4 * std::max(1.0, std::abs(at));
  const auto moved = [&](double by) {
    x = at + by;
    const double value = function();
    x = at;
    return value;
  };
  const double middle = function();
  const double up = (moved(step) - middle) / step, down = (middle - moved(-step)) / step;
  const double wide = (up + down) / 2;
  const double narrow = (moved(step / 2) - moved(-step / 2)) / step;
  const double noise = 1e-14 * std::abs(middle) / step;
  const double size = std::max({std::abs(up), std::abs(down), 1e-3});
  const bool is_smooth = std::isfinite(wide) && std::isfinite(narrow) && std::abs(up - down) <= 0.05 * size &&
                         std::abs(wide - narrow) <= 1e-4 * size && noise <= 1e-5 * size;
  if (!is_smooth) return std::nullopt;
  return (4 * narrow - wide) / 3;
}

// The same numbers moved a little, each by another part, so that no two of them are equal and none is zero: where
// elements are equal, the greatest of them has no derivative.
Tensor apart(const Tensor& tensor) {
  const Tensor parts = (remainder(arange(0, tensor.numel(), kDouble) * 23, 61) + 1) / 400;
  return tensor + (tensor.abs() + 0.25) * parts.view(tensor.sizes());
}

bool has_finite_elements(const TensorBase& tensor) {
  return !tensor.is_floating_point() || Tensor(tensor).detach().isfinite().all().item<bool>();
}

class DerivativeJudge final : public Judge {
 public:
  DerivativeJudge(const OperatorHandle& op, DeviceType device)
      : Judge(device), op_(op), draws_(op.entry().has_tag("nondeterministic_seeded")) {}

  Outcome judge(const std::vector<Value>& values) const override {
    if (!op_.has_values() || draws_ || !can_be_made(values) || shares_memory(values)) {
      return {Verdict::NotServed, "results without values, or memory that is shared"};
    }
    if (!is_moderate(values, 16)) return {Verdict::NotServed, "great or tiny numbers"};
    const Stack arguments = prepared(with_spread_elements(values));
    std::int64_t elements = 0;
    bool are_finite = true;
    for (const TensorBase& tensor : tensors_of(arguments)) {
      elements += tensor.numel();
      are_finite = are_finite && has_finite_elements(tensor);
    }
    if (elements > kMostElements || !are_finite) return {Verdict::NotServed, "many elements, or some are not finite"};
    return compare(arguments);
  }

 private:
  // Contiguous ones in float64, each of which requires a gradient if it is not written to.
  Stack prepared(const std::vector<Value>& values) const {
    Stack arguments = op_.arguments(values, DeviceType::CPU);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      update_tensors({&arguments[i], 1}, [&](TensorBase& tensor) {
        const NoGradGuard no_grad;
        Tensor wide = Tensor(widened(tensor)).detach().clone(MemoryFormat::Contiguous);
        if (wide.is_floating_point()) wide = apart(wide);
        if (wide.is_floating_point() && !op_.is_written(i)) wide.requires_grad_();
        tensor = wide;
      });
    }
    return arguments;
  }

  // As often as it is called: what is written to is copied before.
  ConformCall made(const Stack& arguments) const {
    Stack copies = arguments;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (!op_.is_written(i)) continue;
      update_tensors({&copies[i], 1}, [](TensorBase& tensor) { tensor = Tensor(tensor).clone(); });
    }
    if (device() != DeviceType::CPU) {
      update_tensors(copies, [&](TensorBase& tensor) { tensor = Tensor(tensor).to(Device(device())); });
    }
    return op_.call(std::move(copies), device());
  }

  double value(const Stack& arguments) const {
    const NoGradGuard no_grad;
    const ConformCall call = made(arguments);
    const Tensor sum = call.error.empty() ? weighted_sum(produced(op_, call)) : Tensor();
    return sum.defined() ? sum.item().to<double>() : NAN;
  }

  Outcome compare(const Stack& arguments) const {
    const ConformCall call = made(arguments);
    if (!call.is_served) return {Verdict::NotServed, call.error};
    if (!call.error.empty()) return {Verdict::Refused, call.error};
    const std::vector<TensorBase> results = produced(op_, call);
    std::vector<TensorBase> recorded;
    for (const TensorBase& result : results) {
      if (result.requires_grad()) recorded.push_back(result);
    }
    const auto is_exact = [](const TensorBase& result) {
      // One without a graph would be part of the sum that is differentiated, too.
      return !result.is_floating_point() ||
             (result.requires_grad() && result.dtype() == kDouble && has_finite_elements(result));
    };
    if (recorded.empty() || !std::all_of(results.begin(), results.end(), is_exact)) {
      return {Verdict::NotServed, "no gradient is recorded, or not in float64"};
    }
    try {
      weighted_sum(recorded).backward();
    } catch (const Error& error) {
      const bool is_answer = error.kind() == ErrorKind::NotImplemented || error.kind() == ErrorKind::Autograd;
      if (is_answer) return {Verdict::NotServed, error.what()};
      return {Verdict::GradientFails, std::string("backward fails: ") + error.what()};
    }
    const std::string problem = gradient_problem(arguments);
    return problem.empty() ? Outcome() : Outcome{Verdict::GradientFails, problem};
  }

  std::string gradient_problem(const Stack& arguments) const {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      for (const TensorBase& tensor : tensors_of({arguments[i]})) {
        const Tensor gradient = tensor.requires_grad() ? Tensor(tensor).grad() : Tensor();
        if (!gradient.defined()) continue;
        if (gradient.sizes() != tensor.sizes()) {
          return fmt::format("the gradient of {} is {}", op_.argument_name(i), describe(gradient));
        }
        const std::string problem = element_problem(arguments, tensor, gradient);
        if (!problem.empty()) return fmt::format("the gradient of {} {}", op_.argument_name(i), problem);
      }
    }
    return {};
  }
  std::string element_problem(const Stack& arguments, const TensorBase& tensor, const Tensor& gradient) const {
    const Tensor found = Tensor(on_cpu(gradient)).detach().to(kDouble).contiguous();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      double& x = static_cast<double*>(tensor.data_ptr())[i];
      const std::optional<double> expected = difference_quotient(x, [&] { return value(arguments); });
      const double got = found.const_data_ptr<double>()[i];
      if (!expected || std::abs(got - *expected) <= 1e-4 * std::max(1.0, std::abs(*expected))) continue;
      return fmt::format("at element {} is {:.9g}, but differences give {:.9g}", i, got, *expected);
    }
    return {};
  }

  ConformOperator op_;
  bool draws_;
};

}  // namespace

std::unique_ptr<Judge> make_derivative_judge(const OperatorHandle& op, DeviceType device) {
  return std::make_unique<DerivativeJudge>(op, device);
}

}  // namespace keyway::inline v1::tools
