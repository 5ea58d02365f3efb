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

// A capsule that goes before anybody has taken its tensor.
template <typename Managed>
void delete_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, CapsuleNames<Managed>::kFresh) == 0) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, CapsuleNames<Managed>::kFresh));
  managed->deleter(managed);
}

template <typename Managed>
nb::object capsule_of(Managed* exported) {
  std::unique_ptr<Managed, void (*)(Managed*)> managed(exported, exported->deleter);
  nb::object capsule = checked(PyCapsule_New(exported, CapsuleNames<Managed>::kFresh, delete_capsule<Managed>));
  (void)managed.release();
  return capsule;
}

DevicePair dlpack_device(const Tensor& self) {
  const auto device = dlpack::to_dlpack(self.device());
  if (!device) refuse_buffer("DLPack has no device " + to_string(self.device()));
  return {device->device_type, device->device_id};
}

// Makes what is queued for the tensor come before what the consumer queues to its stream: a number as CUDA's array
// protocol has them, 1 the default stream, -1 for a consumer that cares for itself. Other device types have no numbers
// but these two.
void order_before(const Tensor& self, nb::handle stream) {
  const auto number = stream.is_none() ? 1 : PyLong_AsLongLong(stream.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) rethrow_python_error();
  if (self.is_cpu()) {
    if (!stream.is_none() && number != -1) refuse_buffer("a tensor on the CPU has no stream: give None");
    return;
  }
  if (number == -1) return;
  if (number == 0 || number < -1) refuse_buffer("0 is no stream in DLPack, as it may mean two: give None, 1 or 2");
  if (number != 1 && !self.is_cuda())
    refuse_buffer("a stream of " + to_string(self.device()) + " has no number in DLPack: give None, 1 or -1");
  const Stream current = current_stream(self.device());
  if (number != 1) return current.synchronize();  // a stream that is none of ours
  Event done(self.device().type());
  done.record(current);
  done.block(default_stream(self.device()));
}

nb::object to_capsule(const Tensor& self, nb::handle stream, std::optional<DevicePair> max_version,
                      std::optional<DevicePair> dl_device, std::optional<bool> copy) {
  if (self.requires_grad()) refuse_buffer("a tensor that requires grad cannot be exported: use tensor.detach()");
  check_has_memory(self, "__dlpack__");
  if (!dlpack::to_dlpack(self.dtype())) refuse_buffer("DLPack has no dtype " + std::string(to_string(self.dtype())));
  const DevicePair here = dlpack_device(self);
  const bool moves = dl_device && *dl_device != here;
  const bool to_host = dl_device && *dl_device == DevicePair(dlpack::kDLCPU, 0);
  if (moves && (!to_host || !copy.value_or(true)))
    refuse_buffer("a tensor on " + to_string(self.device()) + " can only be handed out there, or copied to the CPU");
  const bool is_copied = moves || copy.value_or(false);
  const Tensor tensor = !is_copied ? self : moves ? self.to(DeviceType::CPU) : self.clone();
  order_before(tensor, moves ? nb::none() : stream);
  const bool versioned = max_version && max_version->first >= 1;
  return versioned ? capsule_of(dlpack::to_dlpack_versioned(tensor, is_copied ? dlpack::kIsCopied : 0))
                   : capsule_of(dlpack::to_dlpack(tensor));
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
