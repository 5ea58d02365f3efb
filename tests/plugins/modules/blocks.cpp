// A library that registers as it is loaded, with a fault: 0 is none.
#include <keyway/dispatch/registry/library.h>

#include <stdexcept>

namespace {

using namespace keyway;

#if FAULT == 5 && defined(__x86_64__)
// What the compiler links into a library that is built for fast math.
struct FlushesToZero {
  FlushesToZero() { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U); }
} const flushes;
#endif

}  // namespace

KEYWAY_LIBRARY_FRAGMENT(blocks, m) {
  m.def("answer(Tensor self) -> int");
#if FAULT == 1
  m.def("cut(Tensor self");
#elif FAULT == 2
  throw std::runtime_error("the block has no such device");
#elif FAULT == 3
  m.def("answer(Tensor self) -> int");
#endif
}
KEYWAY_LIBRARY_IMPL(blocks, CPU, m) {
#if FAULT == 4
  m.impl("answer", [](const TensorBase&) { return 0.5; });
#else
  m.impl("answer", [](const TensorBase&) { return std::int64_t{42}; });
#endif
}
