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

// What a tensor needs of a DLPack tensor, checked.
struct Description {
  explicit Description(const dlpack::Tensor& from) {
    dtype = from_dlpack(from.dtype);
    if (!dtype)
      refuse_buffer("no dtype is what DLPack calls code " + std::to_string(static_cast<int>(from.dtype.code)) + ", " +
                    std::to_string(from.dtype.bits) + " bits, " + std::to_string(from.dtype.lanes) + " lanes");
    device = from_dlpack(from.device);
    if (!device)
      refuse_buffer("no device is what DLPack calls device " + std::to_string(static_cast<int>(from.device.type)) +
                    ":" + std::to_string(from.device.index));
    const bool has_dims = from.dim >= 0 && from.dim <= kMaxDims && (from.dim == 0 || from.sizes != nullptr);
    if (!has_dims) refuse_buffer("a DLPack tensor of " + std::to_string(from.dim) + " dimensions, or without sizes");
    const auto rank = static_cast<std::size_t>(from.dim);
    if (rank != 0) sizes = DimVector(IntArrayRef(from.sizes, rank));
    const std::int64_t numel = checked_numel(sizes);
    strides =
        from.strides == nullptr || rank == 0 ? contiguous_strides(sizes) : DimVector(IntArrayRef(from.strides, rank));
    if (numel != 0 && from.data == nullptr) refuse_buffer("a DLPack tensor with elements and without memory");
    data = numel == 0 ? nullptr : static_cast<char*>(from.data) + from.byte_offset;
  }

  DimVector sizes, strides;
  std::optional<ScalarType> dtype;
  std::optional<Device> device;
  void* data;
};

// Calls the deleter of a tensor that was taken.
template <typename T>
void give_back(void* taken) {
  auto* const managed = static_cast<T*>(taken);
  if (managed->deleter != nullptr) managed->deleter(managed);
}

// Until it is marked as taken, the capsule is the one that calls the deleter: also when this throws before.
template <typename T>
ForeignTensor take(PyObject* capsule) {
  auto* const managed = static_cast<T*>(PyCapsule_GetPointer(capsule, T::kFresh));
  if (managed == nullptr) rethrow_python_error();
  bool read_only = false;
  if constexpr (std::is_same_v<T, dlpack::ManagedVersioned>) {
    if (managed->version.major != dlpack::kVersion.major)
      refuse_buffer("a capsule of DLPack " + std::to_string(managed->version.major) + ", not 1");
    read_only = (managed->flags & dlpack::kReadOnly) != 0;
  }
  const Description it(managed->tensor);
  if (PyCapsule_SetName(capsule, T::kTaken) != 0) rethrow_python_error();
  DataPtr owner(it.data, managed, give_back<T>, *it.device);
  return {tensor_over(std::move(owner), it.sizes, it.strides, *it.dtype), read_only};
}

ForeignTensor take_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, dlpack::ManagedVersioned::kFresh) != 0) return take<dlpack::ManagedVersioned>(capsule);
  if (PyCapsule_IsValid(capsule, dlpack::Managed::kFresh) != 0) return take<dlpack::Managed>(capsule);
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
  const auto code = static_cast<dlpack::DeviceCode>(device.first);
  const bool is_cuda = code == dlpack::DeviceCode::CUDA || code == dlpack::DeviceCode::CUDAManaged;
  const nb::object capsule = ask(object, is_cuda, wishes);
  ForeignTensor foreign = take_capsule(capsule.ptr());
  if (foreign.tensor.is_cuda()) {  // the producer has ordered its work before the default stream's
    Event done(DeviceType::CUDA);
    done.record(default_stream(foreign.tensor.device()));
    done.block(current_stream(foreign.tensor.device()));
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
    const auto its = to_dlpack(*wanted);
    if (!its) refuse_buffer("DLPack has no device " + to_string(*wanted));
    wishes["dl_device"] = nb::make_tuple(static_cast<int>(its->type), its->index);
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
