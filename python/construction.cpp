#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/graph/capture.h>
#include <keyway/ops/unrecorded.h>
#include <keyway/python/arrays.h>
#include <keyway/python/default_device.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/dlpack.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/numpy_classes.h>
#include <keyway/python/sequences.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/warnings.h>

#include <nanobind/stl/optional.h>
#include <optional>

namespace keyway::inline v1::python {
namespace {

std::optional<ScalarType> optional_dtype(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  const auto dtype = dtype_in(object.ptr());
  KEYWAY_CHECK_AS(Type, dtype, "argument 'dtype' must be keyway.dtype, not {}", class_name(object));
  return dtype;
}

std::optional<Device> optional_device(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  const auto device = device_in(object.ptr());
  KEYWAY_CHECK_AS(Type, device, "argument 'device' must be keyway.device, not {}", class_name(object));
  return device;
}

// What a tensor is to be, where it is not what its data says.
struct Wishes {
  Wishes(nb::handle its_dtype, nb::handle its_device, std::optional<Device> without_device = default_device())
      : dtype(optional_dtype(its_dtype)), device(optional_device(its_device)) {
    if (!device) device = without_device;
  }

  // `tensor` itself where nothing is to be changed or copied.
  Tensor apply(const Tensor& tensor, bool copy = false) const {
    const LockReleased unlocked;
    return tensor.to(device.value_or(tensor.device()), dtype.value_or(tensor.dtype()), /*non_blocking=*/false, copy);
  }
  bool change(const Tensor& tensor) const {
    return (device && *device != tensor.device()) || (dtype && *dtype != tensor.dtype());
  }

