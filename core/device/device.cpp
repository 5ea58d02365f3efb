#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/device/device.h>
#include <keyway/core/device/load_backend.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <mutex>

namespace keyway::inline v1 {
namespace {

constexpr std::size_t kMaxName = 31;

// Readers take no lock: a name is complete before `count` covers it, and never changes again.
struct DeviceNames {
  ForkSafeMutex writers{LockOrder::Devices};
  std::atomic<int> count{3};
  char names[kNumDeviceTypes][kMaxName + 1] = {"cpu", "cuda", "meta"};
};
constinit DeviceNames device_names;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool can_name_a_type(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && is_lower(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

std::string known_names() {
  std::string text;
  for (int i = 0; i < device_names.count.load(std::memory_order_acquire); ++i) {
    if (i != 0) text += ", ";
    text += device_names.names[i];
  }
  return text;
}

}  // namespace

std::string_view to_string(DeviceType type) {
  const int i = static_cast<int>(type);
  return i < device_names.count.load(std::memory_order_acquire) ? device_names.names[i] : "unknown";
}

std::optional<DeviceType> find_device_type(std::string_view name) {
  const int count = device_names.count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    if (name == device_names.names[i]) return static_cast<DeviceType>(i);
  }
  return std::nullopt;
}

DeviceType register_device_type(std::string_view name) {
  KEYWAY_CHECK_AS(Registration, can_name_a_type(name),
                  "'{}' cannot name a device type: a name is a lower-case letter, then lower-case letters, digits and "
                  "underscores, {} characters at most.",
                  name, kMaxName);
  const std::lock_guard lock(device_names.writers);
  const std::optional<DeviceType> known = find_device_type(name);
  if (known) {
    KEYWAY_CHECK_AS(Registration, *known > DeviceType::Meta,
                    "'{}' is a built-in device type; register a device under a name of its own.", name);
    return *known;
  }
  const int i = device_names.count.load(std::memory_order_relaxed);
  KEYWAY_CHECK_AS(Registration, i < kNumDeviceTypes, "There is no room for device type '{}': all {} are taken ({}).",
                  name, kNumDeviceTypes, known_names());
  std::copy(name.begin(), name.end(), device_names.names[i]);
  device_names.count.store(i + 1, std::memory_order_release);
  return static_cast<DeviceType>(i);
}

Device::Device(std::string_view text) : type_(DeviceType::CPU), index_(-1) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::optional<DeviceType> type = find_device_type(name);
  if (!type) {
    const std::string why = can_name_a_type(name) ? load_backend(name) : std::string();
    type = find_device_type(name);
    KEYWAY_CHECK(type.has_value(),
                 "'{}' is not a device: there is no device type '{}'. The types are {}; more come with the libraries "
                 "that register them{}{}.",
                 text, name, known_names(), why.empty() ? "" : ": ", why);
  }
  type_ = *type;
  if (colon == std::string_view::npos) return;

  const std::string_view digits = text.substr(colon + 1);
  const bool number = !digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit) &&
                      (digits.size() == 1 || digits[0] != '0');
  int index = 0;
  const bool fits = number && digits.size() <= 3 &&
                    std::from_chars(digits.data(), digits.data() + digits.size(), index).ec == std::errc() &&
                    index <= 127;
  KEYWAY_CHECK(fits, "'{}' is not a device: after '{}:' comes a number from 0 to 127 without leading zeros.", text,
               name);
  index_ = static_cast<std::int8_t>(index);
}

void Device::fail_index(DeviceType type, int index) {
  KEYWAY_FAIL(Value, "{} is not an index of a {} device; indices are 0 to 127, and -1 for the current one.", index,
              type);
}

std::string to_string(Device device) {
  std::string text(to_string(device.type()));
  if (device.has_index()) text += ":" + std::to_string(device.index());
  return text;
}

}  // namespace keyway::inline v1
