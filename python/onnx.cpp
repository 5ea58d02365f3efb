// What keyway/onnx.py is made of.
#include <keyway/core/base/error.h>
#include <keyway/onnx/export.h>
#include <keyway/onnx/onnx.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <map>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace keyway::inline v1::python {
namespace {

using onnx::Model;
using onnx::Sequence;
using onnx::Strings;
using onnx::Value;

// Texts in lists of lists, all of one length.
void add_texts(nb::handle object, std::size_t depth, Strings& strings) {
  if (PyUnicode_Check(object.ptr())) {
    KEYWAY_CHECK(depth == strings.sizes.size(), "a tensor of texts: the lists are nested differently");
    strings.elements.push_back(nb::cast<std::string>(object));
    return;
  }
  KEYWAY_CHECK_AS(Type, PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()),
                  "a tensor of texts is a str or a list of such, not {}", class_name(object));
  const auto size = static_cast<std::int64_t>(nb::len(object));
  const bool is_first = depth == strings.sizes.size() && strings.elements.empty();
  if (is_first) strings.sizes.push_back(size);
  KEYWAY_CHECK(depth < strings.sizes.size() && strings.sizes[depth] == size,
               "a tensor of texts: the lists differ in length");
  for (const nb::handle element : nb::iter(object)) add_texts(element, depth + 1, strings);
}

// An object as the model's type says: "optional of ", "sequence of ", "string[...]" or a dtype with sizes.
Value value_of(nb::handle object, std::string_view type) {
  constexpr std::string_view kOptional = "optional of ";
  constexpr std::string_view kSequence = "sequence of ";
  if (type.starts_with(kOptional)) {
    if (object.is_none()) return {};
    return value_of(object, type.substr(kOptional.size()));
  }
  if (type.starts_with(kSequence)) {
    KEYWAY_CHECK_AS(Type, PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()), "a {} is a list, not {}", type,
                    class_name(object));
    Sequence sequence;
    for (const nb::handle element : nb::iter(object))
      sequence.push_back(value_of(element, type.substr(kSequence.size())));
    return sequence;
  }
  if (type.starts_with("string[")) {
    Strings strings;
    add_texts(object, 0, strings);
    return strings;
  }
  if (PyBool_Check(object.ptr())) return Scalar(object.ptr() == Py_True);
  if (PyLong_Check(object.ptr())) return Scalar(nb::cast<std::int64_t>(object));
  if (PyFloat_Check(object.ptr())) return Scalar(nb::cast<double>(object));
  KEYWAY_CHECK_AS(Type, is_tensor(object.ptr()), "a {} is a tensor, not {}", type, class_name(object));
  return tensor_in(object.ptr());
}

nb::object nested_texts(const Strings& strings, std::size_t depth, std::size_t& at) {
  if (depth == strings.sizes.size()) return nb::cast(strings.elements[at++]);
  nb::list list;
  for (std::int64_t i = 0; i < strings.sizes[depth]; ++i) list.append(nested_texts(strings, depth + 1, at));
  return list;
}

nb::object object_of_value(const Value& value) {
  if (const auto* const tensor = std::get_if<Tensor>(&value)) return to_object(*tensor);
  if (const auto* const strings = std::get_if<Strings>(&value)) {
    std::size_t at = 0;
    return nested_texts(*strings, 0, at);
  }
  if (const auto* const sequence = std::get_if<Sequence>(&value)) {
    nb::list list;
    for (const Value& element : *sequence) list.append(object_of_value(element));
    return list;
  }
  return nb::none();
}

using Arguments = std::vector<std::pair<std::string, std::string>>;
Arguments arguments_of(const std::vector<Model::Argument>& arguments) {
  Arguments pairs;
  for (const Model::Argument& argument : arguments) pairs.emplace_back(argument.name, argument.type);
  return pairs;
}

nb::list run(const Model& model, const nb::dict& inputs) {
  std::map<std::string, Value> values;
  for (const auto [key, object] : inputs) {
    const auto name = nb::cast<std::string>(key);
    std::string_view type = "tensor";  // of no input: run() says so
    for (const Model::Argument& argument : model.inputs()) {
      if (argument.name == name) type = argument.type;
    }
    values.emplace(name, value_of(object, type));
  }
  const std::vector<Value> outputs = unlocked([&] { return model.run(values); });
  nb::list list;
  for (const Value& output : outputs) list.append(object_of_value(output));
  return list;
}

}  // namespace

void add_onnx(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def_prop_ro("inputs", [](const Model& model) { return arguments_of(model.inputs()); })
      .def_prop_ro("required_inputs", &Model::required_inputs)
      .def_prop_ro("outputs", [](const Model& model) { return arguments_of(model.outputs()); })
      .def("run", run, nb::arg("inputs"));
  module.def(
      "load",
      [](const nb::bytes& path) {
        const std::string name(path.c_str(), path.size());
        return std::const_pointer_cast<Model>(unlocked([&] { return onnx::load(name); }));
      },
      nb::arg("path"));
  module.def(
      "load_bytes",
      [](const nb::bytes& bytes) {
        const std::string_view view(bytes.c_str(), bytes.size());
        return std::const_pointer_cast<Model>(unlocked([&] { return onnx::load_bytes(view); }));
      },
      nb::arg("bytes"));
  module.def(
      "export_program",
      [](const graph::Program& program, const nb::bytes& path, int opset_version,
         const std::vector<std::string>& input_names, const std::vector<std::string>& output_names,
         std::optional<bool> external_data) {
        const std::string name(path.c_str(), path.size());
        const onnx::ExportOptions options{opset_version, external_data, input_names, output_names};
        unlocked([&] { onnx::export_program(program, name, options); });
      },
      nb::arg("program"), nb::arg("path"), nb::arg("opset_version"), nb::arg("input_names"), nb::arg("output_names"),
      nb::arg("external_data").none());
  module.def(
      "export_bytes",
      [](const graph::Program& program, int opset_version, const std::vector<std::string>& input_names,
         const std::vector<std::string>& output_names) {
        const onnx::ExportOptions options{opset_version, false, input_names, output_names};
        const std::string bytes = unlocked([&] { return onnx::export_bytes(program, options); });
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("program"), nb::arg("opset_version"), nb::arg("input_names"), nb::arg("output_names"));
  module.def("exportable_operators", onnx::exportable_operators);
  module.def("operators", [] {
    std::vector<std::tuple<std::string, std::string, int>> list;
    for (const onnx::OperatorInfo& op : onnx::operators()) list.emplace_back(op.domain, op.name, op.since);
    return list;
  });
}

}  // namespace keyway::inline v1::python
