// DeviceUse: what the process holds of the devices of a type and must give back through their backend's code, so that a
// backend is not unloaded under it. The CPU's own memory is not counted.
#pragma once

#include <keyway/core/allocator.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace keyway::inline v1 {

enum class Held : std::uint8_t { Memory, Pinned, Event, Graph };

struct DeviceUse {
  std::int64_t tensors = 0, bytes = 0;  // a tensor and its views are one
  std::int64_t pinned_tensors = 0, pinned_bytes = 0;
  std::int64_t events = 0, graphs = 0;
  bool empty() const { return tensors == 0 && pinned_tensors == 0 && events == 0 && graphs == 0; }
};

KEYWAY_API DeviceUse device_use(DeviceType type);
// "2 tensors of 96 bytes, 1 event".
KEYWAY_API std::string to_string(const DeviceUse& use);

// One thing is held of a device type's backend. It is taken before the backend is asked for the thing.
class KEYWAY_API DeviceHold {
 public:
  // Throws keyway::Error(NotImplemented): the backend is being unloaded.
  DeviceHold(DeviceType type, Held what, std::size_t bytes = 0);
  ~DeviceHold();
  DeviceHold(const DeviceHold&) = delete;
  DeviceHold& operator=(const DeviceHold&) = delete;

  // Leaves it to let_go().
  void keep() { kept_ = true; }
  static void let_go(DeviceType type, Held what, std::size_t bytes = 0) noexcept;

 private:
  DeviceType type_;
  Held what_;
  std::size_t bytes_;
  bool kept_ = false;
};

// `bytes` of the type's allocator, or of that one's pinned memory, held until they are freed. What a plug-in makes
// while it is loaded is its own and not counted: it goes with the plug-in.
KEYWAY_API DataPtr allocate_held(DeviceType type, Held what, std::size_t bytes);

// As long as it lives nothing more can be held of some device types.
class KEYWAY_API DeviceClosing {
 public:
  // `types`: a bit for each.
  explicit DeviceClosing(std::uint32_t types) noexcept;
  ~DeviceClosing();
  DeviceClosing(const DeviceClosing&) = delete;
  DeviceClosing& operator=(const DeviceClosing&) = delete;
  // "device type npu still has 2 tensors of 96 bytes"; empty if nothing is held.
  std::string held() const;

 private:
  std::uint32_t types_;
};

}  // namespace keyway::inline v1
