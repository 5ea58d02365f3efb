#include <keyway/core/base/error.h>
#include <keyway/core/device/event.h>
#include <keyway/python/arrays.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/dlpack.h>
#include <keyway/python/errors.h>
#include <keyway/python/foreign_memory.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <optional>
#include <string>
#include <utility>

namespace keyway::inline v1::python {
namespace {

// Until it is marked as taken, the capsule is the one that calls the deleter: also when this throws before.
template <typename Managed>
ForeignTensor take(PyObject* capsule) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, CapsuleNames<Managed>::kFresh));
  if (managed == nullptr) rethrow_python_error();
  ForeignTensor taken;
  try {
    taken.tensor = dlpack::from_dlpack(managed);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::NotImplemented) throw;
    refuse_buffer(error.what());
  }
  if constexpr (std::is_same_v<Managed, dlpack::DLManagedTensorVersioned>)
    taken.read_only = (managed->flags & dlpack::kReadOnly) != 0;
  if (PyCapsule_SetName(capsule, CapsuleNames<Managed>::kTaken) != 0) rethrow_python_error();
  return taken;
}

ForeignTensor take_capsule(PyObject* capsule) {
  using dlpack::DLManagedTensor, dlpack::DLManagedTensorVersioned;
  if (PyCapsule_IsValid(capsule, CapsuleNames<DLManagedTensorVersioned>::kFresh) != 0)
    return take<DLManagedTensorVersioned>(capsule);
  if (PyCapsule_IsValid(capsule, CapsuleNames<DLManagedTensor>::kFresh) != 0) return take<DLManagedTensor>(capsule);
  const char* const name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
  const bool used = name != nullptr && std::string_view(name).starts_with("used_dltensor");
  refuse_buffer(used ? "the tensor of this DLPack capsule was taken already: a capsule can be used once"
                     : "a capsule of another name than DLPack's 'dltensor' and 'dltensor_versioned'");
}

// Asks with what version 1 has, and again without for those who only know what was before. `wishes` are keywords that
// only version 1 has.
nb::object ask(nb::handle object, bool is_cuda, const nb::dict& wishes) {
  const nb::object function = object.attr("__dlpack__");
  nb::dict old;
  if (is_cuda) old["stream"] = 1;  // CUDA's default stream
  nb::dict keywords;
  keywords.update(old);
  keywords["max_version"] = nb::make_tuple(dlpack::kVersion.major, dlpack::kVersion.minor);
  keywords.update(wishes);
  try {
    return function(**keywords);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) || wishes.size() != 0) throw;
  }
  return function(**old);
}

ForeignTensor import_from(nb::handle object, const nb::dict& wishes) {
  if (PyCapsule_CheckExact(object.ptr())) {
    if (wishes.size() != 0) refuse_buffer("a capsule is as it is: device and copy are for objects with __dlpack__");
    return take_capsule(object.ptr());
  }
  const auto device = nb::cast<std::pair<int, int>>(object.attr("__dlpack_device__")());
  const bool is_cuda = device.first == dlpack::kDLCUDA || device.first == dlpack::kDLCUDAManaged;
  const nb::object capsule = ask(object, is_cuda, wishes);
  ForeignTensor foreign = take_capsule(capsule.ptr());
  if (const Device its = foreign.tensor.device(); !its.is_cpu()) {
    Event done(its.type());  // the producer has ordered its work before the default stream's
    done.record(default_stream(its));
    done.block(current_stream(its));
  }
  return foreign;
}

Tensor from_dlpack_object(nb::handle object, nb::handle device, std::optional<bool> copy) {
  KEYWAY_CHECK_AS(Type, PyCapsule_CheckExact(object.ptr()) || has_dlpack(object.ptr()),
                  "a {} has no __dlpack__ and is no DLPack capsule", class_name(object));
  nb::dict wishes;
  if (copy) wishes["copy"] = *copy;
  if (!device.is_none()) {
    const auto wanted = device_in(device.ptr());
    KEYWAY_CHECK_AS(Type, wanted, "argument 'device' must be keyway.device, not {}", class_name(device));
    const auto its = dlpack::to_dlpack(*wanted);
    if (!its) refuse_buffer("DLPack has no device " + to_string(*wanted));
    wishes["dl_device"] = nb::make_tuple(static_cast<int>(its->device_type), its->device_id);
  }
  const ForeignTensor foreign = import_from(object, wishes);
  warn_if_read_only(foreign);
  return foreign.tensor;
}

}  // namespace

bool has_dlpack(PyObject* object) {
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__dlpack__") != 0;
}

ForeignTensor import_dlpack(PyObject* object) { return import_from(object, {}); }

void add_dlpack_import(nb::module_& module) {
  module.def("from_dlpack", from_dlpack_object, nb::arg("ext_tensor").none(), nb::kw_only(),
             nb::arg("device") = nb::none(), nb::arg("copy") = nb::none(),
             "A tensor over the memory of an object with __dlpack__, or of a DLPack capsule, old or versioned, which "
             "can be used once.\n\n`device` and `copy` are handed on to the object. Raises BufferError for what no "
             "tensor can be over.");
}

}  // namespace keyway::inline v1::python
