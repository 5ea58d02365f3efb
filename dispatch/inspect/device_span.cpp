#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/inspect/device_span.h>

namespace keyway::inline v1 {

namespace {

bool is_elsewhere(Device device) { return !device.is_cpu() && !device.is_meta(); }

std::optional<Device> device_of(const IValue& value) {
  if (value.is(ValueTag::Device)) return value.to_device();
  std::optional<Device> first;
  any_tensor(value, [&](const TensorBase& tensor) {
    first = tensor.device();
    return true;
  });
  return first;
}

}  // namespace

std::optional<Stream> device_stream_of(const CallEvent& call) {
  for (std::size_t i = call.first; i < call.stack.size(); ++i) {
    const std::optional<Device> device = device_of(call.stack[i]);
    if (!device || !is_elsewhere(*device) || find_device_guard_impl(device->type()) == nullptr) continue;
    const Stream stream = current_stream(*device);
    return stream.is_capturing() ? std::nullopt : std::optional(stream);
  }
  return std::nullopt;
}

}  // namespace keyway::inline v1
