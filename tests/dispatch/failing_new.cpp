#include <keyway/tests/dispatch/failing_new.h>

#include <cstdlib>
#include <new>

namespace keyway::inline v1::testing {
thread_local int allocations_left = -1;
}

void* operator new(std::size_t size) {
  int& left = keyway::testing::allocations_left;
  if (left == 0) throw std::bad_alloc();
  if (left > 0) --left;
  if (void* block = std::malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc();
}
// The sanitizers' own would not go with the delete below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
