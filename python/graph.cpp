#include <keyway/graph/capture.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/executable.h>
#include <keyway/python/caller_frame.h>
#include <keyway/python/graph_decompositions.h>
#include <keyway/python/graph_drawing.h>
#include <keyway/python/graph_functions.h>
#include <keyway/python/graph_passes.h>
#include <keyway/python/graph_programs.h>
#include <keyway/python/held_guard.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/tensor_reference.h>

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

// A graph, for Python.
class RunnableGraph {
 public:
  explicit RunnableGraph(Graph graph) : program_(std::make_unique<graph::Executable>(std::move(graph))) {
    for (const graph::Input& input : this->graph().inputs) {
      if (input.state.defined()) state_.emplace_back(input.state);
    }
  }

  const Graph& graph() const { return program().graph(); }
  std::optional<std::string> mismatch(const std::vector<Tensor>& arguments) const {
    return program().mismatch(arguments);
  }
  // The results, or why the graph does not hold for these arguments.
  nb::object attempt(const std::vector<Tensor>& arguments) {
    std::vector<Tensor> results;
    const std::optional<std::string> why = unlocked([&] { return program().try_run(arguments, results); });
    return why ? nb::cast(*why) : nb::cast(results);
  }
  std::string how() const { return program().how(); }
  std::vector<std::pair<std::string, std::string>> nodes() const {
    std::vector<std::pair<std::string, std::string>> nodes;
    for (const graph::Node& node : graph().nodes) nodes.emplace_back(node.op->full_name(), node.site);
    return nodes;
  }
  nb::dict statistics() const {
    const graph::Plan::Statistics known = program().statistics();
    nb::dict statistics;
    statistics["direct_calls"] = known.direct_calls;
    statistics["chained_calls"] = known.chained_calls;
    statistics["other_calls"] = known.other_calls;
    statistics["parallel_calls"] = known.parallel_calls;
    statistics["parallel_parts"] = known.parallel_parts;
    statistics["arena_bytes"] = known.arena_bytes;
    statistics["live_bytes"] = known.live_bytes;
    return statistics;
  }

  int visit_state(visitproc visit, void* arg) const {
    for (const TensorReference& state : state_) Py_VISIT(state.object());
    return 0;
  }
  // Lets go of all: nobody reaches it any more.
  void clear() {
    const std::vector<TensorReference> state = std::move(state_);  // goes last: it may run anything
    const auto program = std::move(program_);
  }

 private:
  graph::Executable& program() const {
    KEYWAY_CHECK(program_ != nullptr, "a graph is used that the garbage collector has taken");
    return *program_;
  }

  std::unique_ptr<graph::Executable> program_;
  std::vector<TensorReference> state_;  // what the graph refers to, shown to the garbage collector
};

int traverse_graph(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<RunnableGraph>(self)->visit_state(visit, arg) : 0;
}
int clear_graph(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<RunnableGraph>(self)->clear();
  return 0;
}
PyType_Slot graph_slots[] = {
    type_slot<traverse_graph>(Py_tp_traverse),
    type_slot<clear_graph>(Py_tp_clear),
    {0, nullptr},
};

}  // namespace

void add_graph(nb::module_& module) {
  graph::set_call_site(call_site);
  nb::class_<RunnableGraph>(module, "Graph", nb::type_slots(graph_slots))
      .def("__str__", [](const RunnableGraph& graph) { return graph::to_string(graph.graph()); })
      .def("attempt", &RunnableGraph::attempt, nb::arg("arguments"),
           "The results, or a text that says why the graph does not hold for these arguments.")
      .def("mismatch", &RunnableGraph::mismatch, nb::arg("arguments"),
           "Why the graph does not hold for these arguments; None if it does.")
      .def("nodes", &RunnableGraph::nodes, "The full name of each call's operator, and where the call was made.")
      .def("statistics", &RunnableGraph::statistics, "Of the plan: how calls are made, and how much memory they share.")
      .def("how", &RunnableGraph::how,
           "How it runs: 'as a plan', and how many calls run beside others, 'by the graph backend of npu', or "
           "'call by call: ' with the reason.")
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
  add_graph_decompositions(module, objects);
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
  add_graph_functions(module);
  nb::class_<graph::Deferred>(module, "Deferred")
      .def(nb::init<>(), "Begins: calls of this thread are recorded.")
      .def("flush", &graph::Deferred::flush, Unlocked(), "Makes the calls that are recorded.")
      .def("finish", &graph::Deferred::finish, Unlocked(), "Makes them, and ends.")
      .def("explain", &graph::Deferred::explain, "How many flushes there were, and why.")
      .def("statistics", [](const graph::Deferred& region) {
        const graph::Deferred::Statistics known = region.statistics();
        nb::dict statistics;
        statistics["deferred_calls"] = known.deferred_calls;
        statistics["immediate_calls"] = known.immediate_calls;
        statistics["flushes"] = known.flushes;
        statistics["known_graphs"] = known.known_graphs;
        return statistics;
      });
  add_graph_drawing(module, [](nb::handle g) -> const Graph& { return nb::cast<const RunnableGraph&>(g).graph(); });
}

}  // namespace keyway::inline v1::python
