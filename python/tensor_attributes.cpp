#include <keyway/autograd/variable.h>
#include <keyway/batching/batched_tensor.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/python/batching.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/python/size.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/values.h>

#include <cstdint>
#include <functional>
#include <nanobind/stl/optional.h>
#include <optional>

namespace keyway::inline v1::python {
namespace {

// A getter of an attribute: what `get` gives of a tensor.
template <auto get>
nb::object getter(PyObject* self, void*) {
  const auto value = std::invoke(get, tensor_in(self));
  if constexpr (std::is_arithmetic_v<decltype(value)>) {
    return nb::cast(value);
  } else {
    return to_object(value);
  }
}

nb::object shape(PyObject* self, void*) { return to_size(tensor_in(self).sizes()); }
// Of a tensor of an example, what the tensor of all examples says; of a dual one, what its primal says.
bool requires_grad(const Tensor& self) {
  const batching::BatchedValue* batched = batching::batched_value(self);
  return batched != nullptr ? requires_grad(Tensor(batched->value())) : forward::requires_grad(self);
}
bool is_leaf(const Tensor& self) { return forward::innermost_primal(self).is_leaf(); }

void set_requires_grad(PyObject* object, PyObject* value, void*) {
  const Tensor& self = tensor_in(object);
  KEYWAY_CHECK_AS(Type, value != nullptr, "this attribute of a Tensor cannot be deleted");
  KEYWAY_CHECK_AS(Type, PyBool_Check(value), "requires_grad is True or False");
  KEYWAY_CHECK_AS(Autograd, self.is_leaf(),
                  "requires_grad can be set of leaves only, and this tensor was computed: take its detach()");
  autograd::set_requires_grad(self, value == Py_True);
}

// `del x.grad` is `x.grad = None`.
void set_grad(PyObject* self, PyObject* value, void*) {
  const bool is_none = value == nullptr || value == Py_None;
  KEYWAY_CHECK_AS(Type, is_none || is_tensor(value), "grad is a Tensor or None");
  autograd::set_grad(tensor_in(self), is_none ? Tensor() : tensor_in(value));
}

PyGetSetDef attributes[] = {
    {"shape", guarded<shape>, nullptr, "The sizes, a keyway.Size.", nullptr},
    {"dtype", guarded<getter<&Tensor::dtype>>, nullptr, "The type of the elements.", nullptr},
    {"device", guarded<getter<&Tensor::device>>, nullptr, "Where the data lies.", nullptr},
    {"layout", guarded<getter<&Tensor::layout>>, nullptr, "How the elements lie in memory.", nullptr},
    {"ndim", guarded<getter<&Tensor::dim>>, nullptr, "The number of dimensions.", nullptr},
    {"requires_grad", guarded<getter<requires_grad>>, guarded<set_requires_grad>,
     "Whether gradients flow to this tensor.", nullptr},
    {"grad", guarded<getter<autograd::grad_of>>, guarded<set_grad>, "What backward has accumulated, or None.", nullptr},
    {"is_leaf", guarded<getter<is_leaf>>, nullptr,
     "Whether the tensor was not computed from one that requires a gradient.", nullptr},
    {"itemsize", guarded<getter<&Tensor::itemsize>>, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", guarded<getter<&Tensor::nbytes>>, nullptr, "Bytes of all elements.", nullptr},
    {"_version", guarded<getter<&Tensor::_version>>, nullptr, "How often the data was changed in place.", nullptr},
    {"is_cpu", guarded<getter<&Tensor::is_cpu>>, nullptr, "Whether the data lies in the host's memory.", nullptr},
    {"is_cuda", guarded<getter<&Tensor::is_cuda>>, nullptr, "Whether the data lies on a CUDA device.", nullptr},
    {"is_meta", guarded<getter<&Tensor::is_meta>>, nullptr, "Whether the tensor has a shape and no data.", nullptr},
};

// A dimension that is asked for, or none.
std::optional<std::int64_t> asked_dim(nb::handle dim) {
  if (dim.is_none()) return std::nullopt;
  std::int64_t number = 0;
  KEYWAY_CHECK_AS(Type, !PyBool_Check(dim.ptr()) && nb::try_cast(dim, number), "argument 'dim' must be int, not {}",
                  class_name(dim));
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

// A method that a tensor has in C++.
template <auto method>
auto call(const Tensor& self) {
  return std::invoke(method, self);
}

}  // namespace

void add_tensor_attributes() {
  for (PyGetSetDef& attribute : attributes)
    nb::handle(tensor_class).attr(attribute.name) = checked(PyDescr_NewGetSet(tensor_class, &attribute));
  add_tensor_method("size", size, nb::arg("dim") = nb::none(), "The sizes, or that of one dimension.");
  add_tensor_method("stride", stride, nb::arg("dim") = nb::none(),
                    "The strides in elements, or that of one dimension.");
  add_tensor_method("is_contiguous", is_contiguous, nb::arg("memory_format") = to_object(MemoryFormat::Contiguous),
                    "Whether the elements lie in memory in the order of the format.");
  add_tensor_method("dim", call<&Tensor::dim>, "The number of dimensions.");
  add_tensor_method("numel", call<&Tensor::numel>, "The number of elements.");
  add_tensor_method("element_size", call<&Tensor::itemsize>, "Bytes of an element.");
  add_tensor_method("storage_offset", call<&Tensor::storage_offset>,
                    "Where the first element lies in the storage, in elements.");
  add_tensor_method(
      "data_ptr",
      [](const Tensor& self) {
        check_has_memory(self, "data_ptr");
        return reinterpret_cast<std::uintptr_t>(self.data_ptr());
      },
      "The address of the first element; 0 if there is none. Bytes that are shared with a _lazy_clone() become the "
      "tensor's own first.");
  add_tensor_method("is_floating_point", call<&Tensor::is_floating_point>,
                    "Whether the dtype is a floating-point one.");
  add_tensor_method("is_complex", call<&Tensor::is_complex>, "Whether the dtype is a complex one.");
  add_tensor_method("is_inference", call<&Tensor::is_inference>, "Whether the tensor was made in inference mode.");
}

}  // namespace keyway::inline v1::python
