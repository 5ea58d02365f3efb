#include <keyway/core/base/error.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/python/elements.h>
#include <keyway/python/errors.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

namespace keyway::inline v1::python {
namespace {

bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object); }

}  // namespace

std::optional<ScalarType> dtype_of_element(PyObject* object) {
  if (PyFloat_Check(object)) return get_default_dtype();
  if (PyBool_Check(object)) return kBool;
  if (PyLong_Check(object)) return kLong;
  if (PyComplex_Check(object)) return get_default_complex_dtype();
  if (is_tensor(object)) return tensor_in(object).dtype();
  return std::nullopt;
}

Scalar element_in(PyObject* object, ScalarType dtype) {
  Scalar number;
  if (is_tensor(object)) {
    KEYWAY_CHECK(tensor_in(object).numel() == 1,
                 "only tensors of one element can be elements, not one of shape {}: keyway.stack puts tensors together",
                 tensor_in(object).sizes());
    number = tensor_in(object).item();
  } else if (!is_integral(dtype, true) && PyLong_Check(object)) {
    number = Scalar(checked_double(object));  // any size
  } else if (is_bool(dtype) && PyLong_Check(object)) {
    number = Scalar(PyObject_IsTrue(object) == 1);  // any size
  } else if (!to_scalar(object, number)) {
    const PyNumberMethods* const slots = Py_TYPE(object)->tp_as_number;
    const bool has_float = slots != nullptr && slots->nb_float != nullptr && !is_text(object);
    KEYWAY_CHECK_AS(Type, has_float, "a {} is no number", class_name(object));
    number = Scalar(checked_double(object));
  }
  KEYWAY_CHECK_AS(Type, !number.is_complex() || is_complex(dtype) || is_bool(dtype),
                  "must be a real number for {}, not a complex one", dtype);
  return number;
}

}  // namespace keyway::inline v1::python
