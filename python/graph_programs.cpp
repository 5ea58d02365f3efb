#include <keyway/graph/effects.h>
#include <keyway/graph/formula.h>
#include <keyway/graph/program.h>
#include <keyway/python/graph_programs.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/tensor_object.h>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace keyway::inline v1::python {
namespace {

using graph::Program;
using NamedSizes = std::map<std::string, std::int64_t>;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

graph::Dimensions dimensions_of(const NamedSizes& sizes) { return {sizes.begin(), sizes.end()}; }
NamedSizes sizes_of(const graph::Dimensions& dimensions) { return {dimensions.begin(), dimensions.end()}; }

// The graph with names for its inputs: arguments in their order, state as it is named.
graph::Graph with_names(graph::Graph graph, const std::vector<std::string>& arguments, const NamedTensors& state) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    graph::Input& input = graph.inputs[i];
    if (!input.is_state) {
      input.name = arguments[i];
      continue;
    }
    for (const auto& [name, tensor] : state) {
      if (input.name.empty() && input.state.is_same(tensor)) input.name = name;
    }
  }
  return graph;
}

// The state whose memory the program writes to.
std::vector<Tensor> written_state(const graph::Graph& graph) {
  std::vector<bool> is_written(graph.values.size());
  for (const graph::Node& node : graph.nodes) {
    graph::for_each_written(node,
                            [&](graph::ValueId id) { is_written[graph::index(graph::memory_of(graph, id))] = true; });
  }
  std::vector<Tensor> written;
  for (const graph::Input& input : graph.inputs) {
    if (input.is_state && is_written[graph::index(graph::memory_of(graph, input.value))])
      written.push_back(input.state);
  }
  return written;
}

NamedTensors state_of(const Program& program) {
  NamedTensors state;
  for (const auto& [name, tensor] : program.state()) state.emplace_back(name, tensor);
  return state;
}

}  // namespace

void add_graph_programs(nb::module_& module, GraphObjects objects) {
  nb::class_<Program>(module, "Program")
      .def(
          "__init__",
          [objects](Program* self, const std::vector<nb::object>& captures, const std::vector<NamedSizes>& sizes,
                    const std::vector<std::string>& arguments, const NamedTensors& state) {
            std::vector<graph::Graph> graphs;
            std::vector<graph::Dimensions> dimensions;
            for (const nb::object& capture : captures)
              graphs.push_back(with_names(objects.graph_of(capture), arguments, state));
            for (const NamedSizes& its_sizes : sizes) dimensions.push_back(dimensions_of(its_sizes));
            new (self) Program(graphs, dimensions);
          },
          nb::arg("captures"), nb::arg("sizes"), nb::arg("arguments"), nb::arg("state"),
          "Of captures with arguments of other sizes, names of the arguments, and state with its names.")
      .def("__str__", [](const Program& program) { return program.text(); })
      .def("state", state_of)
      .def("notes", [](const Program& program) { return program.notes(); })
      .def("argument_count", &Program::argument_count)
      .def("argument_names", &Program::argument_names)
      .def("result_count", &Program::result_count)
      .def("dimensions", [](const Program& program) { return program.dimensions(); })
      .def(
          "dimensions_of",
          [](const Program& program, const std::vector<Tensor>& arguments) {
            return sizes_of(program.dimensions_of(arguments));
          },
          nb::arg("arguments"))
      .def(
          "graph",
          [objects](const Program& program, const NamedSizes& sizes) {
            return objects.object_of(program.graph(dimensions_of(sizes)));
          },
          nb::arg("sizes"))
      .def(
          "run",
          [](Program& program, const std::vector<Tensor>& arguments) {
            return unlocked([&] { return program.run(arguments); });
          },
          nb::arg("arguments"))
      .def(
          "save",
          [](const Program& program, const nb::bytes& path, const nn::Metadata& notes) {
            const std::string file(path.c_str(), path.size());
            unlocked([&] { program.save(file, notes); });
          },
          nb::arg("path"), nb::arg("notes"))
      .def(
          "serialize",
          [](const Program& program, const nn::Metadata& notes) {
            const std::string file = unlocked([&] { return program.serialize(notes); });
            return nb::bytes(file.data(), file.size());
          },
          nb::arg("notes"));
  module.def(
      "load_program",
      [](const nb::bytes& path) {
        const std::string file(path.c_str(), path.size());
        return unlocked([&] { return Program::load(file); });
      },
      nb::arg("path"));
  module.def(
      "parse_program",
      [](const nb::bytes& file) { return unlocked([&] {
                                    return Program::deserialize({file.c_str(), file.size()});
                                  }); },
      nb::arg("file"));
  module.def(
      "written_state", [objects](nb::handle graph) { return written_state(objects.graph_of(graph)); }, nb::arg("graph"),
      "The state whose memory the program writes to.");
  module.def(
      "telling_sizes",
      [objects](const std::vector<nb::object>& captures, const std::vector<NamedSizes>& sizes, const NamedSizes& lowest,
                const NamedSizes& highest) -> nb::object {
        std::vector<graph::Graph> graphs;
        std::vector<graph::Dimensions> dimensions;
        for (const nb::object& capture : captures) graphs.push_back(objects.graph_of(capture));
        for (const NamedSizes& its_sizes : sizes) dimensions.push_back(dimensions_of(its_sizes));
        const auto telling = Program::telling_sizes(graphs, dimensions, dimensions_of(lowest), dimensions_of(highest));
        return telling ? nb::cast(sizes_of(*telling)) : nb::none();
      },
      nb::arg("captures"), nb::arg("sizes"), nb::arg("lowest"), nb::arg("highest"),
      "Sizes to capture the program with that tell formulas apart which fit; None if none are needed.");
  module.def(
      "solve",
      [](const std::string& formula, std::int64_t value, const NamedSizes& sizes) -> nb::object {
        graph::Dimensions dimensions = dimensions_of(sizes);
        if (!graph::solve(formula, value, dimensions)) return nb::none();
        return nb::cast(sizes_of(dimensions));
      },
      nb::arg("formula"), nb::arg("value"), nb::arg("sizes"),
      "The sizes with that of the name for which the formula has the value; None if there is none.");
  module.def(
      "evaluate",
      [](const std::string& formula, const NamedSizes& sizes) {
        return graph::evaluate(formula, dimensions_of(sizes));
      },
      nb::arg("formula"), nb::arg("sizes"));
}

}  // namespace keyway::inline v1::python
