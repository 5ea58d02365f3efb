// The gradient of attention of 16-bit floats by tensor cores, of weights computed again. With weights P, gradient G of
// the result and dP = G value^T, that of the scores is dS = P (dP - expected), and those of the arguments are scale dS
// key, scale dS^T query and P^T G. There is a kernel for blocks of 64 queries, by which tiles of keys go, and one for
// blocks of 64 keys, by which those of all queries go that may see them: each computes P and dS by itself, and every
// sum is one thread's, in one order.
//
// Tri Dao, FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning (2023), algorithm 2.
#include <keyway/backends/cuda/driver/attention_scores.cuh>
#include <keyway/backends/cuda/driver/launch.h>
#include <keyway/backends/cuda/kernels/flash_attention.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <limits>

namespace keyway::inline v1::cuda {

namespace {

using detail::AttentionScores;
using detail::HeadRows;
using detail::OwnRows;

// What a query's scores and gradients of weights are calculated with: -logsumexp in units of log(2), and scale times
// expected.
struct QueryNumbers {
  float shift, mean;

  __device__ static QueryNumbers of(float logsumexp, float expected, float scale) {
    return {-logsumexp * detail::kLog2E, expected * scale};
  }
};

// A score becomes a weight, and the gradient of a weight that of a score. What is not seen has a weight of zero, and
// gives none of its own, where the query sees what is no number too.
__device__ void differentiate_score(float& score, float& slope, float factor, float scale, const QueryNumbers& query) {
  const bool is_seen = score != -std::numeric_limits<float>::infinity();
  score = is_seen ? detail::fast_exp2(fmaf(score, factor, query.shift)) : 0.0f;
  slope = score == 0 ? 0.0f : score * fmaf(slope, scale, -query.mean);
}

// How the memory of a block is shared out. It begins with both tiles of both slots of each_tile(); the block's own
// rows are there before these are, the second ones all the time unless registers hold them.
template <typename T, int kWidth, int kOthers, bool kHeld>
struct FlashMemory {
  static constexpr int kPitch = detail::kAttentionPitch<kWidth>;
  static constexpr int kTileRows = 4 * kOthers;
  static constexpr int kRows = kTileRows > 2 * kAttentionRows ? kTileRows : 2 * kAttentionRows;
  static constexpr int kBytes = kRows * kPitch * static_cast<int>(sizeof(T));
  static_assert(kHeld || kTileRows <= kAttentionRows);
  T* data;

  __device__ T* own(int which) const { return data + which * kAttentionRows * kPitch; }
  __device__ T* tile(int slot, int which) const { return data + (slot * 2 + which) * kOthers * kPitch; }

  // Both of the block's own, from row `first`.
  __device__ void fetch_own(const HeadRows<T>& one, const HeadRows<T>& two, int first) const {
    detail::fetch_tile<T, kAttentionRows, kWidth>(one, first, own(0));
    detail::fetch_tile<T, kAttentionRows, kWidth>(two, first, own(1));
    detail::wait_for_copies();
    __syncthreads();
  }
  __device__ void fetch(const HeadRows<T>& one, const HeadRows<T>& two, int first, int slot) const {
    detail::fetch_tile<T, kOthers, kWidth>(one, first, tile(slot, 0));
    detail::fetch_tile<T, kOthers, kWidth>(two, first, tile(slot, 1));
  }
};

// The block's own rows, of query and G, or of key and value; and what the other two, which come by in tiles, make of
// them. Scores have the block's own rows.
template <typename T, int kWidth, int kOthers, bool kHeld, bool kOfKeys>
struct FlashRows {
  using Memory = FlashMemory<T, kWidth, kOthers, kHeld>;
  const Memory memory;
  const OwnRows<T, kWidth, true> one;
  const OwnRows<T, kWidth, kHeld> two;
  const AttentionScores masking;
  const float scale;

  // Requires: Memory::fetch_own() was called.
  __device__ FlashRows(const Memory& of, const AttentionLaunch& launch)
      : memory(of), one(of.own(0)), two(of.own(1)), masking(launch), scale(launch.scale) {}

