#include <keyway/core/device/event.h>
#include <keyway/python/batching.h>
#include <keyway/python/dlpack.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <optional>
#include <string>
#include <utility>

namespace keyway::inline v1::python {
namespace {

using DevicePair = std::pair<int, int>;

// What a capsule holds, and what keeps it.
template <typename T>
struct Exported {
  T managed{};
  TensorBase tensor;  // without a Python object and history: it goes in any thread
  DimVector sizes, strides;
};

template <typename T>
void delete_exported(T* managed) {
  delete static_cast<Exported<T>*>(managed->context);
}

// A capsule that goes before anybody has taken its tensor.
template <typename T>
void delete_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, T::kFresh) == 0) return;
  auto* const managed = static_cast<T*>(PyCapsule_GetPointer(capsule, T::kFresh));
  managed->deleter(managed);
}

template <typename T>
nb::object capsule_of(const Tensor& tensor, bool is_copied) {
  check_has_memory(tensor, "__dlpack__");
  auto exported = std::make_unique<Exported<T>>();
  exported->tensor = tensor.detach();
  tensor.storage().impl()->forbid_resize();
  exported->sizes = DimVector(tensor.sizes());
  exported->strides = DimVector(tensor.strides());
  T& managed = exported->managed;
  managed.context = exported.get();
  managed.deleter = delete_exported<T>;
  if constexpr (std::is_same_v<T, dlpack::ManagedVersioned>) {
    managed.version = dlpack::kVersion;
    managed.flags = is_copied ? dlpack::kIsCopied : 0;
  }
  managed.tensor = {tensor.numel() == 0 ? nullptr : tensor.data_ptr(),
                    *to_dlpack(tensor.device()),
                    static_cast<std::int32_t>(tensor.dim()),
                    *to_dlpack(tensor.dtype()),
                    exported->sizes.data(),
                    exported->strides.data(),
                    0};
  nb::object capsule = checked(PyCapsule_New(&managed, T::kFresh, delete_capsule<T>));
  (void)exported.release();
  return capsule;
}

DevicePair dlpack_device(const Tensor& self) {
  const auto device = to_dlpack(self.device());
  if (!device) refuse_buffer("DLPack has no device " + to_string(self.device()));
  return {static_cast<int>(device->type), device->index};
}

// Makes what is queued for the tensor come before what the consumer queues to its stream: a number as CUDA's array
// protocol has them, 1 the default stream, -1 for a consumer that cares for itself.
void order_before(const Tensor& self, nb::handle stream) {
  const auto number = stream.is_none() ? 1 : PyLong_AsLongLong(stream.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) rethrow_python_error();
  if (!self.is_cuda()) {
    if (!stream.is_none() && number != -1) refuse_buffer("a tensor on the CPU has no stream: give None");
    return;
  }
  if (number == -1) return;
  if (number == 0 || number < -1) refuse_buffer("0 is no stream in DLPack, as it may mean two: give None, 1 or 2");
  const Stream current = current_stream(self.device());
  if (number != 1) return current.synchronize();  // a stream that is none of ours
  Event done(DeviceType::CUDA);
  done.record(current);
  done.block(default_stream(self.device()));
}

nb::object to_capsule(const Tensor& self, nb::handle stream, std::optional<DevicePair> max_version,
                      std::optional<DevicePair> dl_device, std::optional<bool> copy) {
  if (self.requires_grad()) refuse_buffer("a tensor that requires grad cannot be exported: use tensor.detach()");
  if (!to_dlpack(self.dtype())) refuse_buffer("DLPack has no dtype " + std::string(to_string(self.dtype())));
  const DevicePair here = dlpack_device(self);
  const bool moves = dl_device && *dl_device != here;
  const bool to_host = dl_device && *dl_device == DevicePair(static_cast<int>(dlpack::DeviceCode::CPU), 0);
  if (moves && (!to_host || !copy.value_or(true)))
    refuse_buffer("a tensor on " + to_string(self.device()) + " can only be handed out there, or copied to the CPU");
  const bool is_copied = moves || copy.value_or(false);
  const Tensor tensor = !is_copied ? self : moves ? self.to(DeviceType::CPU) : self.clone();
  order_before(tensor, moves ? nb::none() : stream);
  const bool versioned = max_version && max_version->first >= 1;
  return versioned ? capsule_of<dlpack::ManagedVersioned>(tensor, is_copied)
                   : capsule_of<dlpack::Managed>(tensor, is_copied);
}

}  // namespace

void add_dlpack_export() {
  add_tensor_method(
      "__dlpack__", to_capsule, nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
      nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
      "A DLPack capsule over the memory of the tensor: a versioned one if `max_version` allows it.\n\n`stream`: that "
      "of the consumer, for tensors on a CUDA device. `dl_device`: (1, 0) copies to the CPU. `copy`: True for always, "
      "False for never. Raises BufferError for a tensor that requires grad, and where DLPack has no such dtype or "
      "device.");
  add_tensor_method("__dlpack_device__", dlpack_device,
                    "The device in DLPack's numbers: type and index. Raises BufferError where it has none.");
}

}  // namespace keyway::inline v1::python
