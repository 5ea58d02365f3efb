#include <keyway/backends/cuda/teams.h>

#include <algorithm>
#include <bit>

namespace keyway::inline v1::cuda {

namespace {
// Neighbouring threads that read one line of memory.
constexpr std::uint64_t kLine = 32;
}  // namespace

Teams teams_for(std::uint64_t n, bool columns) {
  const auto power = [](std::uint64_t x) { return std::bit_ceil(std::max<std::uint64_t>(x, 1)); };
  std::uint64_t size = 0;
  if (columns) {
    size = std::min(power((n + 3) / 4), kTeamThreads / kLine);
  } else {
    size = std::clamp(power((n + 7) / 8), std::min(power(n), kLine), std::uint64_t{kTeamThreads});
  }
  return {static_cast<std::uint32_t>(size), columns};
}

}  // namespace keyway::inline v1::cuda
