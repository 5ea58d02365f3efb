// NumPy's classes, known without importing NumPy: an object can only be of one of them once somebody has.
#pragma once

#include <keyway/core/dtype/scalar.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

// Whether `object` is a numpy.ndarray.
bool is_numpy_array(PyObject* object);
// Whether `object` is a scalar of NumPy, as numpy.float32(2).
bool is_numpy_scalar(PyObject* object);
// The number that a scalar of NumPy is; false if it is no number.
bool to_scalar_of_numpy(PyObject* object, Scalar& scalar);
// The truth that a numpy.bool_ is; false if it is of another type.
bool to_bool_of_numpy(PyObject* object, bool& truth);

}  // namespace keyway::inline v1::python
