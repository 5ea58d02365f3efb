// This file is compiled with -ffp-contract=fast, so that a product and a sum become one fused instruction
// where the level has it. Include nothing here whose inline functions compute.
#include <keyway/backends/cpu/gemm_tiles.h>

#include <algorithm>
#include <cstring>
#include <utility>

#if defined(__clang__)
#define KEYWAY_UNROLL _Pragma("unroll")
#else
#define KEYWAY_UNROLL _Pragma("GCC unroll 8")
#endif

namespace keyway::inline v1::detail {

namespace {

namespace baseline {
#define KEYWAY_LEVEL_TARGET KEYWAY_TARGET_BASELINE
#define KEYWAY_LEVEL_BYTES 16
#define KEYWAY_LEVEL_ROWS 6
#include <keyway/backends/cpu/gemm_tile.inc>
#undef KEYWAY_LEVEL_TARGET
#undef KEYWAY_LEVEL_BYTES
#undef KEYWAY_LEVEL_ROWS
}  // namespace baseline

#if KEYWAY_HAS_LEVELS
namespace avx2 {
#define KEYWAY_LEVEL_TARGET KEYWAY_TARGET_AVX2
#define KEYWAY_LEVEL_BYTES 32
#define KEYWAY_LEVEL_ROWS 6
#include <keyway/backends/cpu/gemm_tile.inc>
#undef KEYWAY_LEVEL_TARGET
#undef KEYWAY_LEVEL_BYTES
#undef KEYWAY_LEVEL_ROWS
}  // namespace avx2

namespace avx512 {
#define KEYWAY_LEVEL_TARGET KEYWAY_TARGET_AVX512
#define KEYWAY_LEVEL_BYTES 64
#define KEYWAY_LEVEL_ROWS 8
#include <keyway/backends/cpu/gemm_tile.inc>
#undef KEYWAY_LEVEL_TARGET
#undef KEYWAY_LEVEL_BYTES
#undef KEYWAY_LEVEL_ROWS
}  // namespace avx512
#endif

}  // namespace

template <typename T>
const Tiles<T>& tiles([[maybe_unused]] SimdLevel level) {
#if KEYWAY_HAS_LEVELS
  if (level == SimdLevel::Avx512) return avx512::kTiles<T>;
  if (level == SimdLevel::Avx2) return avx2::kTiles<T>;
#endif
  return baseline::kTiles<T>;
}

template <typename T>
const LineTiles<T>& line_tiles([[maybe_unused]] SimdLevel level) {
#if KEYWAY_HAS_LEVELS
  if (level == SimdLevel::Avx512) return avx512::kLineTiles<T>;
  if (level == SimdLevel::Avx2) return avx2::kLineTiles<T>;
#endif
  return baseline::kLineTiles<T>;
}

template const LineTiles<float>& line_tiles(SimdLevel);
template const LineTiles<double>& line_tiles(SimdLevel);
template const Tiles<float>& tiles(SimdLevel);
template const Tiles<double>& tiles(SimdLevel);
template const Tiles<std::uint32_t>& tiles(SimdLevel);
template const Tiles<std::uint64_t>& tiles(SimdLevel);

}  // namespace keyway::inline v1::detail
