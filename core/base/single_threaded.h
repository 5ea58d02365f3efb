// is_single_threaded: whether a read-modify-write needs no locked instruction.
#pragma once

#include <cstddef>

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 32)
extern "C" char __libc_single_threaded;  // declared in <sys/single_threaded.h>
#define KEYWAY_LIBC_COUNTS_THREADS 1
#endif
#endif

namespace keyway::inline v1 {

// True only while the process has one thread. The C library knows: glibc from 2.32 on; elsewhere this is false.
inline bool is_single_threaded() noexcept {
#ifdef KEYWAY_LIBC_COUNTS_THREADS
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

}  // namespace keyway::inline v1

#undef KEYWAY_LIBC_COUNTS_THREADS
