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
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
