#include <keyway/core/base/error.h>
#include <keyway/ops/all.h>
#include <keyway/python/arrays.h>
#include <keyway/python/errors.h>
#include <keyway/python/index_items.h>
#include <keyway/python/sequences.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>
#include <keyway/python/warnings.h>

#include <optional>
#include <utility>

namespace keyway::inline v1::python {
namespace {

using indexing::TensorIndex;

TensorIndex read_slice(PyObject* slice) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice, &start, &stop, &step) != 0) rethrow_python_error();
  return indexing::Slice(start, stop, step);
}

bool is_sequence(PyObject* object) {
  return PySequence_Check(object) != 0 && !PyUnicode_Check(object) && !PyBytes_Check(object);
}

// A list or an array as an index tensor. Integers of any size count as such; without elements the dtype says nothing.
TensorIndex read_sequence(PyObject* sequence) {
  Tensor elements = is_array(sequence) ? tensor_of_array(sequence).tensor : tensor_of_sequence(sequence, std::nullopt);
  const ScalarType dtype = elements.dtype();
  if (elements.numel() == 0 ? dtype != kBool : is_integral(dtype, false) && dtype != kByte)
    elements = elements.to(kLong);
  return elements;
}

TensorIndex read_integer(PyObject* number) {
  int overflow = 0;
  const std::int64_t index = PyLong_AsLongLongAndOverflow(number, &overflow);
  KEYWAY_CHECK_AS(Index, overflow == 0, "an index does not fit in 64 bits");
  return index;
}

TensorIndex read_item(PyObject* object) {
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) return read_integer(object);
  if (PySlice_Check(object)) return read_slice(object);
  if (object == Py_None) return indexing::None;
  if (object == Py_Ellipsis) return indexing::Ellipsis;
  if (is_tensor(object)) return tensor_in(object);
  if (is_sequence(object)) return read_sequence(object);
  if (PyIndex_Check(object)) return read_integer(checked(PyNumber_Index(object)).ptr());
  Scalar number;  // bools of other libraries
  if (!PyFloat_Check(object) && to_scalar(object, number) && number.is_bool()) return number.to<bool>();
  KEYWAY_CHECK_AS(Type, !PyUnicode_Check(object), "an index cannot be a str");
  KEYWAY_FAIL(Index,
              "only integers, slices (`:`), ellipsis (`...`), None, bools, and tensors, lists or arrays of integers or "
              "bools are indices, not {}",
              class_name(object));
}

// A list that PyTorch takes for a tuple: one of fewer than 32 items that are not all numbers.
bool counts_as_tuple(PyObject* index) {
  if (!PyList_Check(index) || PyList_GET_SIZE(index) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(index); ++i) {
    PyObject* const item = PyList_GET_ITEM(index, i);
    if (is_tensor(item) || PySlice_Check(item) || item == Py_None || item == Py_Ellipsis || is_sequence(item))
      return true;
  }
  return false;
}

}  // namespace

void read_index(PyObject* index, IndexItems& items) {
  nb::object tuple;
  if (PyTuple_Check(index)) {
    tuple = nb::borrow(index);
  } else if (counts_as_tuple(index)) {
    tuple = checked(PySequence_Tuple(index));
    warn_user(
        "a list that indexes several dimensions is taken for a tuple, and will be an index tensor: write "
        "x[tuple(list)]");
  } else {
    items.push_back(read_item(index));
    return;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.ptr()); ++i)
    items.push_back(read_item(PyTuple_GET_ITEM(tuple.ptr(), i)));
}

}  // namespace keyway::inline v1::python
