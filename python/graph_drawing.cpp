#include <keyway/graph/capture.h>
#include <keyway/graph/difference.h>
#include <keyway/graph/draw.h>
#include <keyway/graph/links.h>
#include <keyway/graph/node_values.h>
#include <keyway/python/graph_drawing.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/tensor_object.h>

#include <algorithm>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <tuple>

namespace keyway::inline v1::python {
namespace {

using graph::Graph;
using graph::ValueId;
using Sizes = std::vector<std::int64_t>;
// Kind or operator; numbers of the boxes that it needs; dtype and sizes of what it gives; where it was made; its
// tensor, if it is state.
using Box = std::tuple<std::string, std::vector<std::size_t>, std::string, std::vector<Sizes>, std::string, Tensor>;

// What a picture of the graph has: inputs, calls, leaf gradients, outputs.
std::vector<Box> boxes_of(const Graph& graph) {
  std::vector<Box> boxes;
  const auto add = [&](std::string kind, const std::vector<ValueId>& gives, std::string site = {}, Tensor state = {}) {
    std::vector<Sizes> sizes;
    std::string dtype;
    for (const ValueId id : gives) {
      if (id == graph::kNoValue) continue;
      const graph::TensorInfo& info = graph::info_of(graph, id);
      sizes.push_back(info.sizes);
      dtype = to_string(info.dtype);
    }
    boxes.emplace_back(std::move(kind), std::vector<std::size_t>(), std::move(dtype), std::move(sizes), std::move(site),
                       std::move(state));
  };
  for (const graph::Input& input : graph.inputs)
    add(input.grad_of != graph::kNoValue ? "gradient"
        : input.is_state                 ? "state"
                                         : "input",
        {input.value}, input.name, input.state);
  for (const graph::Node& node : graph.nodes) {
    const graph::CallValues values(node);
    add(node.op->full_name(), values.made.empty() ? values.written : values.made, node.site);
  }
  for (const graph::LeafGrad& grad : graph.grads) add("gradient", {grad.grad});
  for (const ValueId output : graph.outputs) add("output", {output});
  for (const graph::Link& link : graph::links_of(graph)) {
    std::vector<std::size_t>& needs = std::get<1>(boxes[link.to]);
    if (std::ranges::find(needs, link.from) == needs.end()) needs.push_back(link.from);
  }
  return boxes;
}

using Names = std::vector<std::pair<std::string, Tensor>>;

// The same graph, with names of state that is among the tensors.
Graph with_names(Graph graph, const Names& names) {
  for (graph::Input& input : graph.inputs) {
    for (const auto& [name, tensor] : names) {
      if (input.state.defined() && input.state.is_same(tensor)) input.name = name;
    }
  }
  return graph;
}

}  // namespace

void add_graph_drawing(nb::module_& module, const graph::Graph& (*graph_of)(nb::handle)) {
  const nb::object graph_class = module.attr("Graph");
  nb::class_<graph::Timings>(module, "Timings")
      .def_ro("calls", &graph::Timings::calls, "Seconds of each call.")
      .def_ro("plan", &graph::Timings::plan, "Seconds of a run as a plan; None where there is no plan.");
  const auto add = [](const nb::handle& type, const char* name, auto function, const auto&... more) {
    nb::setattr(type, name, nb::cpp_function(function, nb::scope(type), nb::name(name), nb::is_method(), more...));
  };
  add(
      graph_class, "to_dot",
      [graph_of](nb::handle self, const Names& names) { return graph::to_dot(with_names(graph_of(self), names)); },
      nb::arg("names"));
  add(
      graph_class, "to_html",
      [graph_of](nb::handle self, const std::optional<graph::Timings>& timings, const Names& names) {
        return graph::to_html(with_names(graph_of(self), names), timings.value_or(graph::Timings{}));
      },
      nb::arg("timings").none(), nb::arg("names"));
  add(graph_class, "boxes", [graph_of](nb::handle self) { return boxes_of(graph_of(self)); });
  add(
      graph_class, "measure",
      [graph_of](nb::handle self, const std::vector<Tensor>& arguments, std::size_t runs) {
        const Graph& graph = graph_of(self);
        return unlocked([&] { return graph::measure(graph, arguments, runs); });
      },
      nb::arg("arguments"), nb::arg("runs"));
  add(graph_class, "difference", [graph_of](nb::handle self, nb::handle other) {
    return graph::difference(graph_of(self), graph_of(other)).text;
  });
  module.def("page_elements", [] { return std::string(graph::page_elements()); });
  add(nb::type<graph::Capture>(), "call_count", [](const graph::Capture& capture) { return capture.call_count(); });
}

}  // namespace keyway::inline v1::python
