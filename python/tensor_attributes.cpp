#include <keyway/autograd/variable.h>
#include <keyway/batching/batched_tensor.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/python/batching.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/size.h>
#include <keyway/python/tensor_attributes.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

#include <cstdint>
#include <nanobind/stl/optional.h>
#include <optional>

namespace nb = nanobind;

namespace keyway::inline v1::python {
namespace {

// A getter of an attribute: `get(tensor)` gives a nanobind::object.
template <auto get>
PyObject* getter(PyObject* self, void*) {
  return guarded([&]() -> PyObject* { return get(tensor_in(self)).release().ptr(); });
}

nb::object shape(const Tensor& self) { return to_size(self.sizes()); }
nb::object dtype(const Tensor& self) { return to_object(self.dtype()); }
nb::object device(const Tensor& self) { return to_object(self.device()); }
nb::object layout(const Tensor& self) { return to_object(self.layout()); }
nb::object ndim(const Tensor& self) { return nb::int_(self.dim()); }
// Of a tensor of an example, what the tensor of all examples says; of a dual one, what its primal says.
nb::object requires_grad(const Tensor& self) {
  if (const batching::BatchedValue* batched = batching::batched_value(self))
    return requires_grad(Tensor(batched->value()));
  return nb::bool_(forward::requires_grad(self));
}
nb::object is_leaf(const Tensor& self) { return nb::bool_(forward::innermost_primal(self).is_leaf()); }
nb::object grad(const Tensor& self) { return to_object(TensorBase(autograd::grad_of(self))); }
nb::object itemsize(const Tensor& self) { return nb::int_(self.itemsize()); }
nb::object nbytes(const Tensor& self) { return nb::int_(self.nbytes()); }
nb::object version(const Tensor& self) { return nb::int_(self._version()); }
nb::object is_cpu(const Tensor& self) { return nb::bool_(self.is_cpu()); }
nb::object is_cuda(const Tensor& self) { return nb::bool_(self.is_cuda()); }
nb::object is_meta(const Tensor& self) { return nb::bool_(self.is_meta()); }

// A setter: `set(tensor, value)`; the attribute cannot be deleted.
template <auto set>
int setter(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    KEYWAY_CHECK_AS(Type, value != nullptr, "this attribute of a Tensor cannot be deleted");
    set(tensor_in(self), value);
    return 0;
  });
}

void set_requires_grad(const Tensor& self, PyObject* value) {
  KEYWAY_CHECK_AS(Type, PyBool_Check(value), "requires_grad is True or False");
  KEYWAY_CHECK_AS(Autograd, self.is_leaf(),
                  "requires_grad can be set of leaves only, and this tensor was computed: take its detach()");
  autograd::set_requires_grad(self, value == Py_True);
}

void set_grad(const Tensor& self, PyObject* value) {
  KEYWAY_CHECK_AS(Type, value == Py_None || is_tensor(value), "grad is a Tensor or None");
  autograd::set_grad(self, value == Py_None ? Tensor() : tensor_in(value));
}

// `del x.grad` is `x.grad = None`.
int set_or_delete_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    set_grad(tensor_in(self), value == nullptr ? Py_None : value);
    return 0;
  });
}

