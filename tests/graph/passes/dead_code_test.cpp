// Calls that nothing depends on.
#include <keyway/graph/passes/dead_code.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/graph/random_program.h>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

std::string without_dead_code(const std::string& lines) {
  const std::string head = "graph executed(%0: float32[2, 3]) {\n";
  const std::string text = to_string(eliminate_dead_code(parse(head + lines + "}\n")));
  return text.substr(head.size(), text.size() - head.size() - 2);
}

}  // namespace

TEST_CASE("calls whose results nobody uses go, and what they alone used goes with them") {
  CHECK(without_dead_code("  %1: float32[2, 3] = keyway::relu(%0)\n"
                          "  %2: float32[2, 3] = keyway::neg(%1)\n"
                          "  %3: float32[2, 3] = keyway::exp(%0)\n"
                          "  return (%3)\n") ==
        "  %1: float32[2, 3] = keyway::exp(%0)\n"
        "  return (%1)\n");
}

TEST_CASE("a write stays where its memory is read behind it, also through another view") {
  const std::string text =
      "  %1: float32[2, 3] = keyway::relu(%0)\n"
      "  %2: float32[3] in %1 = keyway::select.int(%1, 0, 0)\n"
      "  %3: float32[3] offset 3 in %1 = keyway::select.int(%1, 0, 1)\n"
      "  %2 = keyway::add_.Scalar(%2, 1)\n"
      "  %4: float32[3] = keyway::neg(%3)\n"
      "  return (%4)\n";
  CHECK(without_dead_code(text) == text);
}

TEST_CASE("a write to memory that nothing reads behind it goes") {
  CHECK(without_dead_code("  %1: float32[2, 3] = keyway::relu(%0)\n"
                          "  %2: float32[2, 3] = keyway::neg(%1)\n"
                          "  %1 = keyway::zero_(%1)\n"
                          "  return (%2)\n") ==
        "  %1: float32[2, 3] = keyway::relu(%0)\n"
        "  %2: float32[2, 3] = keyway::neg(%1)\n"
        "  return (%2)\n");
}

TEST_CASE("writes to inputs and to what is returned stay, and random calls do") {
  const std::string text =
      "  %1: float32[3] in %0 = keyway::select.int(%0, 0, 0)\n"
      "  %1 = keyway::zero_(%1)\n"
      "  %2: float32[2, 3] = keyway::rand([2, 3])\n"
      "  %3: float32[2, 3] = keyway::exp(%0)\n"
      "  %4: float32[3] in %3 = keyway::select.int(%3, 0, 0)\n"
      "  %4 = keyway::zero_(%4)\n"
      "  return (%3)\n";
  CHECK(without_dead_code(text) == text);
}

TEST_CASE("random programs give the same bits without dead code") {
  int shorter = 0;
  for (std::uint32_t seed = 0; seed < program_count(); ++seed) {
    const bool with_gradient = seed % 2 == 1;
    const RandomProgram program(seed, with_gradient);
    const std::vector<Tensor> inputs = random_inputs(seed, with_gradient);
    if (!runs(program, inputs)) continue;
    const Graph graph = captured(program, copies_of(inputs)), live = eliminate_dead_code(graph);
    INFO("seed " << seed << "\n" << to_string(graph) << "\n" << to_string(live));
    check(live);
    shorter += live.nodes.size() < graph.nodes.size() ? 1 : 0;
    const std::vector<Tensor> eager = copies_of(inputs), called = copies_of(inputs);
    const std::vector<Tensor> expected = joined(eager, program(eager));
    REQUIRE(bit_difference(joined(called, run(live, called)), expected) == "");
  }
  CHECK(shorter > static_cast<int>(program_count() / 4));
}
