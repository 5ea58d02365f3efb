#include <keyway/backends/cuda/reduction_launch.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

using namespace keyway::detail;

namespace {

// Blocks that fill the devices of the day so many times over that those left to the end are few.
constexpr std::uint32_t kBlocks = 4096;
// A thread of a unit has so many items at least, where there are more units than one.
constexpr std::uint32_t kElementsPerThread = 16;
constexpr std::uint32_t kPiecesPerThread = 8;

std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a - 1) / b + 1; }

void add_dim(IterationSpace& space, const IterationSpace& from, int d, const int* operands) {
  const int at = space.rank++;
  space.sizes[at] = from.sizes[d];
  for (int k = 0; k < space.operands; ++k) space.strides[k][at] = from.strides[operands[k]][d];
}

bool outputs_are_inner(const LaunchSpace& kept, const LaunchSpace& reduced) {
  if (kept.rank == 0 || reduced.rank == 0) return reduced.rank == 0;
  return std::abs(kept.strides[0][kSelf]) < std::abs(reduced.strides[0][0]) && kept.sizes[0].value >= 8;
}

// Whether all pieces but the last are whole, and elements of each are neighbours.
bool is_in_pieces(const LaunchSpace& reduced, std::int64_t itemsize) {
  const auto width = static_cast<std::uint32_t>(piece_width(itemsize));
  if (width == 1 || reduced.rank == 0 || reduced.strides[0][0] != itemsize) return false;
  return reduced.rank == 1 ? reduced.numel >= width : reduced.sizes[0].value % width == 0;
}

bool strides_are_aligned(const LaunchSpace& space, int operand, int first_dim) {
  for (int d = first_dim; d < space.rank; ++d) {
    if (space.strides[d][operand] % kPieceBytes != 0) return false;
  }
  return true;
}
// Whether the pieces of every output begin at multiples of their size.
bool pieces_are_aligned(const ReductionLaunch& launch) {
  const char* const first = launch.kept.data[kSelf] + (launch.reduced.data[0] - launch.self);
  return reinterpret_cast<std::uintptr_t>(first) % kPieceBytes == 0 && strides_are_aligned(launch.kept, kSelf, 0) &&
         strides_are_aligned(launch.reduced, 0, 1);
}

}  // namespace

void split_space(const IterationSpace& space, IterationSpace& kept, IterationSpace& reduced) {
  constexpr int kKept[] = {kSelf, kOut, kSecond}, kReduced[] = {kSelf, kIndex};
  kept.operands = 3;
  reduced.operands = 2;
  for (int k = 0; k < 3; ++k) kept.data[k] = space.data[k];
  // Indices count from the same address: a null pointer cannot be moved.
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

std::vector<ReductionLaunch> reduction_launches(const IterationSpace& kept, const IterationSpace& reduced,
                                                std::int64_t itemsize) {
  std::vector<ReductionLaunch> launches;
  std::uint32_t first_unit = 0;
  std::int64_t count = 0;
  for_each_part(reduced, [&](const IterationSpace& part) {
    ReductionLaunch launch;
    launch.kept = launch_space(kept);
    launch.reduced = launch_space(part);
    launch.self = reduced.data[0];
    launch.first_unit = first_unit;
    const bool columns = outputs_are_inner(launch.kept, launch.reduced);
    const bool pieces = !columns && is_in_pieces(launch.reduced, itemsize);
    if (pieces) launch.width = static_cast<std::uint32_t>(piece_width(itemsize));
    launch.aligned = pieces && pieces_are_aligned(launch);
    const std::uint32_t n = launch.items();
    launch.teams = teams_for(n, columns);
    const std::uint32_t most = divide_up(n, launch.teams.size * (pieces ? kPiecesPerThread : kElementsPerThread));
    const std::uint32_t wanted = std::clamp(divide_up(kBlocks, launch.blocks()), 1u, most);
    launch.unit = divide_up(n, wanted);
    launch.units = divide_up(n, launch.unit);
    first_unit += launch.units;
    count += launch.reduced.numel;
    launches.push_back(launch);
  });
  for (ReductionLaunch& launch : launches) launch.count = count;
  return launches;
}

FinishLaunch finish_launch(const LaunchSpace& kept, std::uint32_t units, std::int64_t count, const char* partial) {
  // Those of neighbouring outputs are neighbours.
  return {kept, teams_for(units, kept.numel >= 8), units, count, partial};
}

std::uint32_t units_of(const std::vector<ReductionLaunch>& launches) {
  return launches.back().first_unit + launches.back().units;
}

}  // namespace keyway::inline v1::cuda
