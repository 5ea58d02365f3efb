// What keyway/utils/tensorboard.py is made of.
#include <keyway/core/base/error.h>
#include <keyway/nn/tensorboard/summary_writer.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>

#include <cstdint>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

using Writer = nn::SummaryWriter;
using Step = Writer::Step;
using Time = Writer::Time;

Writer::GraphNode::Attribute attribute_of(std::string_view name, nb::handle value) {
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
  if (PyUnicode_Check(value.ptr())) return nb::cast<std::string>(value);
  std::int64_t number = 0;
  if (nb::try_cast(value, number)) return number;
  std::vector<std::int64_t> numbers;
  KEYWAY_CHECK_AS(Type, nb::try_cast(value, numbers),
                  "add_graph(): attribute '{}' is a {}, but must be str, bool, int, float or a sequence of ints", name,
                  class_name(value));
  return numbers;
}

// A tuple of a node's fields, in their order.
Writer::GraphNode node_of(const nb::tuple& fields) {
  Writer::GraphNode node{nb::cast<std::string>(fields[0]), nb::cast<std::string>(fields[1]),
                         nb::cast<std::vector<std::string>>(fields[2])};
  for (const auto [key, value] : nb::cast<nb::dict>(fields[3])) {
    const std::string name(text_in(key.ptr()));
    node.attributes.emplace_back(name, attribute_of(name, value));
  }
  node.output_shapes = nb::cast<std::vector<std::vector<std::int64_t>>>(fields[4]);
  node.device = nb::cast<std::string>(fields[5]);
  return node;
}

void make_writer(Writer* self, const nb::bytes& log_dir, std::string suffix, std::size_t max_queue, double flush_secs,
                 Step purge_step) {
  std::string folder(log_dir.c_str(), log_dir.size());
  const LockReleased unlocked;
  new (self) Writer(std::move(folder), {std::move(suffix), max_queue, flush_secs, purge_step});
}

void add_histogram_of(Writer& self, const std::string& tag, nb::handle values, Step step,
                      const std::optional<std::vector<double>>& bins, Time walltime, std::size_t max_bins) {
  KEYWAY_CHECK_AS(Type, is_tensor(values.ptr()), "add_histogram(): argument 'values' is a {}", class_name(values));
  const Tensor tensor = tensor_in(values.ptr());
  const LockReleased unlocked;
  self.add_histogram(tag, tensor, step, bins ? *bins : Writer::tensorflow_bins(), walltime, max_bins);
}

void add_graph_of(Writer& self, const nb::list& nodes, Time walltime) {
  std::vector<Writer::GraphNode> graph;
  for (const nb::handle node : nodes) graph.push_back(node_of(nb::cast<nb::tuple>(node)));
  const LockReleased unlocked;
  self.add_graph(graph, walltime);
}

}  // namespace

void add_tensorboard(nb::module_& module) {
  nb::class_<Writer>(module, "_SummaryWriter")
      .def("__init__", make_writer, nb::arg("log_dir"), nb::arg("filename_suffix"), nb::arg("max_queue"),
           nb::arg("flush_secs"), nb::arg("purge_step").none())
      .def(
          "add_scalar",
          [](Writer& self, const std::string& tag, double value, Step step, Time walltime) {
            unlocked([&] { self.add_scalar(tag, value, step, walltime); });
          },
          nb::arg("tag"), nb::arg("value"), nb::arg("step").none(), nb::arg("walltime").none())
      .def(
          "add_scalars",
          [](Writer& self, const std::string& tag, const std::vector<std::pair<std::string, double>>& scalars,
             Step step, Time walltime) { unlocked([&] { self.add_scalars(tag, scalars, step, walltime); }); },
          nb::arg("tag"), nb::arg("scalars"), nb::arg("step").none(), nb::arg("walltime").none())
      .def("add_histogram", add_histogram_of, nb::arg("tag"), nb::arg("values"), nb::arg("step").none(),
           nb::arg("bins").none(), nb::arg("walltime").none(), nb::arg("max_bins"))
      .def(
          "add_text",
          [](Writer& self, const std::string& tag, const std::string& text, Step step, Time walltime) {
            unlocked([&] { self.add_text(tag, text, step, walltime); });
          },
          nb::arg("tag"), nb::arg("text"), nb::arg("step").none(), nb::arg("walltime").none())
      .def("add_graph", add_graph_of, nb::arg("nodes"), nb::arg("walltime").none())
      .def("flush", [](Writer& self) { unlocked([&] { self.flush(); }); })
      .def("close", [](Writer& self) { unlocked([&] { self.close(); }); });
}

}  // namespace keyway::inline v1::python
