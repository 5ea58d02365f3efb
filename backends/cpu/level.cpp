#include <keyway/backends/cpu/level.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace keyway::inline v1 {

Level best_level() {
#if defined(__x86_64__)
  // The compiler's run-time support also asks whether the system saves the wide registers.
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  if (!avx2) return Level::Baseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? Level::Avx512 : Level::Avx2;
#else
  return Level::Baseline;
#endif
}

void set_level(Level level) {
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
