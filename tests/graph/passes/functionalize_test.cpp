// Graphs without changes in place.
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/graph/plan.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/random_program.h>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

// The calls that write but are no copy to an input, or that stand twice for one; empty if there are none.
std::string writes_of(const Graph& graph) {
  std::string writes;
  std::vector<ValueId> inputs, written;
  for (const Input& input : graph.inputs) inputs.push_back(input.value);
  for (const Node& node : graph.nodes) {
    if (!node.op->schema().is_mutable()) continue;
    const ValueId target = node.op->short_name() == "copy_" ? node.arguments[0].to_int() : kNoValue;
    const bool is_input = std::ranges::find(inputs, target) != inputs.end();
    if (!is_input || std::ranges::find(written, target) != written.end()) writes += " " + node.op->short_name();
    written.push_back(target);
  }
  return writes;
}

std::string functionalized(const std::string& text) {
  const Graph graph = functionalize(parse(text));
  check(graph);
  return to_string(graph);
}

// The graph of a program without its changes, run for other inputs: the same bits in the same memory.
std::string difference(const Program& program, const std::vector<Tensor>& inputs) {
  const Graph graph = functionalize(captured(program, copies_of(inputs)));
  check(graph);
  if (!writes_of(graph).empty()) return "writes:" + writes_of(graph);
  const std::vector<Tensor> eager = copies_of(inputs), called = copies_of(inputs);
  const std::vector<Tensor> expected = joined(eager, program(eager));
  return bit_difference(joined(called, run(graph, called)), expected);
}

// How many were captured.
int check_functionalized(std::uint32_t first, std::uint32_t count, bool with_gradient) {
  int captures = 0;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const RandomProgram program(seed, with_gradient);
    const std::vector<Tensor> inputs = random_inputs(seed, with_gradient);
    if (!runs(program, inputs)) continue;
    const Graph graph = captured(program, copies_of(inputs));
    const Graph functional = functionalize(graph);
    INFO("seed " << seed << "\n" << to_string(graph) << "\n" << to_string(functional));
    check(functional);
    REQUIRE(writes_of(functional) == "");
    Plan plan(functional);
    for (std::uint32_t run_number = 0; run_number < 2; ++run_number) {
      const std::vector<Tensor> other = random_inputs(seed + 1'000'000 * (run_number + 1), with_gradient);
      const std::vector<Tensor> eager = copies_of(other), called = copies_of(other), planned = copies_of(other);
      const std::vector<Tensor> expected = joined(eager, program(eager));
      REQUIRE(bit_difference(joined(called, run(functional, called)), expected) == "");
      REQUIRE(bit_difference(joined(planned, plan.run(planned)), expected) == "");
    }
    ++captures;
  }
  return captures;
}

}  // namespace

TEST_CASE("a write becomes the call that computes the same, and views are made anew") {
  CHECK(functionalized("graph executed(%0: float32[2, 3]) {\n"
                       "  %1: float32[2, 3] = keyway::relu(%0)\n"
                       "  %2: float32[3] offset 3 in %1 = keyway::select.int(%1, 0, 1)\n"
                       "  %1 = keyway::mul_.Tensor(%1, %0)\n"
                       "  %3: float32[3] = keyway::neg(%2)\n"
                       "  return (%1, %3)\n"
                       "}\n") ==
        "graph executed(%0: float32[2, 3]) {\n"
        "  %1: float32[2, 3] = keyway::relu(%0)\n"
        "  %2: float32[2, 3] = keyway::mul.Tensor(%1, %0)\n"
        "  %3: float32[3] offset 3 in %2 = keyway::select.int(%2, 0, 1)\n"
        "  %4: float32[3] = keyway::neg(%3)\n"
        "  return (%2, %4)\n"
        "}\n");
}

TEST_CASE("a write through a view is a scatter into what it is a view of, and an input is copied to at the end") {
  CHECK(functionalized("graph executed(%0: float32[2, 3]) {\n"
                       "  %1: float32[3] offset 3 in %0 = keyway::select.int(%0, 0, 1)\n"
                       "  %1 = keyway::add_.Scalar(%1, 1)\n"
                       "  %2: float32[2, 3] = keyway::neg(%0)\n"
                       "  return (%2, %1)\n"
                       "}\n") ==
        "graph executed(%0: float32[2, 3]) {\n"
        "  %1: float32[3] offset 3 in %0 = keyway::select.int(%0, 0, 1)\n"
        "  %2: float32[3] = keyway::add.Scalar(%1, 1)\n"
        "  %3: float32[2, 3] = keyway::select_scatter(%0, %2, 0, 1)\n"
        "  %4: float32[2, 3] = keyway::neg(%3)\n"
        "  %0 = keyway::copy_(%0, %3)\n"
        "  %5: float32[3] offset 3 in %0 = keyway::select.int(%0, 0, 1)\n"
        "  return (%4, %5)\n"
        "}\n");
}

TEST_CASE("a view that only its geometry tells of is a scatter by its places in memory") {
  const Tensor x = arange(12).to(ScalarType::Float).view({3, 4});
  const auto program = [](const std::vector<Tensor>& inputs) {
    Tensor windows = inputs[0].as_strided({2, 2}, {5, 2}, 1);
    windows.mul_(3);
    return std::vector<Tensor>{inputs[0].sum(), windows};
  };
  CHECK(difference(program, {x}) == "");
}

