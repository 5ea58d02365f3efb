// PoisonedMemory: fills new memory of the CPU, so that what is read before it was written, or never written, shows.
#pragma once

#include <keyway/core/device/allocator.h>

namespace keyway::inline v1::tools {

// Stands before the CPU's allocator as long as it lives. Memory that it gave may outlive it.
class PoisonedMemory final : public Allocator {
 public:
  // What each byte of new memory is.
  explicit PoisonedMemory(unsigned char byte);
  PoisonedMemory(const PoisonedMemory&) = delete;
  PoisonedMemory& operator=(const PoisonedMemory&) = delete;
  ~PoisonedMemory() override;
  DataPtr allocate(std::size_t bytes) override;

 private:
  Allocator* before_;  // null: the library's own
  unsigned char byte_;
};

}  // namespace keyway::inline v1::tools
