// Scores of tiles of attention, scaled and masked: in units of log(2), so that their exponentials are powers of two.
// Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/attention_tiles.cuh>

#include <limits>

namespace keyway::inline v1::cuda::detail {

inline constexpr float kLog2E = 1.4426950408889634f, kLogOf2 = 0.6931471805599453f;

// What scores are multiplied with is positive, unless that was done before: then it is 1, and -infinity stays what it
// is whatever the scale.
class AttentionScores {
 public:
  __device__ explicit AttentionScores(const AttentionLaunch& launch)
      : launch_(launch), scale_(launch.scale * kLog2E), is_scaled_(has_numbers() || !(launch.scale > 0)) {}

  // To be multiplied with after mask().
  __device__ float factor() const { return is_scaled_ ? 1.0f : scale_; }

  // Whether mask() has anything to do for a tile of kOthers columns.
  template <bool kOfKeys, int kOthers>
  __device__ bool needs_mask(int first_query, int first_key) const {
    return is_scaled_ || launch_.mask.kind != AttentionMask::Kind::None ||
           !is_whole<kOfKeys, kOthers>(first_query, first_key);
  }

  // Masks scores of an example and head. Rows are queries from `first_query` and columns keys from `first_key`, or if
  // kOfKeys the other way round. What is not seen becomes -infinity.
  template <bool kOfKeys, typename T, int kColumns>
  __device__ void mask(std::int64_t example, int head, int first_query, int first_key,
                       float (&scores)[kColumns][4]) const {
    using Kind = AttentionMask::Kind;
    const AttentionMask& mask = launch_.mask;
    if (is_scaled_) {
      for (auto& of : scores) {
        for (float& score : of) score *= scale_;
      }
    }
    if (mask.kind == Kind::None) {
      each_of<kOfKeys>(first_query, first_key, 0, scores, [](float score, std::int64_t) { return score; });
      return;
    }
    const std::int64_t first = example * mask.strides[0] + head * mask.strides[1];
    if (mask.kind == Kind::Bools) {
      const auto* const seen = reinterpret_cast<const std::uint8_t*>(mask.data);
      each_of<kOfKeys>(first_query, first_key, first, scores, [&](float score, std::int64_t offset) {
        return seen[offset] != 0 ? score : -std::numeric_limits<float>::infinity();
      });
    } else {
      const auto* const added = reinterpret_cast<const T*>(mask.data);
      each_of<kOfKeys>(first_query, first_key, first, scores, [&](float score, std::int64_t offset) {
        return score + static_cast<float>(added[offset]) * kLog2E;
      });
    }
  }

 private:
  __device__ bool has_numbers() const { return launch_.mask.kind == AttentionMask::Kind::Numbers; }

  // Whether every query of a tile sees every key of it. Columns that do not exist are none of that; rows may be what
  // they are, since nothing comes of them.
  template <bool kOfKeys, int kOthers>
  __device__ bool is_whole(int first_query, int first_key) const {
    const int last_key = first_key + (kOfKeys ? kAttentionRows : kOthers) - 1;
    if (launch_.is_causal && last_key > first_query) return false;
    return kOfKeys ? first_query + kOthers <= launch_.queries : last_key < launch_.keys;
  }

  // Keys that a query sees, or queries that see a key.
  struct Range {
    int begin, end;
  };
  template <bool kOfKeys>
  __device__ Range seen(int row) const {
    if constexpr (kOfKeys) {
      return {launch_.is_causal ? row : 0, row < launch_.keys ? launch_.queries : 0};
    } else {
      const int end = launch_.is_causal && row < launch_.keys ? row + 1 : launch_.keys;
      return {0, row < launch_.queries ? end : 0};
    }
  }

  // A score becomes f(score, offset), the offset in the mask, which begins at `first`; -infinity if it is not seen
  // whatever the mask.
  template <bool kOfKeys, int kColumns, typename F>
  __device__ void each_of(int first_query, int first_key, std::int64_t first, float (&scores)[kColumns][4],
                          const F& f) const {
    const int row = (kOfKeys ? first_key : first_query) + attention_row();
    const int column = (kOfKeys ? first_query : first_key) + attention_column();
    const std::int64_t down = launch_.mask.strides[kOfKeys ? 3 : 2], across = launch_.mask.strides[kOfKeys ? 2 : 3];
    const Range seen_of[2] = {seen<kOfKeys>(row), seen<kOfKeys>(row + 8)};
    std::int64_t offset = first + row * down + column * across;
#pragma unroll
    for (int i = 0; i < kColumns; ++i, offset += 8 * across) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int other = column + i * 8 + j % 2;
        const bool exists = other >= seen_of[j / 2].begin && other < seen_of[j / 2].end;
        scores[i][j] = exists ? f(scores[i][j], offset + j / 2 * 8 * down + j % 2 * across)
                              : -std::numeric_limits<float>::infinity();
      }
    }
  }

  const AttentionLaunch& launch_;
  float scale_;
  bool is_scaled_;
};

}  // namespace keyway::inline v1::cuda::detail
