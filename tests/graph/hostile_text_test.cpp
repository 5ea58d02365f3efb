// Texts of graphs that lie: about what calls give, about which values share memory, and about who made what. Each is an
// error or does no harm; the sanitized builds say what harm is. The oracle is what the calls give by themselves.
#include <keyway/graph/draw.h>
#include <keyway/graph/passes/common_subexpressions.h>
#include <keyway/graph/passes/dead_code.h>
#include <keyway/graph/passes/fold_batch_norm.h>
#include <keyway/graph/passes/freeze.h>
#include <keyway/graph/passes/functionalize.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/run.h>
#include <keyway/ops/all.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/replayed.h>

#include <functional>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

using Tensors = std::vector<Tensor>;

Graph graph_of(const std::string& inputs, const std::string& lines) {
  return parse("graph executed(" + inputs + ") {\n" + lines + "}\n");
}

// What is wrong with a plan of these lines, for two small arguments, in its first runs.
std::string plan_error(const std::string& lines, const std::string& inputs = "%0: float32[2], %1: float32[1000]") {
  return error_of([&] {
    Plan plan(graph_of(inputs, lines));
    for (int i = 0; i < 3; ++i) plan.run({ones({2}), ones({1000})});
  });
}

bool says(const std::string& error, const char* what) {
  INFO(error);
  return error.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a plan refuses results that are not what the text says") {
  const char* const kWrong = "but gave";
  CHECK(says(plan_error("  %2: float32[1000] = keyway::neg(%0)\n  return (%2)\n"), kWrong));
  CHECK(says(plan_error("  %2: float64[2] = keyway::neg(%0)\n  return (%2)\n"), kWrong));
  CHECK(says(plan_error("  %2: float32[2] stride [500] = keyway::neg(%0)\n  return (%2)\n"), kWrong));
  CHECK(says(plan_error("  %2: float32[2] offset 1000 = keyway::neg(%0)\n  return (%2)\n"), kWrong));
  CHECK(says(plan_error("  %2: float32[1000] in %0 = keyway::view(%0, [2])\n  return (%2)\n"), kWrong));
  for (const char* plain : {"clone(%0)", "zeros([2])", "full([2], 1.5)", "empty_like(%0)", "empty.memory_format([2])"})
    CHECK(says(plan_error(std::string("  %2: float32[1000] = keyway::") + plain + "\n  return (%2)\n"), kWrong));
}

TEST_CASE("a plan refuses results that do not lie where the text says") {
  const char* const kWrong = "is not as the graph says: it is new";
  CHECK(says(plan_error("  %2: float32[2] in %1 = keyway::neg(%0)\n  return (%2)\n"), kWrong));
  CHECK(says(plan_error("  %2: float32[1000] in %0 = keyway::neg(%1)\n  return (%2)\n"), kWrong));
  CHECK(says(plan_error("  %2: float32[1000] in %0 = keyway::clone(%1)\n  return (%2)\n"), kWrong));
  CHECK(says(plan_error("  %2: float32[1000] in %0 = keyway::zeros([1000])\n  return (%2)\n"), kWrong));
  CHECK(says(plan_error("  %1 = keyway::clone(%1)\n  return (%1)\n"), kWrong));
  CHECK(says(plan_error("  %2: float32[2] = keyway::neg(%0)\n"
                        "  %3: float32[1] offset 1 in %2 = keyway::slice.Tensor(%2, 0, 1)\n"
                        "  %2 = keyway::neg(%0)\n  return (%3)\n"),
             kWrong));
  CHECK(says(plan_error("  %2: float32[2] in %1 = keyway::view(%0, [2])\n  return (%2)\n"), "it is new"));
  // Of the arena, which is the plan's: nobody else may keep it.
  CHECK(says(plan_error("  %2: float32[2] = keyway::neg(%0)\n  %3: float32[2] = keyway::view(%2, [2])\n"
                        "  return (%3)\n"),
             "it is that of an argument"));
  CHECK(says(plan_error("  %2: float32[2] = keyway::neg(%0)\n  %3: float32[2] = keyway::neg(%0)\n"
                        "  %4: float32[2] = keyway::add.out(%0, %0, out=%3)\n  return (%4)\n"),
             "it is that of an argument"));
  CHECK(says(plan_error("  %2: float32[2] = keyway::neg(%0)\n  %2 = keyway::set_.source_Tensor(%2, %1)\n"
                        "  return (%2)\n"),
             ""));
}

