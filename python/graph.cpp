#include <keyway/graph/capture.h>
#include <keyway/graph/run.h>
#include <keyway/python/caller_frame.h>
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

std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& arguments) {
  const LockReleased unlocked;
  return graph::run(graph, arguments);
}

std::vector<std::pair<std::string, std::string>> nodes_of(const Graph& graph) {
  std::vector<std::pair<std::string, std::string>> nodes;
  for (const graph::Node& node : graph.nodes) nodes.emplace_back(node.op->full_name(), node.site);
  return nodes;
}

}  // namespace

void add_graph(nb::module_& module) {
  graph::set_call_site(call_site);
  nb::class_<Graph>(module, "Graph")
      .def("__str__", [](const Graph& graph) { return graph::to_string(graph); })
      .def("run", run, nb::arg("arguments"), "The results, a list of tensors, for a list of arguments.")
      .def(
          "mismatch",
          [](const Graph& graph, const std::vector<Tensor>& arguments) { return graph::mismatch(graph, arguments); },
          nb::arg("arguments"), "Why the graph does not hold for these arguments; None if it does.")
      .def("nodes", nodes_of, "The full name of each call's operator, and where the call was made.")
      .def_prop_ro("level",
                   [](const Graph& graph) { return graph.level == graph::Level::Program ? "program" : "executed"; });
  module.def(
      "parse", [](const std::string& text) { return graph::parse(text); }, nb::arg("text"));
  module.def("is_capturing", graph::is_capturing);
  nb::class_<graph::Capture>(module, "Capture")
      .def(
          "__init__",
          [](graph::Capture* self, const std::string& level, bool go_on) {
            new (self) graph::Capture(level_named(level),
                                      go_on ? graph::Capture::Refusal::Continue : graph::Capture::Refusal::Throw);
          },
          nb::arg("level"), nb::arg("go_on") = false, "Begins; with `go_on` the program goes on where it is refused.")
      .def("add_argument", &graph::Capture::add_argument, nb::arg("tensor"), nb::arg("name") = "")
      .def("finish", &graph::Capture::finish, nb::arg("outputs"), "Ends; the graph of what ran.")
      .def("keeps_results", &graph::Capture::keeps_results, nb::arg("outputs"),
           "Whether finish() would refuse since the program keeps a tensor beside `outputs`.")
      .def("abandon", &graph::Capture::abandon, "Ends without a graph.");
}

}  // namespace keyway::inline v1::python
