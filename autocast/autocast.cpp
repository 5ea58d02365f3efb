#include <keyway/autocast/autocast.h>
#include <keyway/autocast/cast_cache.h>
#include <keyway/autocast/kernels.h>
#include <keyway/core/base/error.h>

#include <array>

namespace keyway::inline v1 {
namespace {

// Of this thread; none: the default.
constinit thread_local std::array<std::optional<ScalarType>, kNumDeviceTypes> dtypes{};

std::uint32_t bit_of(DeviceType device) { return std::uint32_t{1} << static_cast<int>(device); }

std::size_t index_of(DeviceType device) { return static_cast<std::size_t>(device); }

void check_dtype(ScalarType dtype) {
  KEYWAY_CHECK_AS(Type, dtype == ScalarType::Half || dtype == ScalarType::BFloat16 || dtype == ScalarType::Float,
                  "autocast: dtype is {}, but calls are autocast to float16 or bfloat16", dtype);
}

}  // namespace

bool is_autocast_enabled(DeviceType device) { return (thread_state.autocast & bit_of(device)) != 0; }

void set_autocast_enabled(DeviceType device, bool enabled) {
  constexpr std::uint64_t kKey = DispatchKeySet(Functionality::Autocast).raw();
  if (enabled) {
    autocast::use_cast(autocast::cast);
    thread_state.autocast |= bit_of(device);
  } else {
    thread_state.autocast &= ~bit_of(device);
  }
  thread_state.included = thread_state.autocast != 0 ? thread_state.included | kKey : thread_state.included & ~kKey;
}

ScalarType autocast_dtype(DeviceType device) {
  const bool host = device == DeviceType::CPU || device == DeviceType::Meta;
  return dtypes[index_of(device)].value_or(host ? ScalarType::BFloat16 : ScalarType::Half);
}

void set_autocast_dtype(DeviceType device, ScalarType dtype) {
  check_dtype(dtype);
  dtypes[index_of(device)] = dtype;
}

AutocastMode::AutocastMode(DeviceType device, std::optional<ScalarType> dtype, bool enabled,
                           std::optional<bool> cache_enabled)
    : device_(device),
      enabled_before_(is_autocast_enabled(device)),
      cache_before_(is_autocast_cache_enabled()),
      dtype_before_(autocast_dtype(device)) {
  if (dtype) set_autocast_dtype(device, *dtype);
  set_autocast_enabled(device, enabled);
  if (cache_enabled) set_autocast_cache_enabled(*cache_enabled);
  autocast_increment_nesting();
}

AutocastMode::~AutocastMode() {
  autocast::leave_region();
  set_autocast_cache_enabled(cache_before_);
  set_autocast_enabled(device_, enabled_before_);
  set_autocast_dtype(device_, dtype_before_);
}

}  // namespace keyway::inline v1
