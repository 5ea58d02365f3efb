// OnDevice: a wrapper that runs with the call's device current. What stands in a table at the key of a backend that may
// have several devices; the CPU's and Meta's wrappers stand there bare and pay nothing.
//
//   OnDevice<Functional<wrappers::mm, ops::mm_sig>, ops::mm_sig>::call
#pragma once

#include <keyway/assembly/wrappers.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/direct_call.h>

#include <optional>

namespace keyway::inline v1 {

namespace detail {

// The device of `backend` that a call is for: that of its `device` argument, else of the first tensor that lies on one.
template <typename... Args>
std::optional<Device> device_of_call(DeviceType backend, const Args&... args) {
  std::optional<Device> named, found;
  const auto look = [&]<typename T>(const T& arg) {
    if constexpr (kNamesDevice<T>) {
      const std::optional<Device> device = arg;
      if (device && device->type() == backend) named = device;
    } else {
      each_tensor(
          [&](const TensorBase& tensor) {
            if (!found && tensor.device().type() == backend) found = tensor.device();
          },
          arg);
    }
  };
  (look(args), ...);
  return named ? named : found;
}

}  // namespace detail

// The guard is there while plan, outputs and kernel are: memory is made on the device, too.
template <typename Wrapper, typename Sig>
struct OnDevice;
template <typename Wrapper, typename R, typename... Args>
struct OnDevice<Wrapper, R(Args...)> {
  static R call(const KernelBase& self_kernel, DispatchKeySet keys, Args... args) {
    const auto backend = static_cast<DeviceType>(keys.highest_backend_number() - 1);
    const OptionalDeviceGuard guard(
        detail::device_of_call(backend, static_cast<const std::remove_cvref_t<Args>&>(args)...));
    return Wrapper::call(self_kernel, keys, static_cast<Args&&>(args)...);
  }
};

// The spy of functions of a type.
template <typename Function>
inline constexpr BackendKernel<Function> kSpy{detail::Spy<Function>::kFunction};

// What stands in an operator's information for backends to register (Library::kernel).
template <typename Wrapper, typename Sig, typename Function>
inline constexpr StaticWrapper<Sig> kBackendWrapper = {
    {signature_code<Sig>, signature_code<Function>, kSpy<Function>.function == nullptr ? nullptr : &kSpy<Function>},
    {{BoxedAdapter<Sig>::call, nullptr, 0, 0}, &OnDevice<Wrapper, Sig>::call},
    &Wrapper::call};

}  // namespace keyway::inline v1
