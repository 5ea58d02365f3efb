// parallel_for and launch, and how many threads there are.
#pragma once

#include <keyway/backends/cpu/parallel.h>
#include <keyway/tasks/launch.h>

#include <keyway_compat/namespaces.h>
#include <utility>

namespace at {
namespace internal {
constexpr std::int64_t GRAIN_SIZE = keyway::kElementGrain;
}  // namespace internal
// As in PyTorch a grain of 0 leaves the size of ranges to the library.
template <typename F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const F& f) {
  keyway::parallel_for(begin, end, grain > 0 ? grain : 1, f);
}
// What the task throws is a warning, since nobody waits for it.
template <typename F>
void launch(F f) {
  keyway::launch(std::move(f)).add_done_callback([](const auto& future) { (void)future.value(); });
}
}  // namespace at
