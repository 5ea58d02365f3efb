// parallel_for: the one way in which CPU kernels use several threads.
//
// One pool serves the process. It starts with the first range that is worth it, is sized by
// set_num_threads(), the variable KEYWAY_NUM_THREADS or the processors this process may run on (in that
// order), and starts anew in a forked child. A caller works on its own range and never waits for a chunk that
// nobody has begun, so any number of callers may use the pool at once, and all of them finish even if it has
// no thread to spare.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>

namespace keyway::inline v1 {

// At least 1; counts the caller.
KEYWAY_API int get_num_threads();
// Takes effect at the next parallel_for. Throws keyway::Error if n is not in [1, 1024], and when called from
// within a parallel_for.
KEYWAY_API void set_num_threads(int n);
// Whether this thread is at work on a part of a parallel_for, so that another would run inline.
KEYWAY_API bool in_parallel_region();

// Elements of light work that one thread does faster than two.
inline constexpr std::int64_t kElementGrain = 32768;

namespace detail {
using RangeFunction = void (*)(const void* f, std::int64_t begin, std::int64_t end);
KEYWAY_API void parallel_for_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction run,
                                    const void* f);
}  // namespace detail

// Calls f(b, e) for ranges that together are [begin, end), each of at least `grain` elements but for the
// last, on this thread and those of the pool; returns when all are done. A range of at most `grain` elements,
// and a call from within another parallel_for, is one call on this thread. Where the cuts are depends on the
// number of threads: what f computes for an element must not depend on them.
//
// If f throws, no further range is begun, and the exception of the lowest range that threw is thrown here.
// Requires: grain > 0.
template <typename F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const F& f) {
  if (begin >= end) return;
  if (end - begin <= grain) {
    f(begin, end);
    return;
  }
  detail::parallel_for_chunks(
      begin, end, grain, [](const void* g, std::int64_t b, std::int64_t e) { (*static_cast<const F*>(g))(b, e); }, &f);
}

}  // namespace keyway::inline v1
