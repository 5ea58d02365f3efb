// Tiles of the rows of heads, in shared memory and as what warps of tensor cores have of them: what kernels of
// attention are made of. Every thread of the block calls all of it. Internal to backends/cuda.
//
// A block has kAttentionRows rows, 16 of each warp: "its own". The other rows come by in tiles. Sums of a warp are
// those of its rows and of so many columns: thread t has, of each eight columns, two from t % 4 * 2 on, of row t / 4,
// then of the row eight further.
#pragma once

#include <keyway/backends/cuda/attention_launch.h>
#include <keyway/backends/cuda/driver/mma.cuh>

#include <cstdint>

namespace keyway::inline v1::cuda::detail {

// Rows of kWidth elements are eight elements apart from another, so that eight rows of 16 bytes each lie in different
// banks.
template <int kWidth>
inline constexpr int kAttentionPitch = kWidth + 8;
template <int kWidth>
inline constexpr int kAttentionTileBytes = kAttentionRows* kAttentionPitch<kWidth> * 2;

inline __device__ unsigned attention_lane() { return threadIdx.x % 32; }
inline __device__ unsigned attention_warp() { return threadIdx.x / 32; }
// Of the block's own, the first of two rows of this thread, of which the second one is eight further.
inline __device__ int attention_row() { return static_cast<int>(attention_warp() * 16 + attention_lane() / 4); }
// Of each eight columns, the first of two of this thread.
inline __device__ int attention_column() { return static_cast<int>(attention_lane() % 4 * 2); }

// The rows of a head.
template <typename T>
struct HeadRows {
  T* data;
  std::int64_t stride;
  int rows, columns;
  bool has_pieces;

  __device__ HeadRows(const AttentionHeads& heads, std::int64_t example, int head, int of_rows, int of_columns)
      : data(reinterpret_cast<T*>(heads.data) + example * heads.example_stride + head * heads.head_stride),
        stride(heads.row_stride),
        rows(of_rows),
        columns(of_columns),
        has_pieces(heads.has_pieces) {}
};

// Calls visit(row, column) for what this thread has of a tile of kRows x kWidth, in steps of kStep elements.
template <int kRows, int kWidth, int kStep, typename Visit>
__device__ void visit_tile(const Visit& visit) {
  constexpr int kAcross = kWidth / kStep, kThreads = static_cast<int>(kAttentionThreads);
  constexpr int kDown = kThreads / kAcross;
  static_assert(kRows % kDown == 0);
  const int row = static_cast<int>(threadIdx.x) / kAcross, column = static_cast<int>(threadIdx.x) % kAcross * kStep;
#pragma unroll 4
  for (int i = 0; i < kRows; i += kDown) visit(row + i, column);
}

// Begins to bring kRows rows from `first` to a tile; what does not exist is zero there. It is there for all threads
// after wait_for_copies() and a barrier.
template <typename T, int kRows, int kWidth>
__device__ void fetch_tile(const HeadRows<T>& from, int first, T* tile) {
  constexpr int kPitch = kAttentionPitch<kWidth>;
  const T* const rows = from.data + first * from.stride;
  const int left = from.rows - first;
  if (from.has_pieces) {
    constexpr int kAcross = kWidth / 8, kDown = static_cast<int>(kAttentionThreads) / kAcross;
    const int row = static_cast<int>(threadIdx.x) / kAcross, column = static_cast<int>(threadIdx.x) % kAcross * 8;
    const int end = column < from.columns ? left - row : 0;
    const std::int64_t step = kDown * from.stride;
    const T* at = rows + row * from.stride + column;
    T* const to = tile + row * kPitch + column;
#pragma unroll
    for (int i = 0; i < kRows; i += kDown, at += step) copy_async<16>(to + i * kPitch, at, i < end);
  } else {
    visit_tile<kRows, kWidth, 1>([&](int row, int column) {
      const bool exists = row < left && column < from.columns;
      tile[row * kPitch + column] = exists ? rows[row * from.stride + column] : T();
    });
  }
}

// Writes sums times `factors`, of this thread's two rows, to the block's own rows from `first`. `tile` is memory for as
// many, which nothing else is in after the next barrier.
template <typename T, int kWidth>
__device__ void write_tile(const float (&sums)[kWidth / 8][4], const float (&factors)[2], const HeadRows<T>& to,
                           int first, T* tile) {
  constexpr int kPitch = kAttentionPitch<kWidth>;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kWidth / 8; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      T* const at = tile + (attention_row() + half * 8) * kPitch + i * 8 + attention_column();
      *reinterpret_cast<std::uint32_t*>(at) =
          pair_of<T>(sums[i][half * 2] * factors[half], sums[i][half * 2 + 1] * factors[half]);
    }
  }
  __syncthreads();
  T* const rows = to.data + first * to.stride;
  const int left = to.rows - first;
  struct alignas(16) Piece {
    std::uint32_t words[4];
  };
  if (to.has_pieces) {
    visit_tile<kAttentionRows, kWidth, 8>([&](int row, int column) {
      if (row >= left || column >= to.columns) return;
      *reinterpret_cast<Piece*>(rows + row * to.stride + column) =
          *reinterpret_cast<const Piece*>(tile + row * kPitch + column);
    });
  } else {
    visit_tile<kAttentionRows, kWidth, 1>([&](int row, int column) {
      if (row < left && column < to.columns) rows[row * to.stride + column] = tile[row * kPitch + column];
    });
  }
}

