// How long graphs take.
#include <keyway/graph/run.h>
#include <keyway/graph/timing.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

TEST_CASE("a longer call takes more time, and the calls together no more than what was waited") {
  const Graph graph = parse(
      "graph executed(%0: float32[1], %1: float32[256, 256]) {\n"
      "  %2: float32[1] = keyway::relu(%0)\n"
      "  %3: float32[256, 256] = keyway::mm(%1, %1)\n"
      "  return (%3)\n"
      "}\n");
  const Timings timings = measure(graph, {ones({1}), ones({256, 256})}, 5);
  REQUIRE(timings.calls.size() == 2);
  CHECK(timings.calls[0] > 0);
  CHECK(timings.calls[1] > 10 * timings.calls[0]);
  REQUIRE(timings.plan.has_value());
  CHECK(*timings.plan > 0);
}

TEST_CASE("each run that is measured has its effects") {
  const Graph graph = parse(
      "graph executed(%0: float32[2]) {\n"
      "  %0 = keyway::add_.Scalar(%0, 1)\n"
      "  return ()\n"
      "}\n");
  const Tensor x = zeros({2});
  measure(graph, {x}, 3);
  CHECK(x.select(0, 0).item<float>() == 8);  // three and one more, call by call and as a plan
}

TEST_CASE("a graph as it is written has no time as a plan") {
  const Graph graph = parse(
      "graph program(%0: float32[2]) {\n"
      "  %1: float32[2] = keyway::relu(%0)\n"
      "  return (%1)\n"
      "}\n");
  CHECK(!measure(graph, {ones({2})}, 1).plan.has_value());
  CHECK(error_of([&] { measure(graph, {ones({2})}, 0); }) == "measure: the number of runs is 1 or more, not 0");
  CHECK(error_of([&] { measure(graph, {ones({3})}); }).find("the graph does not hold for this call: ") == 0);
}

TEST_CASE("an observer sees each call before and after it") {
  const Graph graph = parse(
      "graph executed(%0: float32[2]) {\n"
      "  %1: float32[2] = keyway::relu(%0)\n"
      "  %2: float32[2] = keyway::exp(%1)\n"
      "  return (%2)\n"
      "}\n");
  std::string seen;
  Interpreter(graph).run({ones({2})}, [&](std::size_t call, bool is_made) {
    seen += std::to_string(call) + (is_made ? "made " : "begins ");
  });
  CHECK(seen == "0begins 0made 1begins 1made ");
}
