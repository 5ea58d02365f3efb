#include <keyway/backends/cuda/reduction_launch.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

using namespace keyway::detail;

namespace {

// Blocks that fill the devices of the day several times over.
constexpr std::uint32_t kBlocks = 2048;
// A thread of a unit has so many elements at least, where there are more units than one.
constexpr std::uint32_t kElementsPerThread = 16;

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a - 1) / b + 1; }

void add_dim(Strided& space, const Strided& from, int d, const int* operands) {
  const int at = space.rank++;
  space.sizes[at] = from.sizes[d];
  for (int k = 0; k < space.operands; ++k) space.strides[k][at] = from.strides[operands[k]][d];
}

bool outputs_are_inner(const LaunchSpace& kept, const LaunchSpace& reduced) {
  if (kept.rank == 0 || reduced.rank == 0) return reduced.rank == 0;
  return std::abs(kept.strides[0][kSelf]) < std::abs(reduced.strides[0][0]) && kept.sizes[0].value >= 8;
}

}  // namespace

void split_space(const Strided& space, Strided& kept, Strided& reduced) {
  constexpr int kKept[] = {kSelf, kOut, kSecond}, kReduced[] = {kSelf, kIndex};
  kept.operands = 3;
  reduced.operands = 2;
  for (int k = 0; k < 3; ++k) kept.data[k] = space.data[k];
  // Indices count from the same place: a null pointer cannot be moved.
  reduced.data[0] = reduced.data[1] = space.data[kSelf];
  kept.rank = reduced.rank = 0;
  for (int d = 0; d < space.rank; ++d) {
    if (space.strides[kOut][d] == 0) {
      add_dim(reduced, space, d, kReduced);
    } else {
      add_dim(kept, space, d, kKept);
    }
  }
}

std::vector<ReductionLaunch> reduction_launches(const Strided& kept, const Strided& reduced) {
  std::vector<ReductionLaunch> launches;
  std::uint32_t first_unit = 0;
  std::int64_t count = 0;
  for_each_part(reduced, [&](const Strided& part) {
    ReductionLaunch launch;
    launch.kept = launch_space(kept);
    launch.reduced = launch_space(part);
    launch.self = reduced.data[0];
    launch.first_unit = first_unit;
    const std::uint32_t n = launch.reduced.numel;
    launch.teams = teams_for(n, outputs_are_inner(launch.kept, launch.reduced));
    const std::uint32_t most = divide_up(n, launch.teams.size * kElementsPerThread);
    const std::uint32_t wanted = std::clamp(divide_up(kBlocks, launch.blocks()), 1u, most);
    launch.unit = divide_up(n, wanted);
    launch.units = divide_up(n, launch.unit);
    first_unit += launch.units;
    count += n;
    launches.push_back(launch);
  });
  for (ReductionLaunch& launch : launches) launch.count = count;
  return launches;
}

std::uint32_t units_of(const std::vector<ReductionLaunch>& launches) {
  return launches.back().first_unit + launches.back().units;
}

}  // namespace keyway::inline v1::cuda