// Where this thread's row of four matrices begins that are a quarter each of 16 x 16 elements: the two on the left
// first, or the two above.
template <int kWidth, typename T>
__device__ const T* left_first(const T* tile) {
  return tile + attention_lane() % 16 * kAttentionPitch<kWidth> + attention_lane() / 16 * 8;
}
template <int kWidth, typename T>
__device__ const T* upper_first(const T* tile) {
  return tile + (attention_lane() / 16 * 8 + attention_lane() % 8) * kAttentionPitch<kWidth> +
         attention_lane() / 8 % 2 * 8;
}

// A warp's own rows, as a of products: in registers, or in shared memory still.
template <typename T, int kWidth, bool kHeld>
class OwnRows {
 public:
  // `tile` has all rows of the block; if kHeld it is not needed any longer than for this call.
  __device__ explicit OwnRows(const T* tile)
      : at_(left_first<kWidth>(tile + attention_warp() * 16 * kAttentionPitch<kWidth>)) {
    if constexpr (kHeld) {
#pragma unroll
      for (int k = 0; k < kWidth / 16; ++k) load_matrices(at_ + k * 16, held_[k]);
    }
  }

  // Calls use(a) with 16 columns.
  template <typename Use>
  __device__ void with(int k, const Use& use) const {
    if constexpr (kHeld) {
      use(held_[k]);
    } else {
      std::uint32_t loaded[4];
      load_matrices(at_ + k * 16, loaded);
      use(loaded);
    }
  }

 private:
  const T* at_;
  std::uint32_t held_[kHeld ? kWidth / 16 : 1][4];
};

// sums += own tile^T, with a column for each of the kOthers rows of a tile.
template <typename T, int kWidth, int kOthers, bool kHeld>
__device__ void multiply_transposed(const OwnRows<T, kWidth, kHeld>& own, const T* tile,
                                    float (&sums)[kOthers / 8][4]) {
  const T* const at = upper_first<kWidth>(tile);
#pragma unroll
  for (int k = 0; k < kWidth / 16; ++k) {
    own.with(k, [&](const std::uint32_t(&a)[4]) {
#pragma unroll
      for (int j = 0; j < kOthers / 16; ++j) {
        std::uint32_t b[4];
        load_matrices(at + j * 16 * kAttentionPitch<kWidth> + k * 16, b);
        mma_16x8x16<T>(sums[j * 2], a, b[0], b[1]);
        mma_16x8x16<T>(sums[j * 2 + 1], a, b[2], b[3]);
      }
    });
  }
}

// sums += weights tile, where weights have a column for each of the kOthers rows of the tile. They are rounded to T.
template <typename T, int kWidth, int kOthers>
__device__ void multiply_weights(const float (&weights)[kOthers / 8][4], const T* tile, float (&sums)[kWidth / 8][4]) {
  const T* const at = left_first<kWidth>(tile);
#pragma unroll
  for (int k = 0; k < kOthers / 16; ++k) {
    const float(&left)[4] = weights[k * 2];
    const float(&right)[4] = weights[k * 2 + 1];
    const std::uint32_t a[4] = {pair_of<T>(left[0], left[1]), pair_of<T>(left[2], left[3]),
                                pair_of<T>(right[0], right[1]), pair_of<T>(right[2], right[3])};
#pragma unroll
    for (int j = 0; j < kWidth / 16; ++j) {
      std::uint32_t b[4];
      load_transposed(at + k * 16 * kAttentionPitch<kWidth> + j * 16, b);
      mma_16x8x16<T>(sums[j * 2], a, b[0], b[1]);
      mma_16x8x16<T>(sums[j * 2 + 1], a, b[2], b[3]);
    }
  }
}

// Calls compute(tile, slot) for tiles 0 to count - 1, after fetch(tile, slot) began to bring each. They are in one of
// two slots in turn: while threads compute with one, what comes to the other one is on its way. Nothing else is in
// these slots: it begins with a barrier.
template <typename Fetch, typename Compute>
__device__ void each_tile(int count, const Fetch& fetch, const Compute& compute) {
  __syncthreads();
  if (count > 0) fetch(0, 0);
  for (int i = 0; i < count; ++i) {
    wait_for_copies();
    __syncthreads();
    if (i + 1 < count) fetch(i + 1, (i + 1) % 2);
    compute(i, i % 2);
  }
}

}  // namespace keyway::inline v1::cuda::detail
