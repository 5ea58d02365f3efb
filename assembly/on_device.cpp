#include <keyway/assembly/on_device.h>

namespace keyway::inline v1 {

OptionalDeviceGuard detail::enter_device(const KernelBase& kernel, std::optional<Device> device) {
  try {
    return OptionalDeviceGuard(device);
  } catch (Error& error) {
    error.leave_op(Table::of(kernel).op->short_name());
    throw;
  }
}

}  // namespace keyway::inline v1
