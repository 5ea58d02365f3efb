#include <keyway/graph/plan.h>
#include <keyway/graph/run.h>
#include <keyway/graph/run_sections.h>
#include <keyway/graph/timing.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

}  // namespace

Timings measure(const Graph& graph, ArrayRef<Tensor> arguments, std::size_t runs) {
  KEYWAY_CHECK(runs > 0, "measure: the number of runs is 1 or more, not {}", runs);
  std::vector<std::vector<double>> times(graph.nodes.size());
  const Interpreter calls(graph);
  Stopwatch time;
  for (std::size_t i = 0; i <= runs; ++i) {
    calls.run(arguments, [&](std::size_t call, bool is_made) {
      if (is_made && i > 0) times[call].push_back(time.seconds());
      time = {};
    });
  }
  Timings timings;
  for (std::vector<double>& of_call : times) timings.calls.push_back(median(std::move(of_call)));
  if (!Plan::is_possible(graph)) return timings;
  Plan plan(graph);
  plan.run(arguments);
  std::vector<double> of_plan;
  for (std::size_t i = 0; i < runs; ++i) {
    time = {};
    plan.run(arguments);
    of_plan.push_back(time.seconds());
  }
  timings.plan = median(std::move(of_plan));
  return timings;
}

}  // namespace keyway::inline v1::graph