  // Weights and dS of the tile at `slot`. numbers(i, j) are the QueryNumbers of column j of the i-th eight, or of this
  // thread's row j.
  template <typename Numbers>
  __device__ void differentiate(int slot, const AttentionLaunch::Part& of, int first_key, const Numbers& numbers,
                                float (&weights)[kOthers / 8][4], float (&slopes)[kOthers / 8][4]) const {
    detail::multiply_transposed<T, kWidth, kOthers>(one, memory.tile(slot, 0), weights);
    detail::multiply_transposed<T, kWidth, kOthers>(two, memory.tile(slot, 1), slopes);
    if (masking.template needs_mask<kOfKeys, kOthers>(of.first, first_key)) {
      masking.template mask<kOfKeys, T>(of.example, of.head, of.first, first_key, weights);
    }
    const float factor = masking.factor();
#pragma unroll
    for (int i = 0; i < kOthers / 8; ++i) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const QueryNumbers query = numbers(i, j);
        const int other = kOfKeys ? j + 2 : j * 2 + 1;
        differentiate_score(weights[i][kOfKeys ? j : j * 2], slopes[i][kOfKeys ? j : j * 2], factor, scale, query);
        differentiate_score(weights[i][other], slopes[i][other], factor, scale, query);
      }
    }
  }
};

template <typename T, int kWidth>
__global__ void __launch_bounds__(kAttentionThreads)
    flash_backward_of_queries(const __grid_constant__ AttentionLaunch launch) {
  constexpr int kKeys = 32;
  using Rows = FlashRows<T, kWidth, kKeys, true, false>;
  alignas(16) __shared__ unsigned char bytes[Rows::Memory::kBytes];
  const typename Rows::Memory memory{reinterpret_cast<T*>(bytes)};
  const AttentionLaunch::Part part = launch.queries_of(blockIdx.x);
  const int head_of_keys = part.head / launch.shared_by;
  const HeadRows<T> key(launch.key, part.example, head_of_keys, launch.keys, launch.width);
  const HeadRows<T> value(launch.value, part.example, head_of_keys, launch.keys, launch.values);
  memory.fetch_own(HeadRows<T>(launch.query, part.example, part.head, launch.queries, launch.width),
                   HeadRows<T>(launch.grad_output, part.example, part.head, launch.queries, launch.values), part.first);
  const Rows rows(memory, launch);
  QueryNumbers numbers[2];
  const std::int64_t number = (part.example * launch.heads + part.head) * launch.queries;
  for (int half = 0; half < 2; ++half) {
    const int query = part.first + detail::attention_row() + half * 8;
    const bool exists = query < launch.queries;
    numbers[half] = QueryNumbers::of(exists ? launch.logsumexp[number + query] : 0.0f,
                                     exists ? launch.expected[number + query] : 0.0f, launch.scale);
  }
  float sums[kWidth / 8][4] = {};
  const auto fetch = [&](int tile, int slot) { memory.fetch(key, value, tile * kKeys, slot); };
  detail::each_tile((launch.keys_seen(part.first) - 1) / kKeys + 1, fetch, [&](int tile, int slot) {
    float weights[kKeys / 8][4] = {}, slopes[kKeys / 8][4] = {};
    rows.differentiate(
        slot, part, tile * kKeys, [&](int, int j) { return numbers[j]; }, weights, slopes);
    detail::multiply_weights<T, kWidth, kKeys>(slopes, memory.tile(slot, 0), sums);
  });
  const HeadRows<T> grad(launch.grad_query, part.example, part.head, launch.queries, launch.width);
  detail::write_tile<T, kWidth>(sums, {1.0f, 1.0f}, grad, part.first, memory.data);
}

// Logarithms of sums, and what is expected, of the queries of a tile.
template <int kQueries>
struct NumbersOfTile {
  float logsumexp[kQueries], expected[kQueries];

