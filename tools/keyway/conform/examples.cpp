#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conform_call.h>
#include <keyway/tools/keyway/conform/examples.h>
#include <keyway/tools/keyway/fuzz/batch.h>
#include <keyway/tools/keyway/fuzz/functional_form.h>
#include <keyway/tools/keyway/fuzz/results.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>
#include <keyway/tools/op_examples/arguments.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <sstream>

namespace keyway::inline v1::tools {

namespace {

using Values = std::vector<Value>;

// Small calls: all tensors of one shape, the later ones of floats or of indices.
std::vector<Values> small_calls(const OperatorHandle& op) {
  static const std::vector<std::vector<std::int64_t>> kShapes = {{2, 3}, {3, 3}, {3}, {2, 3, 4}, {1, 2, 4, 4}, {}};
  std::vector<Values> calls;
  for (const bool has_indices : {false, true}) {
    for (const std::vector<std::int64_t>& shape : kShapes) {
      Values values = seed_call(op);
      std::size_t number = 0;
      for (Value& value : values) {
        for (TensorRecipe& recipe : value.tensors) {
          const bool is_index = has_indices && number++ > 0;
          recipe.sizes = shape;
          recipe.dtype = is_index ? ScalarType::Long : ScalarType::Float;
          recipe.elements = is_index ? std::vector<Scalar>{0, 1, 1} : std::vector<Scalar>{0.5, -1.25, 2.0, 1.5, -0.75};
        }
      }
      calls.push_back(std::move(values));
    }
  }
  return calls;
}

class ServedJudge final : public Judge {
 public:
  ServedJudge(const OperatorHandle& op, DeviceType device) : Judge(device), op_(op) {}
  Outcome judge(const Values& values) const override {
    const ConformCall call = op_.call(values, device());
    if (call.error.empty()) return {};
    return {call.is_served ? Verdict::Refused : Verdict::NotServed, call.error};
  }

 private:
  ConformOperator op_;
};

// The first small call that is served, or the first of all.
Values served_call(const OperatorHandle& op, DeviceType device) {
  const std::vector<Values> calls = small_calls(op);
  const ServedJudge judge(op, device);
  for (std::size_t first = 0; first < calls.size();) {
    const BatchResult batch = run_batch([&](std::size_t i) { return calls[i]; }, judge, first, calls.size());
    const auto served = std::find(batch.verdicts.begin(), batch.verdicts.end(), Verdict::Returned);
    if (served != batch.verdicts.end()) return calls[first + static_cast<std::size_t>(served - batch.verdicts.begin())];
    first = batch.next;
  }
  return calls[0];
}

// How a result is not what the example says; empty if it is.
std::string difference(const TensorBase& got, const Literal& expected) {
  const NoGradGuard no_grad;
  const Tensor a = Tensor(on_cpu(got)).detach(), b = tensor_of(expected);
  if (a.sizes() != b.sizes()) return fmt::format("is {}, not {}", describe(a), describe(b));
  const Tensor x = a.to(kDouble).contiguous(), y = b.to(kDouble).contiguous();
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double p = x.const_data_ptr<double>()[i], q = y.const_data_ptr<double>()[i];
    const bool same = p == q || (std::isnan(p) && std::isnan(q)) || std::abs(p - q) <= 1e-4 * (1 + std::abs(q));
    if (!same) return fmt::format("is {:.6g} at element {}, not {:.6g}", p, i, q);
  }
  return {};
}

class ExampleJudge final : public Judge {
 public:
  ExampleJudge(const OperatorHandle& op, DeviceType device, ExampleText example)
      : Judge(device), op_(op), example_(std::move(example)) {}

  Outcome judge(const Values& values) const override {
    const ConformCall call = op_.call(values, device());
    if (!call.is_served) return {Verdict::NotServed, call.error};
    if (!call.error.empty()) return {Verdict::Refused, call.error};
    const bool is_list = call.results.size() == 1 && call.results[0].is(ValueTag::TensorList);
    const bool has_several = example_.value.kind == Literal::Kind::Tuple || is_list;
    const std::vector<Literal> expected = has_several ? example_.value.items : std::vector<Literal>{example_.value};
    const std::vector<TensorBase> got = tensors_of(call.results);
    for (std::size_t i = 0; i < got.size() && i < expected.size(); ++i) {
      if (expected[i].kind == Literal::Kind::None) continue;
      const std::string problem = difference(got[i], expected[i]);
      if (!problem.empty()) return {Verdict::Differs, fmt::format("result {} of its example {}", i, problem)};
    }
    return {};
  }

 private:
  ConformOperator op_;
  ExampleText example_;
};

}  // namespace

Examples::Examples(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::size_t open = line.find('(', begin), end = line.find_last_not_of(" \t", open - 1);
    KEYWAY_CHECK_AS(Parse, open != std::string::npos && open > begin,
                    "line {} of the examples is '{}', but must be 'operator (arguments)'", number, line);
    const std::string name = line.substr(begin, end + 1 - begin);
    const std::optional<OperatorHandle> op = Dispatcher::singleton().find_op(name);
    KEYWAY_CHECK_AS(Parse, op, "line {} of the examples is about {}, which there is not", number, name);
    lines_[op->name()] = line.substr(open);
  }
}

std::string Examples::text_of(const OperatorHandle& op) const {
  if (const auto own = lines_.find(op.name()); own != lines_.end()) return own->second;
  const std::optional<OperatorHandle> functional = functional_form(op);
  const auto other = functional ? lines_.find(functional->name()) : lines_.end();
  return other != lines_.end() ? other->second : std::string(op.entry().info().example);
}

std::vector<Value> Examples::call_of(const OperatorHandle& op, DeviceType device) const {
  const std::string text = text_of(op);
  if (text.empty()) return served_call(op, device);
  if (text == op.entry().info().example) return seed_call(op);
  try {
    return values_of_example(op, text);
  } catch (const std::exception& error) {
    KEYWAY_FAIL(Parse, "the example '{}' of {}: {}", text, op.name(), error.what());
  }
}

std::unique_ptr<Judge> make_example_judge(const OperatorHandle& op, DeviceType device, const std::string& example) {
  if (example.empty() || op.schema().is_out() || op.schema().is_inplace()) return nullptr;
  try {
    ExampleText parsed = parse_example(example);
    if (!parsed.has_value || !parsed.method.empty()) return nullptr;
    return std::make_unique<ExampleJudge>(op, device, std::move(parsed));
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace keyway::inline v1::tools
