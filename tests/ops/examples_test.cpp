// The generated suite, first part: every operator's example, on the CPU and, for its metadata, on Meta.
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/boxed_example.h>
#include <keyway/tests/ops/samples.h>
#include <keyway/tests/ops/tensor_arguments.h>
#include <keyway/tools/op_examples/arguments.h>

#include <optional>

using namespace keyway;

namespace {

// The error text of an example, empty if it holds.
std::string run(const OperatorHandle& op, const tools::ExampleText& example, Stack& results) {
  results = tools::make_arguments(op.entry(), example.call);
  op.call_boxed(results);
  if (!example.has_value) return {};
  if (!example.method.empty()) {
    const TensorBase result = results.at(0).to_tensor();
    const IntArrayRef asked = example.method == "strides" ? result.strides() : result.sizes();
    std::vector<std::int64_t> expected;
    for (const tools::Literal& item : example.value.items) expected.push_back(item.integer);
    return asked == IntArrayRef(expected) ? std::string() : example.method + " differ";
  }
  using Kind = tools::Literal::Kind;
  if (example.value.kind != Kind::Tuple) {
    return results.empty() ? "no result" : testing::difference(results[0], example.value);
  }
  if (results.size() == 1 && results[0].is(ValueTag::TensorList)) return testing::difference(results[0], example.value);
  if (results.size() != example.value.items.size()) return std::to_string(results.size()) + " results";
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (example.value.items[i].kind == Kind::None) continue;
    const std::string text = testing::difference(results[i], example.value.items[i]);
    if (!text.empty()) return "result " + std::to_string(i) + ": " + text;
  }
  return {};
}

// A call that writes its results into given tensors: those stand last.
bool is_out(const OperatorHandle& op) { return op.schema().is_out(); }

}  // namespace

TEST_CASE("every operator's example holds", "[kernels]") {
  std::size_t count = 0;
  for (const OperatorHandle& op : testing::operators_of_suite()) {
    const OpInfo& info = op.entry().info();
    if (info.example.empty() || is_out(op)) continue;
    INFO(op.name() << ": " << info.example);
    Stack results;
    std::string problem;
    try {
      problem = run(op, tools::parse_example(info.example), results);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    // Where the result has another dtype, the in-place overload rightly refuses the example.
    if (op.schema().is_inplace() && problem.find("cannot be stored in argument 'self'") != std::string::npos) continue;
    CHECK(problem == "");
    ++count;
  }
  CHECK(count >= testing::kOpCases.at_least(100));
}

TEST_CASE("further samples hold, and calls that must fail say why", "[kernels]") {
  std::size_t failing = 0;
  for (const testing::OpCases& entry : testing::kOpCases) {
    const OperatorHandle op = testing::operator_named(entry.op);
    for (const std::string& line : testing::lines_of(entry.samples)) {
      INFO(op.name() << ": " << line);
      Stack results;
      std::string problem;
      try {
        problem = run(op, tools::parse_example(line), results);
      } catch (const std::exception& error) {
        problem = error.what();
      }
      CHECK(problem == "");
    }
    for (const std::string& line : testing::lines_of(entry.failing)) {
      const std::size_t gap = line.find("  ");
      const std::string call = line.substr(0, gap), expected = line.substr(gap + 2);
      INFO(op.name() << ": " << call << " must fail with: " << expected);
      const testing::Outcome outcome =
          testing::call(entry.op, tools::make_arguments(op.entry(), tools::parse_example(call).call));
      INFO("it says: " << outcome.error);
      CHECK(outcome.is_ours);
      CHECK(outcome.error.find(expected) != std::string::npos);
      ++failing;
    }
  }
  CHECK(failing >= testing::kOpCases.at_least(80));
}

TEST_CASE("Meta gives the shape, dtype and strides that the CPU gives", "[kernels]") {
  for (const OperatorHandle& op : testing::operators_of_suite()) {
    const OpInfo& info = op.entry().info();
    // Sizes that depend on data, and numbers read from data, cannot be known without it.
    if (info.example.empty() || op.entry().has_tag("allocates") || op.entry().has_tag("scalar_result") ||
        op.entry().has_tag("data_dependent_shape") || is_out(op) || op.schema().is_inplace() ||
        info.example.find("requires_grad_") != std::string_view::npos) {
      continue;
    }
    INFO(op.name() << ": " << info.example);
    std::string problem;
    try {
      const tools::ExampleText example = tools::parse_example(info.example);
      Stack cpu = tools::make_arguments(op.entry(), example.call);
      op.call_boxed(cpu);
      Stack meta = testing::on_meta(op.schema(), tools::make_arguments(op.entry(), example.call, DeviceType::Meta));
      op.call_boxed(meta);
      for (std::size_t i = 0; i < cpu.size() && problem.empty(); ++i) {
        problem = testing::metadata_difference(meta.at(i), cpu[i]);
      }
    } catch (const std::exception& error) {
      problem = error.what();
    }
    CHECK(problem == "");
  }
}

namespace {

// The functional overload that an out= overload belongs to: the same name and the same arguments before the results.
std::optional<OperatorHandle> functional_of(const OperatorHandle& out) {
  const FunctionSchema& schema = out.schema();
  const std::size_t inputs = schema.arguments().size() - schema.out_count();
  for (const OperatorHandle& op : testing::operators_of_suite()) {
    const FunctionSchema& other = op.schema();
    if (other.name() != schema.name() || other.is_out() || other.arguments().size() != inputs) continue;
    bool same = true;
    for (std::size_t i = 0; i < inputs; ++i) {
      same = same && other.arguments()[i].name() == schema.arguments()[i].name() &&
             other.arguments()[i].type() == schema.arguments()[i].type();
    }
    if (same) return op;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("out= overloads resize an empty result and agree with the functional ones", "[kernels]") {
  std::size_t count = 0;
  for (const OperatorHandle& op : testing::operators_of_suite()) {
    const OpInfo& info = op.entry().info();
    if (info.example.empty() || !is_out(op) || op.entry().has_tag("nondeterministic_seeded")) continue;
    const std::optional<OperatorHandle> functional = functional_of(op);
    if (!functional) continue;
    INFO(op.name() << ": " << info.example);
    std::string problem;
    try {
      const tools::ExampleText example = tools::parse_example(info.example);
      Stack expected = tools::make_arguments(functional->entry(), example.call);
      functional->call_boxed(expected);
      Stack stack = tools::make_arguments(functional->entry(), example.call);
      for (const IValue& result : expected) {
        const std::int64_t none[] = {0};
        stack.emplace_back(make_tensor(none, result.to_tensor().dtype(), Device(DeviceType::CPU)));
      }
      op.call_boxed(stack);
      for (std::size_t i = 0; i < expected.size() && problem.empty(); ++i) {
        problem = testing::metadata_difference(stack.at(i), expected[i]);
      }
      if (problem.empty() && example.has_value && example.method.empty() && expected.size() == 1) {
        problem = testing::difference(stack.at(0), example.value);
      }
    } catch (const std::exception& error) {
      problem = error.what();
    }
    CHECK(problem == "");
    ++count;
  }
  CHECK(count >= testing::kOpCases.at_least(50));
}
