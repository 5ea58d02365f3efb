#include <keyway/core/device/host_allocator.h>
#include <keyway/tools/keyway/conform/poisoned_memory.h>

#include <cstring>

namespace keyway::inline v1::tools {

PoisonedMemory::PoisonedMemory(unsigned char byte) : before_(set_allocator(DeviceType::CPU, this)), byte_(byte) {}

PoisonedMemory::~PoisonedMemory() { remove_allocator(DeviceType::CPU, this); }

DataPtr PoisonedMemory::allocate(std::size_t bytes) {
  DataPtr memory = (before_ != nullptr ? *before_ : host_allocator()).allocate(bytes);
  if (bytes > 0) std::memset(memory.get(), byte_, bytes);
  return memory;
}

}  // namespace keyway::inline v1::tools
