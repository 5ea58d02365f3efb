#include <keyway/core/schema/schema.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/python/results.h>
#include <keyway/python/text.h>
#include <keyway/python/tuples.h>
#include <keyway/python/values.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

// The fields of a result one below the other, as PyTorch writes them.
nb::object text_of(nb::handle result, const std::vector<std::string>& names) {
  std::string text = names.front() + "(";
  for (std::size_t i = 1; i < names.size(); ++i) {
    const nb::object value = checked(PySequence_GetItem(result.ptr(), static_cast<Py_ssize_t>(i - 1)));
    text += (i == 1 ? "\n" : ",\n") + names[i] + "=" + nb::repr(value).c_str();
  }
  return to_str(text + ")");
}

// The class of results with names, made when first needed and kept for the length of the program.
PyTypeObject* named_tuple_class(const FunctionSchema& schema) {
  static std::map<std::string, PyTypeObject*, std::less<>> classes;  // guarded by the interpreter lock
  std::string key(schema.name());
  for (const Argument result : schema.returns()) key += " " + std::string(result.name());
  if (const auto known = classes.find(key); known != classes.end()) return known->second;

  // What it is made of must outlive it.
  auto* const names = new std::vector<std::string>{"keyway.return_types." + std::string(schema.name())};
  for (const Argument result : schema.returns()) names->emplace_back(result.name());
  auto* const fields = new std::vector<PyStructSequence_Field>();
  for (std::size_t i = 1; i < names->size(); ++i) fields->push_back({(*names)[i].c_str(), nullptr});
  fields->push_back({nullptr, nullptr});
  PyStructSequence_Desc description{names->front().c_str(), nullptr, fields->data(),
                                    static_cast<int>(schema.returns().size())};
  PyTypeObject* const made = PyStructSequence_NewType(&description);
  if (made == nullptr) rethrow_python_error();
  const nb::handle type(reinterpret_cast<PyObject*>(made));
  type.attr("__repr__") = nb::cpp_function([names](nb::handle self) { return text_of(self, *names); },
                                           nb::name("__repr__"), nb::is_method(), nb::scope(type));
  return classes.emplace(std::move(key), made).first->second;
}

bool has_names(const FunctionSchema& schema) {
  return std::ranges::none_of(schema.returns(), [](Argument result) { return result.name().empty(); });
}

}  // namespace

void add_return_types(nb::module_& module) {
  nb::module_ types = module.def_submodule("_return_types");
  nb::list names;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const std::string name(op.schema().name());
    if (op.schema().returns().size() < 2 || !has_names(op.schema()) || nb::hasattr(types, name.c_str())) continue;
    types.attr(name.c_str()) = nb::borrow(reinterpret_cast<PyObject*>(named_tuple_class(op.schema())));
    names.append(nb::str(name.c_str()));
  }
  types.attr("__all__") = names;
}

nb::object results(const OperatorHandle& op, Stack& stack) {
  if (stack.size() == 1) return to_object(std::move(stack[0]));
  if (stack.empty()) return nb::none();
  const auto item = [&](std::size_t i) { return to_object(std::move(stack[i])); };
  if (!has_names(op.schema())) return tuple_of(stack.size(), item);
  return filled(checked(PyStructSequence_New(named_tuple_class(op.schema()))), item);
}

}  // namespace keyway::inline v1::python
