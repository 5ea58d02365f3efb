// parallel_for, and how many threads there are.
#pragma once

#include <keyway/backends/cpu/parallel.h>

#include <keyway_compat/namespaces.h>

namespace at {
namespace internal {
constexpr std::int64_t GRAIN_SIZE = keyway::kElementGrain;
}  // namespace internal
// As in PyTorch a grain of 0 leaves the size of ranges to the library.
template <typename F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const F& f) {
  keyway::parallel_for(begin, end, grain > 0 ? grain : 1, f);
}
}  // namespace at
