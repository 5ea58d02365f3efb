// Calls that give what an earlier call has given.
#include <keyway/graph/passes/common_subexpressions.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/graph/random_program.h>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

std::string merged(const std::string& lines) {
  const std::string head = "graph executed(%0: float32[2, 3]) {\n";
  const std::string text = to_string(eliminate_common_subexpressions(parse(head + lines + "}\n")));
  return text.substr(head.size(), text.size() - head.size() - 2);
}

}  // namespace

TEST_CASE("equal calls are one, and so are the calls of their results") {
  CHECK(merged("  %1: float32[2, 3] = keyway::exp(%0)\n"
               "  %2: float32[2, 3] = keyway::exp(%0)\n"
               "  %3: float32[2, 3] = keyway::neg(%1)\n"
               "  %4: float32[2, 3] = keyway::neg(%2)\n"
               "  %5: float32[2, 3] = keyway::add.Tensor(%3, %4)\n"
               "  return (%5)\n") ==
        "  %1: float32[2, 3] = keyway::exp(%0)\n"
        "  %2: float32[2, 3] = keyway::neg(%1)\n"
        "  %3: float32[2, 3] = keyway::add.Tensor(%2, %2)\n"
        "  return (%3)\n");
}

TEST_CASE("calls of other arguments, random calls and empty memory stay") {
  const std::string text =
      "  %1: float32[2, 3] = keyway::add.Scalar(%0, 1)\n"
      "  %2: float32[2, 3] = keyway::add.Scalar(%0, 1.0)\n"
      "  %3: float32[2, 3] = keyway::add.Scalar(%0, 1, 2)\n"
      "  %4: float32[2] = keyway::rand([2])\n"
      "  %5: float32[2] = keyway::rand([2])\n"
      "  %6: float32[2] = keyway::empty.memory_format([2])\n"
      "  %7: float32[2] = keyway::empty.memory_format([2])\n"
      "  return (%1)\n";
  CHECK(merged(text) == text);
}

TEST_CASE("a call behind a write to its argument stays, also if that was through a view") {
  const std::string text =
      "  %1: float32[2, 3] = keyway::exp(%0)\n"
      "  %2: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
      "  %2 = keyway::zero_(%2)\n"
      "  %3: float32[2, 3] = keyway::exp(%0)\n"
      "  %4: float32[2, 3] = keyway::add.Tensor(%1, %3)\n"
      "  return (%4)\n";
  CHECK(merged(text) == text);
}

TEST_CASE("results that are written to, and two that are returned, stay apart") {
  const std::string written =
      "  %1: float32[2, 3] = keyway::exp(%0)\n"
      "  %2: float32[2, 3] = keyway::exp(%0)\n"
      "  %2 = keyway::zero_(%2)\n"
      "  return (%1)\n";
  CHECK(merged(written) == written);
  const std::string returned =
      "  %1: float32[2, 3] = keyway::exp(%0)\n"
      "  %2: float32[2, 3] = keyway::exp(%0)\n"
      "  %3: float32[3] in %2 = keyway::select.int(%2, 0, 0)\n"
      "  return (%1, %3)\n";
  CHECK(merged(returned) == returned);
}

TEST_CASE("equal views are one, unless both are returned") {
  CHECK(merged("  %1: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
               "  %2: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
               "  %1 = keyway::zero_(%1)\n"
               "  return (%2)\n") ==
        "  %1: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
        "  %1 = keyway::zero_(%1)\n"
        "  return (%1)\n");
  const std::string returned =
      "  %1: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
      "  %2: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
      "  return (%1, %2)\n";
  CHECK(merged(returned) == returned);
}

TEST_CASE("random programs give the same bits without common subexpressions") {
  int shorter = 0;
  for (std::uint32_t seed = 0; seed < program_count(); ++seed) {
    const bool with_gradient = seed % 2 == 1;
    const RandomProgram program(seed, with_gradient);
    const std::vector<Tensor> inputs = random_inputs(seed, with_gradient);
    if (!runs(program, inputs)) continue;
    const Graph graph = captured(program, copies_of(inputs)), fewer = eliminate_common_subexpressions(graph);
    INFO("seed " << seed << "\n" << to_string(graph) << "\n" << to_string(fewer));
    check(fewer);
    shorter += fewer.nodes.size() < graph.nodes.size() ? 1 : 0;
    const std::vector<Tensor> eager = copies_of(inputs), called = copies_of(inputs);
    const std::vector<Tensor> expected = joined(eager, program(eager));
    REQUIRE(bit_difference(joined(called, run(fewer, called)), expected) == "");
  }
  CHECK(shorter > static_cast<int>(program_count() / 20));
}
