// Instruction-set levels: one binary holds its loops for several, and takes the best the processor has.
//
// No file is compiled with -m flags, since an inline function of the standard library compiled there may
// become the copy that every machine runs. What differs between levels are single functions, which at_levels
// makes of an always-inlined body:
//
//   template <SimdLevel level>
//   struct Scale {
//     KEYWAY_INLINE static void run(float* x, std::int64_t n) { ... }
//   };
//   constexpr LevelTable<void (*)(float*, std::int64_t)> kScale = at_levels<Scale>();
//   kScale[current_level()](x, n);
//
// Their attributes flatten what they mark: all the body calls is inlined into it, for the compiler to vectorise.
#pragma once

#include <keyway/core/base/macros.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

// Each has all that those before it have. Baseline is what the compiler targets by default: SSE2 on x86-64,
// NEON on AArch64, where there is no other.
enum class SimdLevel : std::uint8_t { Baseline, Avx2, Avx512 };
inline constexpr std::size_t kNumLevels = 3;

// Whether there is code for more than Baseline.
#if defined(__x86_64__)
#define KEYWAY_HAS_LEVELS 1
#else
#define KEYWAY_HAS_LEVELS 0
#endif
// Whether at_levels makes it. Not for sanitizers: their builds leave loops as they are written, so that the levels
// would touch the same memory in the same order, and two thirds of the loops need not be compiled.
#if KEYWAY_HAS_LEVELS && !defined(KEYWAY_SANITIZED)
#define KEYWAY_LOOPS_HAVE_LEVELS 1
#else
#define KEYWAY_LOOPS_HAVE_LEVELS 0
#endif

#if KEYWAY_HAS_LEVELS
#if defined(__clang__)
#define KEYWAY_TARGET_AVX2 __attribute__((flatten, target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")))
#define KEYWAY_TARGET_AVX512                                                                                \
  __attribute__((flatten, target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl"), \
                 min_vector_width(512)))
#else
#define KEYWAY_TARGET_AVX2 __attribute__((flatten, target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")))
#define KEYWAY_TARGET_AVX512                                                                               \
  __attribute__((flatten, target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl," \
                                 "prefer-vector-width=512")))
#endif
#endif
#define KEYWAY_TARGET_BASELINE __attribute__((flatten))
// Bodies, and what they call: the compiler does not flatten every function that is called from several
// places.
#define KEYWAY_INLINE __attribute__((always_inline)) inline

// Whether fused multiply-add is an instruction, not a call.
constexpr bool has_fma(SimdLevel level) {
#if defined(__FP_FAST_FMAF)
  return true;
#else
  return level != SimdLevel::Baseline;
#endif
}

namespace detail {
// The level in use as a number, or -1 before the first question.
extern constinit std::atomic<int> current_level_or_unknown;
int find_level();
}  // namespace detail

// What this processor has, or less where the variable KEYWAY_CPU_LEVEL (baseline, avx2, avx512) says so.
inline SimdLevel current_level() {
  const int known = detail::current_level_or_unknown.load(std::memory_order_relaxed);
  return static_cast<SimdLevel>(known >= 0 ? known : detail::find_level());
}
// The best this processor has.
SimdLevel best_level();
// Whether this processor multiplies bfloat16 too, and the level in use is its best: what libraries make of that is
// faster than float32.
bool multiplies_bfloat16();
// For tests. Requires: level <= best_level(); no kernel is running.
void set_level(SimdLevel level);

// One thing per level.
template <typename T>
struct LevelTable {
  T at[kNumLevels];

  constexpr T operator[](SimdLevel level) const { return at[static_cast<std::size_t>(level)]; }
};

namespace detail {

template <typename Body, typename... Args>
KEYWAY_TARGET_BASELINE void at_baseline(Args... args) {
  Body::run(args...);
}
#if KEYWAY_LOOPS_HAVE_LEVELS
template <typename Body, typename... Args>
KEYWAY_TARGET_AVX2 void at_avx2(Args... args) {
  Body::run(args...);
}
template <typename Body, typename... Args>
KEYWAY_TARGET_AVX512 void at_avx512(Args... args) {
  Body::run(args...);
}
#endif

template <template <SimdLevel> typename Body, SimdLevel most, typename... Args>
constexpr LevelTable<void (*)(Args...)> table_of(void (*)(Args...)) {
  constexpr auto baseline = at_baseline<Body<SimdLevel::Baseline>, Args...>;
#if KEYWAY_LOOPS_HAVE_LEVELS
  constexpr auto avx2 = at_avx2<Body<SimdLevel::Avx2>, Args...>;
  if constexpr (most == SimdLevel::Avx2) {
    return {baseline, avx2, avx2};
  } else {
    return {baseline, avx2, at_avx512<Body<SimdLevel::Avx512>, Args...>};
  }
#else
  return {baseline, baseline, baseline};
#endif
}

}  // namespace detail

// Body<level>::run at each level. Requires: it is static, returns nothing, and is marked KEYWAY_INLINE.
template <template <SimdLevel> typename Body>
constexpr auto at_levels() {
  return detail::table_of<Body, SimdLevel::Avx512>(&Body<SimdLevel::Baseline>::run);
}
// The same for bodies that gain nothing by vectors longer than those of AVX2.
template <template <SimdLevel> typename Body>
constexpr auto at_levels_to_avx2() {
  return detail::table_of<Body, SimdLevel::Avx2>(&Body<SimdLevel::Baseline>::run);
}

}  // namespace keyway::inline v1