  std::optional<ScalarType> dtype;
  std::optional<Device> device;
};

// A leaf that knows nothing of where its data is from.
Tensor leaf(Tensor tensor, bool requires_grad) {
  if (requires_grad) autograd::set_requires_grad(tensor, true);
  return tensor;
}

// A new tensor with a copy of `data`.
Tensor copied(nb::handle data, const Wishes& wishes) {
  if (is_tensor(data.ptr())) return wishes.apply(tensor_in(data.ptr()).detach(), /*copy=*/true);
  if (is_array(data.ptr()))
    return detail::made_of_numbers([&] { return wishes.apply(tensor_of_array(data.ptr()).tensor, /*copy=*/true); });
  return detail::made_of_numbers([&] { return wishes.apply(tensor_of_sequence(data.ptr(), wishes.dtype)); });
}

void warn_of_copy(nb::handle data) {
  if (!is_tensor(data.ptr())) return;
  warn_user(
      "to copy a tensor, source.detach().clone() is clearer than keyway.tensor(source); "
      "source.detach().clone().requires_grad_() where a gradient is wanted");
}

Tensor tensor(nb::handle data, nb::handle dtype, nb::handle device, bool requires_grad) {
  warn_of_copy(data);
  return leaf(copied(data, Wishes(dtype, device)), requires_grad);
}

Tensor new_tensor(const Tensor& self, nb::handle data, nb::handle dtype, nb::handle device, bool requires_grad) {
  warn_of_copy(data);
  Wishes wishes(dtype, device, self.device());
  if (!wishes.dtype) wishes.dtype = self.dtype();
  return leaf(copied(data, wishes), requires_grad);
}

Tensor shared(const ForeignTensor& foreign) {
  graph::refuse_within_capture("a tensor over the memory of another object");
  warn_if_read_only(foreign);
  return foreign.tensor;
}

// A scalar of NumPy is copied: nothing that is written to the tensor may reach it.
bool is_shareable(nb::handle data) { return is_array(data.ptr()) && !is_numpy_scalar(data.ptr()); }

Tensor as_tensor(nb::handle data, nb::handle dtype, nb::handle device) {
  const Wishes wishes(dtype, device);
  if (is_tensor(data.ptr())) return wishes.apply(tensor_in(data.ptr()));
  if (!is_shareable(data)) return copied(data, wishes);
  const ForeignTensor foreign = tensor_of_array(data.ptr());
  return wishes.change(foreign.tensor) ? wishes.apply(foreign.tensor) : shared(foreign);
}

Tensor from_numpy(nb::handle array) {
  KEYWAY_CHECK_AS(Type, is_numpy_array(array.ptr()), "expected a numpy.ndarray, not a {}", class_name(array));
  return shared(tensor_of_array(array.ptr()));
}

Tensor frombuffer(nb::handle buffer, nb::handle dtype, std::int64_t count, std::int64_t offset, bool requires_grad) {
  const auto type = optional_dtype(dtype);
  KEYWAY_CHECK_AS(Type, type, "argument 'dtype' must be keyway.dtype, not NoneType");
  KEYWAY_CHECK(count >= -1, "argument 'count' is a number of elements, or -1 for all that there are, not {}", count);
  KEYWAY_CHECK(PyObject_CheckBuffer(buffer.ptr()), "a {} has no buffer", class_name(buffer));
  return leaf(shared(tensor_of_bytes(buffer.ptr(), *type, count, offset)), requires_grad);
}

// A tensor over the memory of `object`, if it has some that a tensor can be over.
std::optional<ForeignTensor> memory_of(nb::handle object, const Wishes& wishes) {
  PyObject* const data = object.ptr();
  if (is_tensor(data)) return ForeignTensor{tensor_in(data), false};
  if (is_shareable(object)) return tensor_of_array(data);
  if (has_dlpack(data)) return import_dlpack(data);
  if (PyObject_CheckBuffer(data) && !is_array(data))
    return tensor_of_bytes(data, wishes.dtype.value_or(get_default_dtype()), -1, 0);
  return std::nullopt;
}

Tensor asarray(nb::handle object, nb::handle dtype, nb::handle device, std::optional<bool> copy, bool requires_grad) {
  const Wishes wishes(dtype, device);
  const auto memory = memory_of(object, wishes);
  if (!memory) {
    KEYWAY_CHECK(copy.value_or(true),
                 "numbers and sequences have no memory that a tensor can be over: not with copy=False");
    return leaf(copied(object, wishes), requires_grad);
  }
  const Tensor source(memory->tensor);
  const bool must_copy = wishes.change(source);
  KEYWAY_CHECK(copy.value_or(true) || !must_copy, "another dtype or device needs a copy: not with copy=False");
  const bool do_copy = copy.value_or(must_copy);
  if (!do_copy) warn_if_read_only(*memory);
  const Tensor made = do_copy ? wishes.apply(source, /*copy=*/true) : source;
  return made.requires_grad() == requires_grad ? made : leaf(made.detach(), requires_grad);
}

}  // namespace

void add_construction(nb::module_& module) {
  const auto none = nb::none();
  module.def("tensor", tensor, nb::arg("data").none(), nb::kw_only(), nb::arg("dtype") = none, nb::arg("device") = none,
             nb::arg("requires_grad") = false,
             "A new tensor with a copy of `data`: a number, sequences of sequences of numbers, an array of NumPy's or "
             "a tensor.\n\nWithout `dtype` it has the one that all elements fit: bool, int64, the default dtype, its "
             "complex dtype, or that of the array.\n\nRaises keyway.ValueError for sequences of different lengths and "
             "integers that the dtype does not hold, keyway.TypeError for what is no number.");
  module.def("as_tensor", as_tensor, nb::arg("data").none().none(), nb::arg("dtype") = none, nb::arg("device") = none,
             "A tensor of `data`, over its memory where that is possible: a tensor that needs no change is returned "
             "itself, an array of NumPy's shares its memory; all else is copied as by keyway.tensor.");
  module.def("asarray", asarray, nb::arg("obj").none(), nb::kw_only(), nb::arg("dtype") = none,
             nb::arg("device") = none, nb::arg("copy") = none, nb::arg("requires_grad") = false,
             "A tensor of `obj`: over the memory of a tensor, an array, an object with __dlpack__ or a buffer, whose "
             "bytes are read as `dtype`; with a copy of numbers and sequences.\n\n`copy`: True for always, False for "
             "never (then what needs one raises keyway.ValueError), None for where it is needed.");
  module.def("from_numpy", from_numpy, nb::arg("ndarray").none(),
             "A tensor over the memory of a numpy.ndarray: what is written to one is in the other. It cannot grow.\n\n"
             "Raises keyway.TypeError for a dtype that tensors do not have, keyway.ValueError for negative strides.");
  module.def("frombuffer", frombuffer, nb::arg("buffer").none(), nb::kw_only(), nb::arg("dtype"), nb::arg("count") = -1,
             nb::arg("offset") = 0, nb::arg("requires_grad") = false,
             "A tensor of one dimension over `count` elements (-1: all) of an object with the buffer protocol, from "
             "byte `offset` on, read as `dtype`.");
  module.def("_tensor_of_buffer", [](nb::handle buffer) { return shared(tensor_of_buffer(buffer.ptr())); });
  add_tensor_method("new_tensor", new_tensor, nb::arg("data").none(), nb::kw_only(), nb::arg("dtype") = none,
                    nb::arg("device") = none, nb::arg("requires_grad") = false,
                    "keyway.tensor(data), but of this tensor's dtype and on its device where none is named.");
}

}  // namespace keyway::inline v1::python
