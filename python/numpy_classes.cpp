#include <keyway/python/errors.h>
#include <keyway/python/numpy_classes.h>
#include <keyway/python/values.h>

#include <utility>

namespace keyway::inline v1::python {
namespace {

struct NumpyClasses {
  nb::object array, generic, truth, integer, floating, complex;
};

// Null before NumPy is imported, and while it is.
const NumpyClasses* numpy_classes() {
  static const NumpyClasses* classes = nullptr;  // guarded by the interpreter lock
  if (classes != nullptr) return classes;
  const nb::object numpy = nb::borrow(PyDict_GetItemString(PyImport_GetModuleDict(), "numpy"));
  if (!numpy.is_valid()) return nullptr;
  NumpyClasses found;
  const auto find = [&](const char* name, nb::object& target) {
    target = nb::steal(PyObject_GetAttrString(numpy.ptr(), name));
    if (!target.is_valid()) PyErr_Clear();
    return target.is_valid() && PyType_Check(target.ptr());
  };
  const bool all = find("generic", found.generic) && find("bool_", found.truth) && find("integer", found.integer) &&
                   find("floating", found.floating) && find("complexfloating", found.complex) &&
                   find("ndarray", found.array);
  if (all) classes = new NumpyClasses(std::move(found));  // as long as the program
  return classes;
}

bool is_a(PyObject* object, const nb::object& type) {
  return PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(type.ptr())) != 0;
}

}  // namespace

bool is_numpy_array(PyObject* object) {
  const NumpyClasses* const numpy = numpy_classes();
  return numpy != nullptr && is_a(object, numpy->array);
}

bool is_numpy_scalar(PyObject* object) {
  const NumpyClasses* const numpy = numpy_classes();
  return numpy != nullptr && is_a(object, numpy->generic);
}

bool to_scalar_of_numpy(PyObject* object, Scalar& scalar) {
  if (!is_numpy_scalar(object)) return false;
  const NumpyClasses& numpy = *numpy_classes();
  if (is_a(object, numpy.floating)) {
    scalar = Scalar(checked_double(object));
  } else if (is_a(object, numpy.complex)) {
    const Py_complex number = PyComplex_AsCComplex(object);
    if (PyErr_Occurred() != nullptr) rethrow_python_error();
    scalar = Scalar(complex<double>(number.real, number.imag));
  } else if (is_a(object, numpy.integer)) {
    return to_scalar(checked(PyNumber_Index(object)).ptr(), scalar);
  } else {
    bool truth = false;
    if (!to_bool_of_numpy(object, truth)) return false;
    scalar = Scalar(truth);
  }
  return true;
}

bool to_bool_of_numpy(PyObject* object, bool& truth) {
  const NumpyClasses* const numpy = numpy_classes();
  if (numpy == nullptr || !is_a(object, numpy->truth)) return false;
  const int value = PyObject_IsTrue(object);
  if (value < 0) rethrow_python_error();
  truth = value != 0;
  return true;
}

}  // namespace keyway::inline v1::python
