#include <keyway/backends/cpu/simd/level.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <cstdlib>
#if KEYWAY_HAS_LEVELS
#include <cpuid.h>
#endif
#include <string_view>

namespace keyway::inline v1 {

#if KEYWAY_HAS_LEVELS
namespace {

// Asked of the processor itself: the compiler's run-time support for this would have to run before main.
struct Features {
  unsigned a = 0, b = 0, c = 0, d = 0;

  Features(unsigned leaf, unsigned part) { __get_cpuid_count(leaf, part, &a, &b, &c, &d); }
};

// Which registers the system saves. Requires: the processor has xgetbv.
unsigned saved_registers() {
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

constexpr bool has_all(unsigned word, unsigned bits) { return (word & bits) == bits; }

}  // namespace
#endif

SimdLevel best_level() {
#if KEYWAY_HAS_LEVELS
  constexpr unsigned kWide = 0x6;    // of saved_registers(): the 16 registers of AVX
  constexpr unsigned kWider = 0xe0;  // 32 of twice the width, and the masks
  const Features basic(1, 0), extended(7, 0), more(0x80000001, 0);
  if (!has_all(basic.c, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_POPCNT)) return SimdLevel::Baseline;
  const unsigned saved = saved_registers();
  const bool avx2 = has_all(extended.b, bit_AVX2 | bit_BMI | bit_BMI2) && has_all(more.c, bit_LZCNT);
  if (!avx2 || !has_all(saved, kWide)) return SimdLevel::Baseline;
  const bool avx512 = has_all(extended.b, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL);
  return avx512 && has_all(saved, kWider) ? SimdLevel::Avx512 : SimdLevel::Avx2;
#else
  return SimdLevel::Baseline;
#endif
}

bool multiplies_bfloat16() {
#if KEYWAY_HAS_LEVELS
  static const bool does = has_all(Features(7, 1).a, bit_AVX512BF16);
  return does && current_level() == SimdLevel::Avx512;
#else
  return false;
#endif
}

void set_level(SimdLevel level) {
  detail::current_level_or_unknown.store(static_cast<int>(level), std::memory_order_relaxed);
}

namespace detail {

constinit std::atomic<int> current_level_or_unknown{-1};

int find_level() {
  constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
  int level = static_cast<int>(best_level());
  if (const char* text = std::getenv("KEYWAY_CPU_LEVEL"); text != nullptr && *text != '\0') {
    const auto* name = std::find(std::begin(kNames), std::end(kNames), std::string_view(text));
    KEYWAY_CHECK(name != std::end(kNames),
                 "the variable KEYWAY_CPU_LEVEL is '{}', but must be baseline, avx2 or avx512", text);
    level = std::min(level, static_cast<int>(name - std::begin(kNames)));
  }
  current_level_or_unknown.store(level, std::memory_order_relaxed);
  return level;
}

}  // namespace detail

}  // namespace keyway::inline v1
