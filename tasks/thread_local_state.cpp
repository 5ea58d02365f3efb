#include <keyway/autocast/autocast.h>
#include <keyway/autograd/saved_tensor_hooks.h>
#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard_impl.h>
#include <keyway/core/random/generator_listener.h>
#include <keyway/tasks/thread_local_state.h>

#include <utility>

namespace keyway::inline v1 {

namespace {

// Keys that mean something of their thread: a level of vmap, a mode, a listener.
constexpr std::uint64_t kKeysOfTheThread =
    (DispatchKeySet(Functionality::Batched) | DispatchKeySet(Functionality::Python) |
     DispatchKeySet(Functionality::Profiler))
        .raw();

void set_autocast_of(const std::array<ScalarType, kNumDeviceTypes>& dtypes, bool cache) {
  for (std::size_t type = 0; type < dtypes.size(); ++type) {
    set_autocast_dtype(static_cast<DeviceType>(type), dtypes[type]);
  }
  set_autocast_cache_enabled(cache);
}

// Who records calls has to hear that those which follow draw from another seed.
void tell_of_seed(const ThreadBound& bound) {
  if (bound.seed != nullptr) tell_generator_listener();
}

}  // namespace

ThreadLocalState::ThreadLocalState() : thread_(thread_state), autocast_cache_(is_autocast_cache_enabled()) {
  for (std::size_t i = 0; i < autocast_dtypes_.size(); ++i) {
    const auto type = static_cast<DeviceType>(i);
    autocast_dtypes_[i] = autocast_dtype(type);
    DeviceGuardImplInterface* impl = find_device_guard_impl(type);
    if (impl == nullptr || type == DeviceType::CPU || type == DeviceType::Meta) continue;
    try {
      const int count = impl->device_count();
      if (count == 0) continue;
      devices_.push_back(impl->get_device());
      for (int d = 0; d < count; ++d) streams_.push_back(impl->get_stream(Device(type, static_cast<std::int8_t>(d))));
    } catch (const Error&) {
      // A type whose devices cannot be asked, as CUDA's in a forked child, has nothing to hand on.
    }
  }
}

void ThreadLocalState::make_current_devices() const {
  for (const Stream& stream : streams_) {
    DeviceGuardImplInterface* impl = find_device_guard_impl(stream.device_type());
    if (impl != nullptr && impl->get_stream(stream.device()) != stream) impl->exchange_stream(stream);
  }
  for (const Device& device : devices_) {
    DeviceGuardImplInterface* impl = find_device_guard_impl(device.type());
    if (impl != nullptr && impl->get_device() != device) impl->set_device(device);
  }
}

ThreadLocalStateGuard::ThreadLocalStateGuard(const ThreadLocalState& state) {
  tell_of_seed(thread_bound);
  try {
    state.make_current_devices();
  } catch (...) {
    before_.make_current_devices();
    throw;
  }
  bound_before_ = std::exchange(thread_bound, {});
  hooks_before_ = std::exchange(autograd::saved_tensor_hooks, nullptr);
  thread_state = state.thread_;
  thread_state.included &= ~kKeysOfTheThread;
  set_autocast_of(state.autocast_dtypes_, state.autocast_cache_);
  autocast_increment_nesting();
}

ThreadLocalStateGuard::~ThreadLocalStateGuard() {
  try {
    tell_of_seed(bound_before_);
  } catch (const std::exception&) {  // who listens has noted it, and tells when it ends
  }
  autocast_decrement_nesting();
  set_autocast_of(before_.autocast_dtypes_, before_.autocast_cache_);
  thread_state = before_.thread_;
  autograd::saved_tensor_hooks = hooks_before_;
  thread_bound = bound_before_;
  try {
    before_.make_current_devices();
  } catch (const Error&) {
    // A device that failed tells the next call of it.
  }
}

}  // namespace keyway::inline v1
