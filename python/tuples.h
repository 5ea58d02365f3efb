// Tuples of what a function gives for each position.
#pragma once

#include <keyway/python/errors.h>

#include <cstddef>

namespace keyway::inline v1::python {

// `tuple`: a new one, also of a derived class, whose items are missing. Nobody can find it before it is whole, through
// the garbage collector.
template <typename Item>
nb::object filled(nb::object tuple, Item&& item) {
  const Py_ssize_t size = PyTuple_GET_SIZE(tuple.ptr());
  if (size == 0) return tuple;
  PyObject_GC_UnTrack(tuple.ptr());
  for (Py_ssize_t i = 0; i < size; ++i)
    PyTuple_SET_ITEM(tuple.ptr(), i, nb::object(item(static_cast<std::size_t>(i))).release().ptr());
  PyObject_GC_Track(tuple.ptr());
  return tuple;
}

template <typename Item>
nb::object tuple_of(std::size_t size, Item&& item) {
  return filled(checked(PyTuple_New(static_cast<Py_ssize_t>(size))), item);
}

}  // namespace keyway::inline v1::python