TEST_CASE("a plan refuses arguments whose memory is shorter than in its first run") {
  Plan plan(graph_of("%0: float32[2]",
                     "  %1: float32[1000] in %0 = keyway::as_strided(%0, [1000], [1])\n"
                     "  %2: float32[] = keyway::sum(%1)\n  return (%2)\n"));
  CHECK(plan.run({ones({1000}).slice(0, 0, 2)})[0].item().to<double>() == 1000);
  CHECK(says(error_of([&] { plan.run({ones({2})}); }), "takes 4000 bytes, and the memory has 8"));
  CHECK(plan.run({ones({1000}).slice(0, 0, 2)})[0].item().to<double>() == 1000);
}

TEST_CASE("a plan has no limit to views of views") {
  std::string lines;
  constexpr int kViews = 100000;
  for (int i = 0; i < kViews; ++i)
    lines += "  %" + std::to_string(i + 1) + ": float32[2] in %0 = keyway::view(%" + std::to_string(i) + ", [2])\n";
  const Graph graph = graph_of("%0: float32[2]", lines + "  return (%" + std::to_string(kViews) + ")\n");
  Plan plan(graph);
  const Tensor x = tensor({1.0, 2.0});
  for (int i = 0; i < 2; ++i) {
    const Tensor result = plan.run({x})[0];
    CHECK(result.is_alias_of(x));
    CHECK(bit_difference({result}, {x}) == "");
  }
}

TEST_CASE("a text whose memories or gradients are no such is no graph") {
  const auto error = [](const std::string& inputs, const std::string& lines) {
    return error_of([&] { graph_of(inputs, lines); });
  };
  CHECK(says(error("%0: float32[2]",
                   "  %1: float32[2] in %0 = keyway::view(%0, [2])\n"
                   "  %2: float32[2] in %1 = keyway::view(%1, [2])\n  return (%2)\n"),
             "lies in the memory of %1, which lies in that of %0"));
  CHECK(says(error("%0: float32[2] in %1, %1: float32[2]", "  return (%0)\n"), "which is not made yet"));
  CHECK(says(error("%0: float32[2]", "  %1: float32[2] = keyway::neg(%0)\n  grad(%1) = %0\n  return ()\n"),
             "gets a gradient, and is no input"));
  CHECK(says(error("%0: float32[2] grad_of %0", "  return ()\n"), "which is no input"));
}

TEST_CASE("a text without its state, or with a gradient that does not fit, does not run") {
  const Graph graph = graph_of("%0 w: float32[2] requires_grad state, %1: float32[2] grad_of %0",
                               "  %2: float32[2] = keyway::neg(%1)\n  grad(%0) = %2\n  return (%2)\n");
  CHECK(says(error_of([&] { run(graph, {}); }), "is undefined"));
  CHECK(says(error_of([&] { Plan(graph).run({}); }), "is undefined"));
  const Graph large = graph_of("%0: float32[2] requires_grad, %1: float32[1000]", "  grad(%0) = %1\n  return ()\n");
  const Tensors arguments = {ones({2}).requires_grad_(), ones({1000})};
  CHECK(says(error_of([&] { run(large, arguments); }), "must have the same dtype, device and sizes"));
  CHECK(says(error_of([&] { Plan(large).run(arguments); }), "must have the same dtype, device and sizes"));
}

TEST_CASE("inputs of a graph within a call may share memory or not, whatever its text says") {
  const std::string kBranch =
      "graph executed(%0: float32[3], %1: float32[2] in %0) {\n"
      "    %2: float32[3] = keyway::add.Tensor(%0, %0)\n    %3: float32[2] = keyway::neg(%1)\n"
      "    return (%2, %3)\n  }";
  const Graph graph = graph_of("%0: bool[], %1: float32[3], %2: float32[2]",
                               "  [%3: float32[3], %4: float32[2]] = keyway::cond(%0, " + kBranch + ", " + kBranch +
                                   ", [%1, %2])\n  return (%3, %4)\n");
  Plan plan(graph);
  const Tensor x = tensor({1.0, 2.0, 3.0}), y = tensor({4.0, 5.0});
  for (int i = 0; i < 3; ++i) CHECK(bit_difference(plan.run({tensor(true), x, y}), {x + x, y.neg()}) == "");
}

