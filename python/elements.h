// Elements of nested sequences: which dtype a number asks for, and its value in one.
#pragma once

#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/python/nanobind.h>

#include <optional>

namespace keyway::inline v1::python {

// The dtype that a number of Python or a tensor of one element has; nullopt for anything else.
std::optional<ScalarType> dtype_of_element(PyObject* object);

// The number that `object` is, for an element of `dtype`. Errors (Type): it is none; a complex one in a real dtype.
Scalar element_in(PyObject* object, ScalarType dtype);

// Its value as an element. Floats that are too large for a narrow float are infinite there, as in PyTorch. Errors:
// those of element_in; Value for a number that an integer dtype does not hold.
template <typename T>
T element_of(PyObject* object) {
  constexpr ScalarType dtype = cpp_type_to_scalar_type<T>;
  if constexpr (kIsComplex<T>) {
    const auto number = element_in(object, dtype).to<complex<double>>();
    return T(static_cast<typename T::value_type>(number.real()), static_cast<typename T::value_type>(number.imag()));
  } else if constexpr (is_floating_point(dtype)) {
    const bool is_float = PyFloat_CheckExact(object) != 0;
    return static_cast<T>(is_float ? PyFloat_AS_DOUBLE(object) : element_in(object, dtype).to<double>());
  } else {
    return element_in(object, dtype).to<T>();
  }
}

}  // namespace keyway::inline v1::python
