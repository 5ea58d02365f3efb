// TensorObject: the Python object of a tensor. A tensor has one object as long as anybody holds that: `w.grad is
// w.grad`, and attributes of a tensor that only C++ holds for a while are still there when it comes back.
#pragma once

#include <keyway/python/nanobind.h>
#include <keyway/tensor.h>

#include <utility>
#include <vector>

namespace keyway::inline v1::python {

struct TensorObject {
  PyObject_HEAD Tensor tensor;
  PyObject* dict;
  PyObject* weak_references;
  // Of a leaf: dicts of functions, number by number; null as long as there were none. Those of other tensors are their
  // node's.
  PyObject* hooks;
  PyObject* post_accumulate_hooks;
};

// The class keyway.Tensor, once add_tensor_class has made it. Its methods that are operators are added by
// add_operators.
extern PyTypeObject* tensor_class;

// Gives the class a method: `function`, and what nanobind is to know of it.
template <typename... Extra>
void add_tensor_method(const char* name, Extra&&... function) {
  nb::handle(tensor_class).attr(name) =
      nb::cpp_function(std::forward<Extra>(function)..., nb::name(name), nb::is_method());
}

// A function as a slot of a Python type.
template <auto function>
PyType_Slot type_slot(int id) {
  return {id, reinterpret_cast<void*>(function)};
}

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_class || PyType_IsSubtype(Py_TYPE(object), tensor_class) != 0;
}
// The object that a tensor has; null if it has none. It may be one that only C++ holds, without its tensor.
TensorObject* object_of(const TensorImpl& tensor);
// Requires: is_tensor(object).
inline const Tensor& tensor_in(PyObject* object) { return reinterpret_cast<TensorObject*>(object)->tensor; }

// The object of a tensor, an old one or a new one; None for an undefined tensor. Throw nb::python_error.
nb::object to_object(TensorBase tensor);
// A tuple of these.
nb::object to_tuple(const std::vector<Tensor>& tensors);
// A new object of a subclass of Tensor, and a new tensor over the memory of `tensor` if that has an object already.
nb::object to_object_of(PyTypeObject* subclass, const Tensor& tensor);

}  // namespace keyway::inline v1::python

// Functions that are bound with nanobind take and give Tensor; where None is an undefined one, they take
// std::optional<Tensor>.
namespace nanobind::detail {
template <>
struct type_caster<keyway::Tensor> {
  NB_TYPE_CASTER(keyway::Tensor, const_name("Tensor"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (!keyway::python::is_tensor(source.ptr())) return false;
    value = keyway::python::tensor_in(source.ptr());
    return true;
  }
  static handle from_cpp(const keyway::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    try {
      return keyway::python::to_object(tensor).release();
    } catch (python_error& error) {
      error.restore();
      return {};
    }
  }
};
}  // namespace nanobind::detail
