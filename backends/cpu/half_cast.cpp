#include <keyway/backends/cpu/half_cast.h>

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

}  // namespace

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