PyGetSetDef attributes[] = {
    {"shape", getter<shape>, nullptr, "The sizes, a keyway.Size.", nullptr},
    {"dtype", getter<dtype>, nullptr, "The type of the elements.", nullptr},
    {"device", getter<device>, nullptr, "Where the data lies.", nullptr},
    {"layout", getter<layout>, nullptr, "How the elements lie in memory.", nullptr},
    {"ndim", getter<ndim>, nullptr, "The number of dimensions.", nullptr},
    {"requires_grad", getter<requires_grad>, setter<set_requires_grad>, "Whether gradients flow to this tensor.",
     nullptr},
    {"grad", getter<grad>, set_or_delete_grad, "What backward has accumulated, or None.", nullptr},
    {"is_leaf", getter<is_leaf>, nullptr, "Whether the tensor was not computed from one that requires a gradient.",
     nullptr},
    {"itemsize", getter<itemsize>, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", getter<nbytes>, nullptr, "Bytes of all elements.", nullptr},
    {"_version", getter<version>, nullptr, "How often the data was changed in place.", nullptr},
    {"is_cpu", getter<is_cpu>, nullptr, "Whether the data lies in the host's memory.", nullptr},
    {"is_cuda", getter<is_cuda>, nullptr, "Whether the data lies on a CUDA device.", nullptr},
    {"is_meta", getter<is_meta>, nullptr, "Whether the tensor has a shape and no data.", nullptr},
};

// A dimension that is asked for, or none.
std::optional<std::int64_t> asked_dim(nb::handle dim) {
  if (dim.is_none()) return std::nullopt;
  std::int64_t number = 0;
  KEYWAY_CHECK_AS(Type, !PyBool_Check(dim.ptr()) && nb::try_cast(dim, number), "argument 'dim' must be int, not {}",
                  Py_TYPE(dim.ptr())->tp_name);
  return number;
}

nb::object size(const Tensor& self, nb::handle dim) {
  const auto asked = asked_dim(dim);
  return asked ? nb::object(nb::int_(self.size(*asked))) : to_size(self.sizes());
}

nb::object stride(const Tensor& self, nb::handle dim) {
  if (const auto asked = asked_dim(dim)) return nb::int_(self.stride(*asked));
  return to_object(IValue(self.strides().vec()));
}

bool is_contiguous(const Tensor& self, nb::handle memory_format) {
  const auto format = memory_format_in(memory_format.ptr());
  KEYWAY_CHECK_AS(Type, format, "argument 'memory_format' must be a keyway.memory_format");
  return self.is_contiguous(*format);
}

template <typename... Extra>
void add_method(const char* name, Extra&&... extra) {
  const nb::object method = nb::cpp_function(std::forward<Extra>(extra)..., nb::name(name), nb::is_method());
  if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_class), name, method.ptr()) != 0)
    rethrow_python_error();
}

}  // namespace

void add_tensor_attributes(nb::module_& module) {
  add_size_class(module);
  for (PyGetSetDef& attribute : attributes) {
    const nb::object descriptor = checked(PyDescr_NewGetSet(tensor_class, &attribute));
    if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_class), attribute.name, descriptor.ptr()) != 0)
      rethrow_python_error();
  }
  add_method("size", size, nb::arg("dim") = nb::none(), "The sizes, or that of one dimension.");
  add_method("stride", stride, nb::arg("dim") = nb::none(), "The strides in elements, or that of one dimension.");
  add_method("is_contiguous", is_contiguous, nb::arg("memory_format") = to_object(MemoryFormat::Contiguous),
             "Whether the elements lie in memory in the order of the format.");
  add_method(
      "dim", [](const Tensor& self) { return self.dim(); }, "The number of dimensions.");
  add_method(
      "numel", [](const Tensor& self) { return self.numel(); }, "The number of elements.");
  add_method(
      "element_size", [](const Tensor& self) { return self.itemsize(); }, "Bytes of an element.");
  add_method(
      "storage_offset", [](const Tensor& self) { return self.storage_offset(); },
      "Where the first element lies in the storage, in elements.");
  add_method(
      "data_ptr",
      [](const Tensor& self) {
        check_has_memory(self, "data_ptr");
        return reinterpret_cast<std::uintptr_t>(self.data_ptr());
      },
      "The address of the first element; 0 if there is none.");
  add_method(
      "is_floating_point", [](const Tensor& self) { return self.is_floating_point(); },
      "Whether the dtype is a floating-point one.");
  add_method(
      "is_complex", [](const Tensor& self) { return self.is_complex(); }, "Whether the dtype is a complex one.");
  add_method(
      "is_inference", [](const Tensor& self) { return self.is_inference(); },
      "Whether the tensor was made in inference mode.");
}

}  // namespace keyway::inline v1::python