TEST_CASE("passes and pictures of a text that lies are errors, or graphs") {
  const std::string kLines[] = {
      "  [%2: float32[1], %3: float32[1], %4: float32[1]] = keyway::split_with_sizes(%0, [1])\n"
      "  %4 = keyway::mul_.Scalar(%4, 2)\n  return (%0)\n",
      "  [%2: float32[1] in %0, %3: float32[1] in %0] = keyway::split.Tensor(%0, 9223372036854775807)\n"
      "  %3 = keyway::mul_.Scalar(%3, 2)\n  return (%0)\n",
      "  [%2: float32[1] in %0, %3: float32[1] in %0, %4: float32[1] in %0] = "
      "keyway::split_with_sizes(%0, [9223372036854775807])\n  %4 = keyway::mul_.Scalar(%4, 2)\n  return (%0)\n",
      "  %2: float32[] = keyway::convolution(%0, %0, None, [1], [0], [1], False, [0], 1)\n"
      "  %3: float32[] = keyway::addcmul(%0, %2, %0)\n  return (%3)\n",
      "  %2: float32[4611686018427387904, 0, 8] stride [8, 8, 4611686018427387904] in %0 = keyway::neg(%0)\n"
      "  %2 = keyway::mul_.Scalar(%2, 2)\n  return (%2)\n",
      "  %2: float32[2] in %1 = keyway::neg(%0)\n  %2 = keyway::mul_.Scalar(%2, 2)\n  return (%1)\n",
      "  %2: float32[2305843009213693951] = keyway::neg(%0)\n  %3: float32[2305843009213693951] = keyway::neg(%2)\n"
      "  %4: float32[2305843009213693951] = keyway::neg(%3)\n  return (%4)\n",
      "  %0 = keyway::neg(%0)\n  %1 = keyway::neg(%0)\n  %0 = keyway::add_.Tensor(%0, %1)\n  return (%0, %1)\n",
      "  None = keyway::neg(%0)\n  None = keyway::clone(%0)\n  None = keyway::zeros([2])\n  return (None)\n",
      "  %2: float32[], %2 = keyway::aminmax(%0)\n  return (%2)\n",
      "  %2: float32[], %3: float32[] = keyway::aminmax(%0)\n  %2, %2 = keyway::aminmax(%1)\n  return (%2)\n",
  };
  const std::function<void(const Graph&)> kUses[] = {
      [](const Graph& graph) {
        Plan(graph).run({ones({2}), ones({1000})});
      },
      [](const Graph& graph) {
        run(graph, {ones({2}), ones({1000})});
      },
      [](const Graph& graph) { eliminate_dead_code(graph); },
      [](const Graph& graph) { eliminate_common_subexpressions(graph); },
      [](const Graph& graph) { fold_batch_norm(graph); },
      [](const Graph& graph) { freeze(graph); },
      [](const Graph& graph) {
        Plan(functionalize(graph)).run({ones({2}), ones({1000})});
      },
      [](const Graph& graph) { to_html(graph); },
      [](const Graph& graph) { to_dot(graph); },
  };
  for (const std::string& lines : kLines) {
    for (const auto& use : kUses) {
      try {
        use(graph_of("%0: float32[2], %1: float32[1000]", lines));
      } catch (const Error& error) {
        INFO(error.what());
        CHECK(error.kind() != ErrorKind::Internal);
      }
    }
  }
}

TEST_CASE("a write to views of views is refused where they are too many") {
  std::string lines;
  constexpr int kViews = 100000;
  for (int i = 0; i < kViews; ++i)
    lines += "  %" + std::to_string(i + 1) + ": float32[2] in %0 = keyway::view(%" + std::to_string(i) + ", [2])\n";
  const Graph graph = graph_of(
      "%0: float32[2]", lines + "  %0 = keyway::mul_.Scalar(%0, 2)\n  return (%" + std::to_string(kViews) + ")\n");
  CHECK(says(error_of([&] { functionalize(graph); }), "views of views"));
}
