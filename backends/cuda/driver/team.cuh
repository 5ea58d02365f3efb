// What the threads of a team do together. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/teams.h>

namespace keyway::inline v1::cuda::detail {

// The merge, pairwise, of what the threads of each team have: where the team's first thread has its place in the block,
// in the memory that is returned. Every thread of the block calls it; before it is called again with the same types,
// all have read what they need and met at a barrier.
template <typename Acc, typename Merge>
__device__ Acc* merge_teams(const Teams& teams, std::uint32_t rank, const Acc& mine, const Merge& merge) {
  alignas(Acc) __shared__ unsigned char memory[kTeamThreads * sizeof(Acc)];
  Acc* const shared = reinterpret_cast<Acc*>(memory);
  const std::uint32_t apart = teams.step();
  shared[threadIdx.x] = mine;
  for (std::uint32_t half = teams.size / 2; half > 0; half /= 2) {
    __syncthreads();
    if (rank < half) shared[threadIdx.x] = merge(shared[threadIdx.x], shared[threadIdx.x + half * apart]);
  }
  return shared;
}

// The merge, in order, of what the threads of each team have up to each of them, where merge_teams has its result. The
// same is required.
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
