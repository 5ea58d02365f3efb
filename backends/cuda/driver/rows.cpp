#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/driver/rows.h>

namespace keyway::inline v1::cuda {

void launch_rows(const void* kernel, const void* functor, const char* assertion, const RowSpace& row_space, Device on) {
  const Stream current = cuda_device_guard().get_stream(on);
  const DeviceAssertTarget note = device_assert_target(assertion, current);
  row_space.each_part([&](const RowLaunch& part) {
    const void* const arguments[] = {functor, &part, &note};
    const dim3 blocks(blocks_for(part.rows.numel, part.teams.per_block()), part.stretches);
    launch_with(kernel, blocks, kTeamThreads, runtime_stream(current), arguments);
  });
}

}  // namespace keyway::inline v1::cuda
