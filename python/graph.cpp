#include <keyway/graph/capture.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/run.h>
#include <keyway/python/caller_frame.h>
#include <keyway/python/graph_drawing.h>
#include <keyway/python/graph_passes.h>
#include <keyway/python/graph_programs.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace keyway::inline v1::python {
namespace {

using graph::Graph;

graph::Level level_named(const std::string& name) {
  KEYWAY_CHECK(name == "program" || name == "executed", "capture: the level is 'program' or 'executed', not '{}'",
               name);
  return name == "program" ? graph::Level::Program : graph::Level::Executed;
}

std::string call_site() {
  if (Py_IsInitialized() == 0) return {};
  const LockHeld lock;
  return caller_line();
}

// A graph with its plan, or, where there is none, with what runs it call by call.
class RunnableGraph {
 public:
  explicit RunnableGraph(Graph graph) {
    if (graph::Plan::is_possible(graph))
      plan_ = std::make_unique<graph::Plan>(std::move(graph));
    else
      calls_ = std::make_unique<graph::Interpreter>(std::move(graph));
  }

  const Graph& graph() const { return plan_ == nullptr ? calls_->graph() : plan_->graph(); }
  std::optional<std::string> mismatch(const std::vector<Tensor>& arguments) const {
    return plan_ == nullptr ? calls_->mismatch(arguments) : plan_->mismatch(arguments);
  }
  // The results, or why the graph does not hold for these arguments.
  nb::object attempt(const std::vector<Tensor>& arguments) {
    std::vector<Tensor> results;
    const std::optional<std::string> why = unlocked(
        [&] { return plan_ == nullptr ? calls_->try_run(arguments, results) : plan_->try_run(arguments, results); });
    return why ? nb::cast(*why) : nb::cast(results);
  }
  std::vector<std::pair<std::string, std::string>> nodes() const {
    std::vector<std::pair<std::string, std::string>> nodes;
    for (const graph::Node& node : graph().nodes) nodes.emplace_back(node.op->full_name(), node.site);
    return nodes;
  }
  nb::dict statistics() const {
    const graph::Plan::Statistics known = plan_ == nullptr ? graph::Plan::Statistics{} : plan_->statistics();
    nb::dict statistics;
    statistics["direct_calls"] = known.direct_calls;
    statistics["chained_calls"] = known.chained_calls;
    statistics["other_calls"] = known.other_calls;
    statistics["arena_bytes"] = known.arena_bytes;
    statistics["live_bytes"] = known.live_bytes;
    return statistics;
  }

 private:
  std::unique_ptr<graph::Interpreter> calls_;
  std::unique_ptr<graph::Plan> plan_;
};

}  // namespace

void add_graph(nb::module_& module) {
  graph::set_call_site(call_site);
  nb::class_<RunnableGraph>(module, "Graph")
      .def("__str__", [](const RunnableGraph& graph) { return graph::to_string(graph.graph()); })
      .def("attempt", &RunnableGraph::attempt, nb::arg("arguments"),
           "The results, or a text that says why the graph does not hold for these arguments.")
      .def("mismatch", &RunnableGraph::mismatch, nb::arg("arguments"),
           "Why the graph does not hold for these arguments; None if it does.")
      .def("nodes", &RunnableGraph::nodes, "The full name of each call's operator, and where the call was made.")
      .def("statistics", &RunnableGraph::statistics, "Of the plan: how calls are made, and how much memory they share.")
      .def_prop_ro("level", [](const RunnableGraph& graph) {
        return graph.graph().level == graph::Level::Program ? "program" : "executed";
      });
  module.def(
      "parse", [](const std::string& text) { return RunnableGraph(graph::parse(text)); }, nb::arg("text"));
  module.def("is_capturing", graph::is_capturing);
  const GraphObjects objects = {
      [](nb::handle object) -> const Graph& { return nb::cast<RunnableGraph&>(object).graph(); },
      [](Graph graph) { return nb::cast(RunnableGraph(std::move(graph))); }};
  add_graph_passes(module, objects);
  add_graph_programs(module, objects);
  nb::class_<graph::Capture>(module, "Capture")
      .def(
          "__init__",
          [](graph::Capture* self, const std::string& level, bool go_on) {
            new (self) graph::Capture(level_named(level),
                                      go_on ? graph::Capture::Refusal::Continue : graph::Capture::Refusal::Throw);
          },
          nb::arg("level"), nb::arg("go_on") = false, "Begins; with `go_on` the program goes on where it is refused.")
      .def("add_argument", &graph::Capture::add_argument, nb::arg("tensor"), nb::arg("name") = "")
      .def(
          "finish",
          [](graph::Capture& capture, const std::vector<Tensor>& outputs) {
            return RunnableGraph(capture.finish(outputs));
          },
          nb::arg("outputs"), "Ends; the graph of what ran.")
      .def("keeps_results", &graph::Capture::keeps_results, nb::arg("outputs"),
           "Whether finish() would refuse since the program keeps a tensor beside `outputs`.")
      .def("abandon", &graph::Capture::abandon, "Ends without a graph.");
  add_graph_drawing(module, [](nb::handle g) -> const Graph& { return nb::cast<const RunnableGraph&>(g).graph(); });
}

}  // namespace keyway::inline v1::python
