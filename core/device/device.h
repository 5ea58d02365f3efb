// Device: where a tensor's data lies: a type of device and an index.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

// The number of a device type is also the number of its backend bit in a key set. Types 3 to 23 have no
// enumerator: they get their names at load time, from register_device_type().
enum class DeviceType : std::uint8_t {
  CPU = 0,
  CUDA = 1,
  Meta = 2,                            // shapes and dtypes only, no data
  COMPILE_TIME_MAX_DEVICE_TYPES = 24,  // no type: what tables by type have as their size
};
inline constexpr int kNumDeviceTypes = static_cast<int>(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);

inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;
inline constexpr DeviceType kMeta = DeviceType::Meta;

// The device type called `name`, made known if it is new: the same name gives the same type as long as the
// program runs. From any thread. Errors: a name that is not [a-z][a-z0-9_]* of at most 31 characters, or is
// one of the built-in types'; no number left for a 22nd name.
KEYWAY_API DeviceType register_device_type(std::string_view name);

// "cpu", "cuda", "meta", or the registered name; "unknown" for a number nobody registered. Valid for good.
KEYWAY_API std::string_view to_string(DeviceType type);
// The type of that name; nullopt if there is none.
KEYWAY_API std::optional<DeviceType> find_device_type(std::string_view name);

// Two bytes. An index of -1 means the current device of the type.
class Device {
 public:
  // Errors: an index below -1.
  constexpr Device(DeviceType type, std::int8_t index = -1) : type_(type), index_(index) {  // NOLINT
    if (index < -1) fail_index(type, index);
  }
  // "cuda" or "cuda:1". A device type that is not known yet is brought by libkeyway_<type>.so in a folder of
  // KEYWAY_PLUGIN_PATH. Errors say what is wrong with the text, which device types there are and where more were
  // looked for.
  KEYWAY_API Device(std::string_view text);                            // NOLINT
  Device(const std::string& text) : Device(std::string_view(text)) {}  // NOLINT
  Device(const char* text) : Device(std::string_view(text)) {}         // NOLINT

  constexpr DeviceType type() const { return type_; }
  constexpr std::int8_t index() const { return index_; }
  constexpr bool has_index() const { return index_ != -1; }
  constexpr bool is_cpu() const { return type_ == DeviceType::CPU; }
  constexpr bool is_cuda() const { return type_ == DeviceType::CUDA; }
  constexpr bool is_meta() const { return type_ == DeviceType::Meta; }

  friend constexpr bool operator==(Device, Device) = default;

 private:
  [[noreturn]] KEYWAY_API static void fail_index(DeviceType type, int index);

  DeviceType type_;
  std::int8_t index_;
};

// "cuda:1", or "cuda" without an index.
KEYWAY_API std::string to_string(Device device);

}  // namespace keyway::inline v1
