// 16-bit floats and float32 by what the processor has for them and other loops cannot name. The arithmetic of Half,
// which gives the same bits, takes some twenty instructions instead of one, that of BFloat16 twice as many as are
// needed.
#pragma once

#include <keyway/backends/cpu/loop.h>
#include <keyway/ops/functors/copy.h>

namespace keyway::inline v1::detail {

#if KEYWAY_LOOPS_HAVE_LEVELS

void half_to_float_avx2(const void*, char* const* data, std::int64_t n);
void half_to_float_avx512(const void*, char* const* data, std::int64_t n);
void float_to_half_avx2(const void*, char* const* data, std::int64_t n);
void float_to_half_avx512(const void*, char* const* data, std::int64_t n);
void float_to_bfloat16_avx2(const void*, char* const* data, std::int64_t n);
void float_to_bfloat16_avx512(const void*, char* const* data, std::int64_t n);

template <>
inline constexpr LevelTable<Loop> kLoops<Cast<float, Half>> = {
    kLoopsOf<MapBody, Cast<float, Half>>[SimdLevel::Baseline], half_to_float_avx2, half_to_float_avx512};
template <>
inline constexpr LevelTable<Loop> kLoops<Cast<Half, float>> = {
    kLoopsOf<MapBody, Cast<Half, float>>[SimdLevel::Baseline], float_to_half_avx2, float_to_half_avx512};
template <>
inline constexpr LevelTable<Loop> kLoops<Cast<BFloat16, float>> = {
    kLoopsOf<MapBody, Cast<BFloat16, float>>[SimdLevel::Baseline], float_to_bfloat16_avx2, float_to_bfloat16_avx512};

#endif

}  // namespace keyway::inline v1::detail