TEST_CASE("an out= call and a changed geometry are followed") {
  const auto program = [](const std::vector<Tensor>& inputs) {
    Tensor out = empty({0});
    add_out(out, inputs[0], inputs[0]);
    Tensor turned = inputs[0].mul(2);
    const Tensor row = turned.select(0, 0);
    turned.t_();
    turned.select(0, 1).fill_(7);
    row.zero_();
    return std::vector<Tensor>{out, turned, row, turned.add(1)};
  };
  CHECK(difference(program, {randn({2, 3})}) == "");
}

TEST_CASE("random numbers in place are random numbers in new memory") {
  const auto program = [](const std::vector<Tensor>& inputs) {
    Tensor rows = empty({4, 6}).t();
    rows.normal_(1, 2);
    inputs[0].select(1, 1).uniform_();
    return std::vector<Tensor>{rows, rand({3}), bernoulli(inputs[0].sigmoid()), randint(2, 9, {5}),
                               empty({4}).random_(7)};
  };
  const std::vector<Tensor> inputs = {randn({2, 3})}, called = copies_of(inputs);
  manual_seed(3);
  const Graph graph = functionalize(captured(program, copies_of(inputs)));
  CHECK(writes_of(graph) == "");
  manual_seed(5);
  const std::vector<Tensor> expected = joined(inputs, program(inputs));
  manual_seed(5);
  CHECK(bit_difference(joined(called, run(graph, called)), expected) == "");
}

TEST_CASE("what cannot be functionalized is an error that names the operator") {
  const auto error = [](const std::string& line) {
    return error_of([&] {
      functionalize(parse("graph executed(%0: float32[4, 2], %1: float32[2]) {\n" + line + "  return (%0)\n}\n"));
    });
  };
  CHECK(error("  %0 = keyway::exponential_(%0)  # model.py:3\n") ==
        "functionalize: exponential_ at model.py:3 writes to its arguments, and there is no operator that computes the "
        "same without");
  CHECK(error("  %2: complex64[4] in %0 = keyway::view_as_complex(%0)\n  %0 = keyway::zero_(%0)\n") ==
        "functionalize: zero_ writes to memory in which tensors of several dtypes lie");
  CHECK(error("  %2: float32[2] offset 1 in %1 = keyway::as_strided(%1, [2], [1], 1)\n  %2 = keyway::zero_(%2)\n") ==
        "functionalize: zero_ writes to memory of an input beside its elements");
  CHECK(error_of([] { functionalize(parse("graph program() {\n  return ()\n}\n")); }) ==
        "functionalize: the graph is of a program as it is written: capture what is executed");
}

TEST_CASE("a write to a part of what is expanded writes all that lies there") {
  const auto program = [](const std::vector<Tensor>& in) {
    in[0].unsqueeze(1).expand({2, 3, 4}).select(1, 2).mul_(3);
    in[0].unsqueeze(0).expand({2, 2, 4}).slice(0, 0, 2, 2).add_(1);
    return std::vector<Tensor>{};
  };
  CHECK(difference(program, {randn({2, 4})}) == "");
}

TEST_CASE("an out= call is computed in the dtype in which it is") {
  int calls = 0;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const FunctionSchema& schema = op.schema();
    if (!schema.is_out() || !schema.arguments().find("dtype") || !schema.arguments().find("self")) continue;
    for (const ScalarType dtype : {kBFloat16, kFloat, kDouble, kLong, kInt}) {
      for (const ScalarType out : {kBFloat16, kFloat, kDouble, kLong, kInt}) {
        const auto program = [&](const std::vector<Tensor>& in) {
          Stack stack;
          for (const Argument argument : schema.arguments()) {
            if (argument.name() == "self")
              stack.emplace_back(TensorBase(in[0]));
            else if (argument.is_out())
              stack.emplace_back(TensorBase(empty({0}, out)));
            else if (argument.has_default())
              stack.push_back(default_argument(argument));
            else
              stack.push_back(argument.type().is(TypeKind::Int) ? IValue(std::int64_t{1})
                                                                : IValue(std::vector<std::int64_t>{1}));
          }
          op.call_boxed(stack);
          return std::vector<Tensor>{Tensor(stack[0].tensor_ref())};
        };
        const std::vector<Tensor> inputs = {(randn({5, 40}) * 3).to(dtype)};
        const auto capture = [&](const std::vector<Tensor>& in) {
          return captured(program, in).outputs.empty() ? in : in;
        };
        if (!runs(program, inputs) || !runs(capture, inputs)) continue;  // some give a result its size beside a call
        INFO(op.name() << " of " << to_string(dtype) << " into " << to_string(out));
        CHECK(difference(program, inputs) == "");
        ++calls;
      }
    }
  }
  CHECK(calls > 100);
}

TEST_CASE("random programs of views and changes in place functionalize to the same bits") {
  CHECK(check_functionalized(0, program_count(), false) > static_cast<int>(program_count() / 2));
}

TEST_CASE("random programs with gradients functionalize to the same bits") {
  CHECK(check_functionalized(5'000'000, program_count(), true) > static_cast<int>(program_count() / 4));
}
