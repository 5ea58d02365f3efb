// Random programs of views and changes in place: a replay gives the same bits in the same memory.
#include <keyway/graph/forced_sections.h>
#include <keyway/graph/plan.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/graph/random_program.h>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

// How many were captured; a program with an error, as a change in place of what is expanded is, is none.
int check_programs(std::uint32_t first, std::uint32_t count, bool with_gradient) {
  int captures = 0;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const RandomProgram program(seed, with_gradient);
    const std::vector<Tensor> inputs = random_inputs(seed, with_gradient);
    try {
      program(copies_of(inputs));
    } catch (const Error&) {
      continue;
    }
    const Graph graph = captured(program, copies_of(inputs));
    Plan plan(graph), parts(graph);
    for (std::uint32_t run_number = 0; run_number < 3; ++run_number) {
      const std::vector<Tensor> other = random_inputs(seed + 1'000'000 * (run_number + 1), with_gradient);
      const std::vector<Tensor> eager = copies_of(other), called = copies_of(other), planned = copies_of(other),
                                in_parts = copies_of(other);
      const std::vector<Tensor> expected = joined(eager, program(eager));
      const std::string by_calls = bit_difference(joined(called, run(graph, called)), expected);
      const std::string by_plan = bit_difference(joined(planned, plan.run(planned)), expected);
      const ForcedSections forced;
      const std::string by_parts = bit_difference(joined(in_parts, parts.run(in_parts)), expected);
      if (by_calls.empty() && by_plan.empty() && by_parts.empty()) continue;
      INFO("seed " << seed << ", run " << run_number << "\n" << to_string(graph));
      CHECK(by_calls == "");
      CHECK(by_plan == "");
      CHECK(by_parts == "");
      return captures;
    }
    ++captures;
  }
  return captures;
}

}  // namespace

TEST_CASE("random programs of views and changes in place replay to the same bits") {
  CHECK(check_programs(0, program_count(), false) > static_cast<int>(program_count() / 2));
}

TEST_CASE("random programs with gradients replay to the same bits") {
  CHECK(check_programs(5'000'000, program_count(), true) > static_cast<int>(program_count() / 4));
}