  // Begins to bring those of queries from `first`, as fetch_tile does.
  __device__ void fetch(const AttentionLaunch& launch, std::int64_t head, int first) {
    const int query = static_cast<int>(threadIdx.x);
    if (query >= kQueries) return;
    const bool exists = first + query < launch.queries;
    const std::int64_t number = exists ? head * launch.queries + first + query : 0;
    detail::copy_async<4>(logsumexp + query, launch.logsumexp + number, exists);
    detail::copy_async<4>(expected + query, launch.expected + number, exists);
  }
};

// Three blocks of the narrow one are to be in a multiprocessor at a time, which ptxas does not do by itself.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kAttentionThreads, kWidth == 64 ? 3 : 2)
    flash_backward_of_keys(const __grid_constant__ AttentionLaunch launch) {
  constexpr int kQueries = kWidth == 64 ? 32 : 16;
  using Rows = FlashRows<T, kWidth, kQueries, kWidth == 64, true>;
  alignas(16) __shared__ unsigned char bytes[Rows::Memory::kBytes];
  __shared__ NumbersOfTile<kQueries> numbers[2];
  const typename Rows::Memory memory{reinterpret_cast<T*>(bytes)};
  const AttentionLaunch::Part part = launch.keys_of(blockIdx.x);
  memory.fetch_own(HeadRows<T>(launch.key, part.example, part.head, launch.keys, launch.width),
                   HeadRows<T>(launch.value, part.example, part.head, launch.keys, launch.values), part.first);
  const Rows rows(memory, launch);
  float of_key[kWidth / 8][4] = {}, of_value[kWidth / 8][4] = {};
  // Tiles of the queries of each head, from the first that sees some key.
  const int begin = launch.first_query(part.first);
  const int tiles = begin < launch.queries ? (launch.queries - begin - 1) / kQueries + 1 : 0;
  for (int turn = 0; turn < launch.shared_by; ++turn) {
    const int head = part.head * launch.shared_by + turn;
    // Where rows are is computed for each tile: registers are scarce.
    const auto fetch = [&](int tile, int slot) {
      memory.fetch(HeadRows<T>(launch.query, part.example, head, launch.queries, launch.width),
                   HeadRows<T>(launch.grad_output, part.example, head, launch.queries, launch.values),
                   begin + tile * kQueries, slot);
      numbers[slot].fetch(launch, part.example * launch.heads + head, begin + tile * kQueries);
    };
    detail::each_tile(tiles, fetch, [&](int tile, int slot) {
      float weights[kQueries / 8][4] = {}, slopes[kQueries / 8][4] = {};
      const auto number = [&](int i, int j) {
        const int column = i * 8 + detail::attention_column() + j;
        return QueryNumbers::of(numbers[slot].logsumexp[column], numbers[slot].expected[column], launch.scale);
      };
      rows.differentiate(slot, {part.example, head, begin + tile * kQueries}, part.first, number, weights, slopes);
      detail::multiply_weights<T, kWidth, kQueries>(weights, memory.tile(slot, 1), of_value);
      detail::multiply_weights<T, kWidth, kQueries>(slopes, memory.tile(slot, 0), of_key);
    });
  }
  const HeadRows<T> grad_key(launch.grad_key, part.example, part.head, launch.keys, launch.width);
  const HeadRows<T> grad_value(launch.grad_value, part.example, part.head, launch.keys, launch.values);
  detail::write_tile<T, kWidth>(of_key, {1.0f, 1.0f}, grad_key, part.first, memory.data);
  detail::write_tile<T, kWidth>(of_value, {1.0f, 1.0f}, grad_value, part.first, memory.data);
}

}  // namespace

void flash_backward(const AttentionLaunch& of, ScalarType dtype, cudaStream_t stream) {
  const bool is_narrow = of.width <= 64 && of.values <= 64;
  visit_dtype<kFlashTypes>(dtype, "attention", [&]<typename T>() {
    launch(is_narrow ? &flash_backward_of_keys<T, 64> : &flash_backward_of_keys<T, 128>, of.blocks_of_keys(),
           kAttentionThreads, stream, of);
    launch(is_narrow ? &flash_backward_of_queries<T, 64> : &flash_backward_of_queries<T, 128>, of.blocks_of_queries(),
           kAttentionThreads, stream, of);
  });
}

}  // namespace keyway::inline v1::cuda
