// float16 to float32 and back by the processor's own instructions, which other loops cannot name: the arithmetic of
// Half, which gives the same bits, takes some twenty instead of one.
#pragma once

#include <keyway/backends/cpu/loop.h>
#include <keyway/ops/functors/copy.h>

namespace keyway::inline v1::detail {

#if KEYWAY_LOOPS_HAVE_LEVELS

void half_to_float_avx2(const void*, char* const* data, std::int64_t n);
void half_to_float_avx512(const void*, char* const* data, std::int64_t n);
void float_to_half_avx2(const void*, char* const* data, std::int64_t n);
void float_to_half_avx512(const void*, char* const* data, std::int64_t n);

template <>
inline constexpr LevelTable<Loop> kLoops<Cast<float, Half>> = {kLoopsOf<MapBody, Cast<float, Half>>[Level::Baseline],
                                                               half_to_float_avx2, half_to_float_avx512};
template <>
inline constexpr LevelTable<Loop> kLoops<Cast<Half, float>> = {kLoopsOf<MapBody, Cast<Half, float>>[Level::Baseline],
                                                               float_to_half_avx2, float_to_half_avx512};

#endif

}  // namespace keyway::inline v1::detail
