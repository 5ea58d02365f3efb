#include <keyway/autograd/alias.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/python/default_device.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/python_dispatch.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>
#include <keyway/python/wrapper_tensor.h>

#include <cstdint>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <vector>

namespace keyway::inline v1::python {
namespace {

using Sizes = std::vector<std::int64_t>;

TensorObject* as_tensor(nb::handle object) { return reinterpret_cast<TensorObject*>(object.ptr()); }

void copy_slots(nb::handle from, nb::handle to) {
  static PyObject* const slot_names = nb::object(nb::module_::import_("copyreg").attr("_slotnames")).release().ptr();
  for (const nb::handle name : nb::handle(slot_names)(from.type()))
    if (nb::hasattr(from, name)) nb::setattr(to, name, nb::getattr(from, name));
}

// Requires: both are of one class.
void copy_attributes(nb::handle from, nb::handle to) {
  nb::object attributes = checked(PyDict_New());
  if (as_tensor(from)->dict != nullptr && PyDict_Update(attributes.ptr(), as_tensor(from)->dict) < 0)
    rethrow_python_error();
  static PyObject* const mark = interned("_is_param");  // only of the very object that it was said of
  PyObject* const own = as_tensor(to)->dict != nullptr ? PyDict_GetItemWithError(as_tensor(to)->dict, mark) : nullptr;
  const bool has_mark = PyDict_Contains(attributes.ptr(), mark) == 1;
  const int failed = own != nullptr ? PyDict_SetItem(attributes.ptr(), mark, own)
                     : has_mark     ? PyDict_DelItem(attributes.ptr(), mark)
                                    : 0;
  if (failed < 0 || PyErr_Occurred() != nullptr) rethrow_python_error();
  const nb::object before = nb::steal(as_tensor(to)->dict);  // goes when the new one stands there
  as_tensor(to)->dict = attributes.release().ptr();
  copy_slots(from, to);
}

// A wrapper with the attributes of another, over its storage.
TensorBase alias_of_wrapper(const TensorBase& wrapper) {
  TensorBase made = make_view(wrapper);
  if (Py_IsInitialized() == 0) return made;
  const LockHeld lock;
  const nb::object from = to_object(wrapper);
  PyTypeObject* const type = Py_TYPE(from.ptr());
  if (type == tensor_class) return made;  // of an example, or dual: the wrapper is within
  copy_attributes(from, to_object_of(type, Tensor(made)));
  return made;
}

void take_attributes_of_wrapper(const TensorBase& self, const TensorBase& other) {
  const LockHeld lock;
  const nb::object to = to_object(self), from = to_object(other);
  KEYWAY_CHECK_AS(Type, Py_TYPE(to.ptr()) == Py_TYPE(from.ptr()),
                  "a {} cannot take the place of a {}: both must be wrapper tensors of one class", class_name(from),
                  class_name(to));
  copy_attributes(from, to);
}

PyTypeObject* checked_class(nb::handle type) {
  KEYWAY_CHECK_AS(Type, PyType_Check(type.ptr()), "_make_wrapper_subclass: argument 'cls' must be a class, not {}",
                  class_name(type));
  auto* const made = reinterpret_cast<PyTypeObject*>(type.ptr());
  KEYWAY_CHECK_AS(Type, made != tensor_class && PyType_IsSubtype(made, tensor_class),
                  "_make_wrapper_subclass: {} is no subclass of Tensor", made->tp_name);
  KEYWAY_CHECK_AS(Type, find_dispatch_method(made) != nullptr,
                  "_make_wrapper_subclass: {} defines no __keyway_dispatch__, by which a wrapper tensor answers calls",
                  made->tp_name);
  return made;
}

ScalarType chosen_dtype(nb::handle dtype) {
  if (dtype.is_none()) return get_default_dtype();
  const auto chosen = dtype_in(dtype.ptr());
  KEYWAY_CHECK_AS(Type, chosen, "_make_wrapper_subclass: argument 'dtype' must be a dtype, not {}", class_name(dtype));
  return *chosen;
}

Device chosen_device(nb::handle device) {
  if (device.is_none()) return default_device().value_or(Device(DeviceType::CPU));
  const auto chosen = device_in(device.ptr());
  KEYWAY_CHECK_AS(Type, chosen, "_make_wrapper_subclass: argument 'device' must be a device, not {}",
                  class_name(device));
  return *chosen;
}

DimVector chosen_strides(const Sizes& sizes, const std::optional<Sizes>& strides, nb::handle memory_format) {
  if (!strides) {
    const auto format =
        memory_format.is_none() ? std::optional(MemoryFormat::Contiguous) : memory_format_in(memory_format.ptr());
    KEYWAY_CHECK_AS(Type, format && *format != MemoryFormat::Preserve,
                    "_make_wrapper_subclass: argument 'memory_format' must be a keyway.memory_format, and not "
                    "preserve_format");
    return strides_for(sizes, *format);
  }
  KEYWAY_CHECK(strides->size() == sizes.size(), "_make_wrapper_subclass: {} strides are given for {} sizes",
               strides->size(), sizes.size());
  return DimVector(*strides);
}

nb::object make_wrapper(nb::handle cls, const Sizes& sizes, const std::optional<Sizes>& given_strides,
                        std::optional<std::int64_t> given_offset, nb::handle memory_format, nb::handle dtype,
                        nb::handle layout, nb::handle device, bool pin_memory, bool requires_grad) {
  PyTypeObject* const type = checked_class(cls);
  const auto chosen_layout = layout.is_none() ? std::optional(Layout::Strided) : layout_in(layout.ptr());
  KEYWAY_CHECK_AS(NotImplemented, chosen_layout == Layout::Strided && !pin_memory,
                  "_make_wrapper_subclass: a wrapper tensor is strided, and has no memory that could be pinned");
  const ScalarType element = chosen_dtype(dtype);
  const std::int64_t numel = checked_numel(sizes), offset = given_offset.value_or(0);
  const DimVector strides = chosen_strides(sizes, given_strides, memory_format);
  const std::size_t bytes = checked_nbytes(sizes, strides, offset, element_size(element));
  const Device where = chosen_device(device);
  register_dispatch_fallback();

  Storage storage(make_intrusive<StorageImpl>(DataPtr(nullptr, where), bytes, /*resizable=*/false));
  auto impl = make_intrusive<TensorImpl>(std::move(storage), element, sizes, strides, numel, false);
  impl->set_geometry(sizes, strides, offset, numel);
  // Without Dense: what comes past the key Python with nothing else finds no kernel that would read memory.
  impl->set_key_set(impl->key_set().remove(Functionality::Dense) | DispatchKeySet(Functionality::Python));
  const Tensor tensor{TensorBase(std::move(impl))};
  if (requires_grad) autograd::set_requires_grad(tensor, true);
  return to_object_of(type, tensor);
}

}  // namespace

PyObject* dispatch_method_name() {
  static PyObject* const name = interned("__keyway_dispatch__");
  return name;
}

PyObject* find_dispatch_method(PyTypeObject* type) { return _PyType_Lookup(type, dispatch_method_name()); }

void add_wrapper_tensors(nb::module_& module) {
  static constexpr autograd::WrapperHooks kHooks{&alias_of_wrapper, &take_attributes_of_wrapper};
  autograd::set_wrapper_hooks(kHooks);
  nb::handle(tensor_class).attr("_make_wrapper_subclass") =
      nb::cpp_function(make_wrapper, nb::arg("cls"), nb::arg("size"), nb::arg("strides") = nb::none(),
                       nb::arg("storage_offset") = nb::none(), nb::arg("memory_format") = nb::none(),
                       nb::arg("dtype") = nb::none(), nb::arg("layout") = nb::none(), nb::arg("device") = nb::none(),
                       nb::arg("pin_memory") = false, nb::arg("requires_grad") = false,
                       "A tensor of a subclass without memory, whose calls the class answers by __keyway_dispatch__: "
                       "keyway.utils.python_dispatch.");
  module.def(
      "_is_wrapper", [](nb::handle object) { return is_tensor(object.ptr()) && is_wrapper(tensor_in(object.ptr())); },
      "Whether it is a wrapper tensor.");
  module.def(
      "_alias_of", [](const Tensor& tensor) { return Tensor(autograd::alias_of(tensor)); },
      "A tensor of its own over the same memory, without history; of a wrapper tensor one of its class.");
}

}  // namespace keyway::inline v1::python
