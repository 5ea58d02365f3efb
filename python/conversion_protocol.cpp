#include <keyway/core/base/error.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/python/batching.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_method.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

#include <array>

namespace keyway::inline v1::python {
namespace {

// The only element. `what` is what it was to become.
nb::object only_element(PyObject* self, const char* what) {
  const Tensor& tensor = tensor_in(self);
  KEYWAY_CHECK(tensor.numel() == 1, "a tensor of {} elements has no {}", tensor.numel(), what);
  return checked(call_method<"item">(self));
}

int to_bool(PyObject* self) {
  const std::int64_t size = tensor_in(self).numel();
  KEYWAY_CHECK(size != 0, "whether a Tensor with no values is true is ambiguous");
  KEYWAY_CHECK(size == 1, "whether a Tensor with more than one value is true is ambiguous");
  return PyObject_IsTrue(only_element(self, "truth").ptr());
}

PyObject* to_int(PyObject* self) {
  const nb::object number = only_element(self, "integer value");
  KEYWAY_CHECK_AS(Type, !PyComplex_Check(number.ptr()), "a complex number has no integer value");
  return PyNumber_Long(number.ptr());
}

PyObject* to_float(PyObject* self) {
  const nb::object number = only_element(self, "floating-point value");
  if (!PyComplex_Check(number.ptr())) return PyNumber_Float(number.ptr());
  KEYWAY_CHECK(PyComplex_ImagAsDouble(number.ptr()) == 0, "a complex number with an imaginary part is no float");
  return PyFloat_FromDouble(PyComplex_RealAsDouble(number.ptr()));
}

PyObject* to_complex(PyObject* self, PyObject*) {
  const nb::object number = only_element(self, "complex value");
  return PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), number.ptr());
}

PyObject* to_index(PyObject* self) {
  const Tensor& tensor = tensor_in(self);
  KEYWAY_CHECK_AS(Type, is_integral(tensor.dtype(), true) && tensor.numel() == 1,
                  "only integer tensors of one element can be converted to an index, not {}", describe(tensor));
  return PyNumber_Long(only_element(self, "index").ptr());
}

Py_ssize_t length(PyObject* self) {
  KEYWAY_CHECK_AS(Type, tensor_in(self).dim() > 0, "a tensor without dimensions has no len()");
  return tensor_in(self).size(0);
}

PyObject* iterate(PyObject* self) {
  KEYWAY_CHECK_AS(Type, tensor_in(self).dim() > 0, "a tensor without dimensions cannot be iterated over");
  return PyObject_GetIter(checked(call_method<"unbind">(self)).ptr());
}

int contains(PyObject* self, PyObject* value) {
  Scalar number;
  KEYWAY_CHECK_AS(Type, is_tensor(value) || to_scalar(value, number),
                  "a Tensor contains numbers and tensors; there is no {} in it", class_name(value));
  const nb::object equal = checked(call_method<"eq">(self, value));
  const nb::object count = checked(call_method<"sum">(equal.ptr()));
  return PyObject_IsTrue(count.ptr());
}

PyObject* reverse(PyObject* self, PyObject*) {
  if (tensor_in(self).dim() == 0) return Py_NewRef(self);
  const nb::object dims = nb::make_tuple(0);
  return call_method<"flip">(self, dims.ptr());
}

// The elements from dimension `dim` on, as nested lists.
template <typename T>
nb::object to_list(const Tensor& tensor, std::size_t dim, const T* data) {
  if (dim == tensor.sizes().size()) return to_object(Scalar(*data));
  const std::int64_t size = tensor.sizes()[dim];
  nb::object list = checked(PyList_New(size));
  for (std::int64_t i = 0; i < size; ++i)
    PyList_SET_ITEM(list.ptr(), i, to_list(tensor, dim + 1, data + i * tensor.strides()[dim]).release().ptr());
  return list;
}

// While there is one, the garbage collector does not run: it can run anything, which may give a tensor other memory.
class NoCollection {
 public:
  NoCollection() : was_enabled_(PyGC_Disable() != 0) {}
  NoCollection(const NoCollection&) = delete;
  NoCollection& operator=(const NoCollection&) = delete;
  ~NoCollection() {
    if (was_enabled_) PyGC_Enable();
  }

 private:
  bool was_enabled_;
};

nb::object tolist(PyObject* self, PyObject*) {
  Tensor tensor = tensor_in(self);
  check_has_memory(tensor, "tolist");
  const ExcludeDispatchKeyGuard no_modes{DispatchKeySet(Functionality::Python)};  // whose answers may have no memory
  if (!tensor.is_cpu()) tensor = unlocked([&] { return tensor.detach().cpu(); });
  const NoCollection atomic;
  return visit_dtype<(kAnyTypes | kFloat8Types)>(
      tensor.dtype(), "tolist", [&]<typename T>() { return to_list(tensor, 0, tensor.const_data_ptr<T>()); });
}

PyMethodDef methods[] = {
    {"__complex__", guarded<to_complex>, METH_NOARGS, "The only element as a complex number."},
    {"__reversed__", guarded<reverse>, METH_NOARGS, "The tensor with its first dimension reversed."},
    {"tolist", guarded<tolist>, METH_NOARGS,
     "The elements as Python's numbers in nested lists, one level a dimension; of a tensor without dimensions a "
     "number."},
};

}  // namespace

std::span<const PyType_Slot> conversion_slots() {
  static const std::array slots = {
      type_slot<guarded<to_bool>>(Py_nb_bool),      type_slot<guarded<to_int>>(Py_nb_int),
      type_slot<guarded<to_float>>(Py_nb_float),    type_slot<guarded<to_index>>(Py_nb_index),
      type_slot<guarded<length>>(Py_mp_length),     type_slot<guarded<iterate>>(Py_tp_iter),
      type_slot<guarded<contains>>(Py_sq_contains),
  };
  return slots;
}

void add_conversions() {
  for (PyMethodDef& method : methods)
    nb::handle(tensor_class).attr(method.ml_name) = checked(PyDescr_NewMethod(tensor_class, &method));
}

}  // namespace keyway::inline v1::python
