// Attention of 16-bit floats by tensor cores: a block has 64 queries of a head. Of each the greatest score so far, the
// sum of exp(score - greatest) and the values weighed by these stay in registers while tiles of keys and values go by.
//
// Tri Dao, FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning (2023), algorithm 1.
#include <keyway/backends/cuda/driver/attention_scores.cuh>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/driver/warp.cuh>
#include <keyway/backends/cuda/kernels/flash_attention.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <cmath>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

using detail::AttentionScores;
using detail::HeadRows;
using detail::OwnRows;

// merge(...) of what the four threads have that share a row.
template <typename Merge>
__device__ float merge_row(float mine, const Merge& merge) {
  const std::uint32_t lane = detail::attention_lane();
  mine = merge(mine, detail::from_lane(mine, lane ^ 1));
  return merge(mine, detail::from_lane(mine, lane ^ 2));
}

// Of this thread's two rows. The sums are of this thread's columns.
struct RunningSums {
  float top[2] = {-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  float sum[2] = {0, 0};
};

// Scores become weights that are not divided by their sum yet.
template <int kColumns, int kValues>
__device__ void weigh(float (&scores)[kColumns][4], float factor, RunningSums& running, float (&weighed)[kValues][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float top = running.top[half];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) top = fmaxf(top, fmaxf(scores[i][half * 2], scores[i][half * 2 + 1]));
    top = merge_row(top, [](float a, float b) { return fmaxf(a, b); });
    // Nothing seen so far: then all weights are those of -infinity.
    const float shift = top == -std::numeric_limits<float>::infinity() ? 0.0f : -top * factor;
    const float kept = detail::fast_exp2(fmaf(running.top[half], factor, shift));
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
#pragma unroll
      for (int j = half * 2; j < half * 2 + 2; ++j) {
        scores[i][j] = detail::fast_exp2(fmaf(scores[i][j], factor, shift));
        sum += scores[i][j];
      }
    }
    running.top[half] = top;
    running.sum[half] = running.sum[half] * kept + sum;
    if (kept == 1) continue;
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      weighed[i][half * 2] *= kept;
      weighed[i][half * 2 + 1] *= kept;
    }
  }
}

// What the values are to be multiplied with. Writes the logarithms of the sums from `logsumexp`, one for each query.
__device__ void finish_sums(const RunningSums& running, float factor, int queries, float* logsumexp,
                            float (&factors)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = merge_row(running.sum[half], [](float a, float b) { return a + b; });
    factors[half] = sum == 0 ? 0.0f : 1 / sum;
    const int query = detail::attention_row() + half * 8;
    if (query >= queries || detail::attention_column() != 0) continue;
    logsumexp[query] = sum == 0 ? std::numeric_limits<float>::infinity()
                                : running.top[half] * factor * detail::kLogOf2 + std::log(sum);
  }
}

// Left alone the compiler takes 138 registers for narrow rows, which leaves room for three blocks a multiprocessor.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kAttentionThreads, kWidth == 64 ? 4 : 3)
    flash_forward_tiles(const __grid_constant__ AttentionLaunch launch) {
  constexpr int kKeys = kWidth == 64 ? 64 : 32, kElements = kKeys * detail::kAttentionPitch<kWidth>;
  alignas(16) __shared__ unsigned char memory[4 * kElements * sizeof(T)];
  static_assert(sizeof(memory) >= detail::kAttentionTileBytes<kWidth>);
  T* const tiles = reinterpret_cast<T*>(memory);
  const AttentionLaunch::Part part = launch.queries_of(blockIdx.x);
  const int head_of_keys = part.head / launch.shared_by;
  const HeadRows<T> query(launch.query, part.example, part.head, launch.queries, launch.width);
  const HeadRows<T> key(launch.key, part.example, head_of_keys, launch.keys, launch.width);
  const HeadRows<T> value(launch.value, part.example, head_of_keys, launch.keys, launch.values);
  detail::fetch_tile<T, kAttentionRows, kWidth>(query, part.first, tiles);
  detail::wait_for_copies();
  __syncthreads();
  const OwnRows<T, kWidth, true> own(tiles);
  const AttentionScores masking(launch);
  RunningSums running;
  float weighed[kWidth / 8][4] = {};
  const auto fetch = [&](int tile, int slot) {
    detail::fetch_tile<T, kKeys, kWidth>(key, tile * kKeys, tiles + slot * 2 * kElements);
    detail::fetch_tile<T, kKeys, kWidth>(value, tile * kKeys, tiles + (slot * 2 + 1) * kElements);
  };
  detail::each_tile((launch.keys_seen(part.first) - 1) / kKeys + 1, fetch, [&](int tile, int slot) {
    float scores[kKeys / 8][4] = {};
    detail::multiply_transposed<T, kWidth, kKeys>(own, tiles + slot * 2 * kElements, scores);
    // Each has instructions of its own, so that what needs no mask stays in the registers where the product left it.
    if (masking.needs_mask<false, kKeys>(part.first, tile * kKeys)) {
      masking.mask<false, T>(part.example, part.head, part.first, tile * kKeys, scores);
      weigh(scores, masking.factor(), running, weighed);
    } else {
      weigh(scores, masking.factor(), running, weighed);
    }
    detail::multiply_weights<T, kWidth, kKeys>(scores, tiles + (slot * 2 + 1) * kElements, weighed);
  });
  float factors[2];
  const std::int64_t number = (part.example * launch.heads + part.head) * launch.queries + part.first;
  finish_sums(running, masking.factor(), launch.queries - part.first, launch.logsumexp + number, factors);
  const HeadRows<T> output(launch.output, part.example, part.head, launch.queries, launch.values);
  detail::write_tile<T, kWidth>(weighed, factors, output, part.first, tiles);
}

}  // namespace

void flash_forward(const AttentionLaunch& of, ScalarType dtype, cudaStream_t stream) {
  const bool is_narrow = of.width <= 64 && of.values <= 64;
  visit_dtype<kFlashTypes>(dtype, "attention", [&]<typename T>() {
    launch(is_narrow ? &flash_forward_tiles<T, 64> : &flash_forward_tiles<T, 128>, of.blocks_of_queries(),
           kAttentionThreads, stream, of);
  });
}

}  // namespace keyway::inline v1::cuda
