#include <keyway/core/base/error.h>
#include <keyway/python/errors.h>
#include <keyway/python/function_overrides.h>
#include <keyway/python/module.h>
#include <keyway/python/text.h>
#include <keyway/python/tuples.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

constinit thread_local bool overrides_disabled = false;

PyObject* method_name() {
  static PyObject* const name = interned("__keyway_function__");
  return name;
}
// Tensor's own, which is what happens without an override.
PyObject* default_method = nullptr;

// Only classes that are made at run time can define the method.
bool overrides(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type == tensor_class || (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return false;
  PyObject* const method = _PyType_Lookup(type, method_name());
  return method != nullptr && method != default_method;
}

// Calls `visit` with the arguments, and with the elements of lists and tuples among them, until it gives true.
template <typename Visit>
bool any_argument(PyObject* object, Visit&& visit) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) return visit(object);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    if (visit(PySequence_Fast_GET_ITEM(object, i))) return true;
  }
  return false;
}

// One argument of each class that has an override, in the order in which they are asked: subclasses before their bases,
// else as they stand in the call.
class OverridingArguments {
 public:
  void add(PyObject* object) {
    (void)any_argument(object, [&](PyObject* item) {
      if (overrides(item)) insert(item);
      return false;
    });
  }
  const std::vector<nb::object>& objects() const { return objects_; }
  nb::tuple types() const {
    return nb::tuple(tuple_of(objects_.size(), [&](std::size_t i) { return nb::borrow(objects_[i].type()); }));
  }

 private:
  void insert(PyObject* object) {
    PyTypeObject* const type = Py_TYPE(object);
    for (const nb::object& known : objects_) {
      if (Py_TYPE(known.ptr()) == type) return;
    }
    const auto next = std::ranges::find_if(
        objects_, [&](const nb::object& known) { return PyType_IsSubtype(type, Py_TYPE(known.ptr())) != 0; });
    objects_.insert(next, nb::borrow(object));
  }
  std::vector<nb::object> objects_;
};

nb::object ask(const OverridingArguments& arguments, nb::handle function, const nb::tuple& args,
               const nb::dict& kwargs) {
  const nb::tuple types = arguments.types();
  for (const nb::object& object : arguments.objects()) {
    const nb::object method =
        checked(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())), method_name()));
    nb::object answer = method(function, types, args, kwargs);
    if (!answer.is(nb::handle(Py_NotImplemented))) return answer;
  }
  std::string names;
  for (const nb::handle type : types) names += (names.empty() ? "" : ", ") + nb::cast<std::string>(nb::repr(type));
  KEYWAY_FAIL(Type, "{}: none of the classes of its arguments answers it: {}",
              nb::cast<std::string>(nb::repr(function)), names);
}

// Overrides do not count on this thread while it is entered. It may be entered several times.
class DisableFunctionOverrides {
 public:
  void enter() { before_.push_back(std::exchange(overrides_disabled, true)); }
  void exit() {
    KEYWAY_CHECK(!before_.empty(), "DisableFunctionOverrides was left without being entered");
    overrides_disabled = before_.back();
    before_.pop_back();
  }

 private:
  std::vector<bool> before_;
};

bool has_overrides_in(const nb::args& relevant) {
  for (const nb::handle object : relevant) {
    if (detail::has_override(object.ptr())) return true;
  }
  return false;
}

nb::object call_overrides_of(nb::handle function, nb::handle relevant, const nb::tuple& args, const nb::dict& kwargs) {
  OverridingArguments overriding;
  for (const nb::handle object : relevant) overriding.add(object.ptr());
  return ask(overriding, function, args, kwargs);
}

}  // namespace

bool detail::has_override(PyObject* object) { return !overrides_disabled && any_argument(object, overrides); }

bool overrides_are_disabled() { return overrides_disabled; }

bool exchange_overrides_disabled(bool disabled) { return std::exchange(overrides_disabled, disabled); }

nb::object call_overrides(nb::handle function, const CallArguments& given) {
  OverridingArguments overriding;
  nb::list args;
  nb::dict kwargs;
  for (std::size_t i = 0; i < given.positional + given.keyword_count(); ++i) {
    const nb::handle value = given.values[i];
    overriding.add(value.ptr());
    if (i < given.positional) {
      args.append(value);
    } else {
      kwargs[nb::handle(given.keyword(i - given.positional))] = value;
    }
  }
  return ask(overriding, function, nb::tuple(args), kwargs);
}

void add_function_overrides(nb::module_& module) {
  nb::class_<DisableFunctionOverrides>(module, "DisableFunctionOverrides",
                                       "`with DisableFunctionOverrides()`: __keyway_function__ of arguments is not "
                                       "called on this thread.")
      .def(nb::init<>())
      .def("__enter__", &DisableFunctionOverrides::enter)
      .def("__exit__", [](DisableFunctionOverrides& self, const nb::args&) { self.exit(); });
  module.def("_has_overrides", has_overrides_in);
  module.def("_call_overrides", call_overrides_of);
  module.def("_set_default_override", [](nb::object method) { default_method = method.release().ptr(); });
}

}  // namespace keyway::inline v1::python
