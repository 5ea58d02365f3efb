#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/passes/decompose.h>
#include <keyway/python/graph_decompositions.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/operator_function.h>
#include <keyway/python/python_kernel.h>
#include <keyway/python/results.h>

#include <memory>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace keyway::inline v1::python {
namespace {

using graph::Decompositions;

const OperatorEntry& entry_named(const std::string& name) { return Dispatcher::singleton().op(name).entry(); }

// A function of Python as a decomposition.
AnyKernel kernel_of(nb::object function) {
  const auto kernel = std::make_shared<PythonKernel>(std::move(function), PythonKernel::Takes{});
  AnyKernel made = make_boxed_kernel(&PythonKernel::call, kernel.get());
  made.callable = kernel;
  return made;
}

}  // namespace

void add_graph_decompositions(nb::module_& module, GraphObjects objects) {
  nb::class_<Decompositions>(module, "Decompositions")
      .def(nb::init<>(), "Of no operator.")
      .def(
          "set",
          [](Decompositions& table, const std::string& op, nb::object function) {
            table.set_kernel(op, kernel_of(std::move(function)));
          },
          nb::arg("op"), nb::arg("function"), "A function of Python, for the operator of that full name.")
      .def(
          "set_from",
          [](Decompositions& table, const std::string& op, const Decompositions& other) {
            const AnyKernel* const found = other.find(entry_named(op));
            KEYWAY_CHECK(found != nullptr, "{} has no decomposition", op);
            table.set_kernel(op, *found);
          },
          nb::arg("op"), nb::arg("other"), "That of another table.")
      .def("operators", &Decompositions::operators, "The full names of the operators.")
      .def(
          "call",
          [](const Decompositions& table, nb::handle function, const nb::args& args, const nb::kwargs& kwargs) {
            ParsedCall call = parse_call(function, args, kwargs);
            unlocked([&] { graph::call_decomposition(table, call.op.entry(), call.stack); });
            return results(call.op, call.stack);
          },
          "call(overload, *args, **kwargs): makes a call of it by its decomposition.");
  module.def("default_decompositions", [] { return unlocked(graph::default_decompositions); });
  module.def(
      "decompose",
      [objects](nb::handle graph, const Decompositions& table) {
        const graph::Graph& calls = objects.graph_of(graph);
        return objects.object_of(unlocked([&] { return graph::decompose(calls, table); }));
      },
      nb::arg("graph"), nb::arg("table"));
}

}  // namespace keyway::inline v1::python
