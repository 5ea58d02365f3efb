#include <keyway/core/base/custom_class.h>
#include <keyway/python/custom_classes.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>

#include <functional>
#include <map>
#include <nanobind/stl/string.h>
#include <new>
#include <string>
#include <utility>

namespace keyway::inline v1::python {
namespace {

// The Python class of a registered one. Never freed, as other classes; what was registered anew gets another.
struct PythonClass {
  intrusive_ptr<CustomClass> of;
  PyObject* type = nullptr;
};

const char* kind_of(ClassMember::Kind kind) {
  switch (kind) {
    case ClassMember::Kind::Constructor: return "constructor";
    case ClassMember::Kind::Static: return "static";
    case ClassMember::Kind::Property: return "property";
    default: return "method";
  }
}

// keyway/_library/classes.py makes it of the names, and of the operators that the functions are.
nb::handle python_class(const intrusive_ptr<CustomClass>& of) {
  static auto& known = *new std::map<std::string, PythonClass, std::less<>>;  // guarded by the interpreter lock
  if (const auto found = known.find(of->name()); found != known.end() && found->second.of == of)
    return found->second.type;
  const CustomClassInfo& info = of->info();
  nb::list members;
  for (const ClassMember& member : info.members)
    members.append(nb::make_tuple(kind_of(member.kind), member.name, member.op, member.setter, member.doc));
  nb::object type = nb::module_::import_("keyway._library.classes").attr("make_class")(info.name, info.doc, members);
  PythonClass& kept = known[of->name()];
  kept = {of, type.release().ptr()};
  return kept.type;
}

nb::object class_of_name(const std::string& name) {
  const auto found = CustomClass::find(name);
  return found ? nb::borrow(python_class(found)) : nb::none();
}

nb::list class_names() {
  nb::list names;
  for (const auto& each : CustomClass::all()) names.append(each->name());
  return names;
}

}  // namespace

nb::object to_object(const CustomObject& object) {
  if (!object.defined()) return nb::none();
  const auto of = CustomClass::of(*object.holder(), typeid(CustomClassHolder));
  nb::object made = nb::inst_alloc(python_class(of));
  new (nb::inst_ptr<CustomObject>(made)) CustomObject(object);
  nb::inst_mark_ready(made);
  return made;
}

void add_custom_classes(nb::module_& module) {
  nb::class_<CustomObject>(module, "ScriptObject", "An object of a class that a library of C++ registered.")
      .def(
          "__eq__",
          [](const CustomObject& self, nb::handle other) {
            CustomObject same;
            return nb::try_cast(other, same) && same.is(self);
          },
          nb::arg("other").none())
      .def("__hash__", [](const CustomObject& self) { return std::hash<const void*>()(self.holder().get()); });
  module.def("_custom_class", class_of_name, nb::arg("name"));
  module.def("_custom_class_names", class_names);
}

}  // namespace keyway::inline v1::python
