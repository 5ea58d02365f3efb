// What the threads of a team do together. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/warp.cuh>
#include <keyway/backends/cuda/teams.h>

namespace keyway::inline v1::cuda::detail {

// The merge, pairwise, of what the first `size` threads of each group of so many in a warp have, in the first of them.
// A power of two.
template <typename Acc, typename Merge>
__device__ Acc merge_lanes(Acc acc, std::uint32_t size, const Merge& merge) {
  for (std::uint32_t half = size / 2; half > 0; half /= 2) acc = merge(acc, from_further(acc, half));
  return acc;
}

// Of teams whose threads are neighbours: within warps, then of the warps of each team. All of these do the latter, so
// that each has it for its threads.
template <typename Acc, typename Merge>
__device__ Acc merge_neighbours(const Teams& teams, std::uint32_t rank, const Acc& mine, const Merge& merge) {
  const std::uint32_t lane = threadIdx.x % kWarp, warps = teams.size / kWarp;
  if (warps <= 1) return from_lane(merge_lanes(mine, teams.size, merge), lane - rank % kWarp);
  alignas(Acc) __shared__ unsigned char memory[kTeamThreads / kWarp * sizeof(Acc)];
  Acc* const shared = reinterpret_cast<Acc*>(memory);
  Acc acc = merge_lanes(mine, kWarp, merge);
  if (lane == 0) shared[threadIdx.x / kWarp] = acc;
  __syncthreads();
  if (lane < warps) acc = shared[(threadIdx.x - rank) / kWarp + lane];
  __syncthreads();
  return from_lane(merge_lanes(acc, warps, merge), 0);
}

// Of teams whose threads are apart.
template <typename Acc, typename Merge>
__device__ Acc merge_columns(const Teams& teams, std::uint32_t rank, const Acc& mine, const Merge& merge) {
  alignas(Acc) __shared__ unsigned char memory[kTeamThreads * sizeof(Acc)];
  Acc* const shared = reinterpret_cast<Acc*>(memory);
  const std::uint32_t apart = teams.step();
  shared[threadIdx.x] = mine;
  for (std::uint32_t half = teams.size / 2; half > 0; half /= 2) {
    __syncthreads();
    if (rank < half) shared[threadIdx.x] = merge(shared[threadIdx.x], shared[threadIdx.x + half * apart]);
  }
  __syncthreads();
  const Acc all = shared[threadIdx.x - rank * apart];
  __syncthreads();
  return all;
}

// The merge, pairwise, of what the threads of each team have: the same to the last bit in all of them. Every thread of
// the block calls it.
template <typename Acc, typename Merge>
__device__ Acc merge_teams(const Teams& teams, std::uint32_t rank, const Acc& mine, const Merge& merge) {
  if (teams.columns) return merge_columns(teams, rank, mine, merge);
  return merge_neighbours(teams, rank, mine, merge);
}

// The merge, in order, of what the threads of each team have up to each of them: at their indices in the block, in the
// memory that is returned. Every thread of the block calls it; before it is called again with the same types, all have
// read what they need and met at a barrier.
template <typename Acc, typename Merge>
__device__ Acc* scan_teams(const Teams& teams, std::uint32_t rank, const Acc& mine, const Merge& merge) {
  alignas(Acc) __shared__ unsigned char memory[kTeamThreads * sizeof(Acc)];
  Acc* const shared = reinterpret_cast<Acc*>(memory);
  const std::uint32_t apart = teams.step();
  shared[threadIdx.x] = mine;
  Acc all = mine;
  for (std::uint32_t distance = 1; distance < teams.size; distance *= 2) {
    __syncthreads();
    if (rank >= distance) all = merge(shared[threadIdx.x - distance * apart], all);
    __syncthreads();
    shared[threadIdx.x] = all;
  }
  __syncthreads();
  return shared;
}

// Elements of the rows of all teams of a block that their threads have beside them, kScanned a thread: an odd number,
// so that neighbouring threads do not wait for one bank of the memory.
inline constexpr std::uint32_t kScanned = 5;

template <typename Acc>
__device__ Acc* scanned_elements() {
  alignas(Acc) __shared__ unsigned char memory[kTeamThreads * kScanned * sizeof(Acc)];
  return reinterpret_cast<Acc*>(memory);
}

}  // namespace keyway::inline v1::cuda::detail
