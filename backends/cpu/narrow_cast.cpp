#include <keyway/backends/cpu/narrow_cast.h>

#if KEYWAY_LOOPS_HAVE_LEVELS

#include <cstdint>
#include <cstring>
#include <immintrin.h>

namespace keyway::inline v1::detail {

namespace {

constexpr int kToNearest = _MM_FROUND_TO_NEAREST_INT;
constexpr __mmask16 kAll = 0xffff;  // of forms without a mask GCC 12 says that they read what nobody wrote

// Calls step(from, to) for whole vectors of `lanes` elements, and for the last ones in buffers.
template <typename From, typename To, int lanes, typename Step>
KEYWAY_INLINE void each_vector(char* const* data, std::int64_t n, const Step& step) {
  auto* to = reinterpret_cast<To*>(data[0]);
  const auto* from = reinterpret_cast<const From*>(data[1]);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) step(from + i, to + i);
  if (i == n) return;
  From last[lanes] = {};
  To results[lanes];
  std::memcpy(last, from + i, static_cast<std::size_t>(n - i) * sizeof(From));
  step(last, results);
  std::memcpy(to + i, results, static_cast<std::size_t>(n - i) * sizeof(To));
}

// To nearest, in the upper halves; a NaN keeps its upper half and is quiet.
KEYWAY_TARGET_AVX2 __m256i rounded_to_bfloat16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(last, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
  return _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
}
KEYWAY_TARGET_AVX512 __m512i rounded_to_bfloat16(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i last = _mm512_and_si512(_mm512_maskz_srli_epi32(kAll, bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(last, _mm512_set1_epi32(0x7fff)));
  const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x00400000));
}

}  // namespace

KEYWAY_TARGET_AVX2 void float_to_bfloat16_avx2(const void*, char* const* data, std::int64_t n) {
  each_vector<float, std::uint16_t, 16>(data, n, [](const float* from, std::uint16_t* to) KEYWAY_TARGET_AVX2 {
    const __m256i low = _mm256_srli_epi32(rounded_to_bfloat16(_mm256_loadu_ps(from)), 16);
    const __m256i high = _mm256_srli_epi32(rounded_to_bfloat16(_mm256_loadu_ps(from + 8)), 16);
    const __m256i mixed = _mm256_packus_epi32(low, high);  // within halves of the vectors
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(mixed, 0xd8));
  });
}
KEYWAY_TARGET_AVX512 void float_to_bfloat16_avx512(const void*, char* const* data, std::int64_t n) {
  each_vector<float, std::uint16_t, 32>(data, n, [](const float* from, std::uint16_t* to) KEYWAY_TARGET_AVX512 {
    alignas(64) static constexpr std::uint16_t kUpper[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                                             23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                                             45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    const __m512i low = rounded_to_bfloat16(_mm512_loadu_ps(from));
    const __m512i high = rounded_to_bfloat16(_mm512_loadu_ps(from + 16));
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(low, _mm512_load_si512(kUpper), high));
  });
}
KEYWAY_TARGET_AVX2 void half_to_float_avx2(const void*, char* const* data, std::int64_t n) {
  each_vector<std::uint16_t, float, 8>(data, n, [](const std::uint16_t* from, float* to) KEYWAY_TARGET_AVX2 {
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  });
}
KEYWAY_TARGET_AVX2 void float_to_half_avx2(const void*, char* const* data, std::int64_t n) {
  each_vector<float, std::uint16_t, 8>(data, n, [](const float* from, std::uint16_t* to) KEYWAY_TARGET_AVX2 {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), kToNearest));
  });
}
KEYWAY_TARGET_AVX512 void half_to_float_avx512(const void*, char* const* data, std::int64_t n) {
  each_vector<std::uint16_t, float, 16>(data, n, [](const std::uint16_t* from, float* to) KEYWAY_TARGET_AVX512 {
    _mm512_storeu_ps(to, _mm512_maskz_cvtph_ps(kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
  });
}
KEYWAY_TARGET_AVX512 void float_to_half_avx512(const void*, char* const* data, std::int64_t n) {
  each_vector<float, std::uint16_t, 16>(data, n, [](const float* from, std::uint16_t* to) KEYWAY_TARGET_AVX512 {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtps_ph(kAll, _mm512_loadu_ps(from), kToNearest));
  });
}

}  // namespace keyway::inline v1::detail

#endif
