// The innermost loops: one function per functor and instruction-set level, over contiguous elements.
#pragma once

#include <keyway/backends/cpu/level.h>
#include <keyway/ops/functors/signature.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

// The iterations of the loop that follows are independent, though an output may be one of the inputs.
#if defined(__clang__)
#define KEYWAY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define KEYWAY_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace keyway::inline v1::detail {

// `context` is the functor, or what else a driver has agreed on with its loop; data[0] is the output, unless
// there is none.
using Loop = void (*)(const void* context, char* const* data, std::int64_t n);

// What a check loop gets as context.
struct CheckContext {
  const void* functor;
  bool* refused;  // set if an element is not accepted
};

// A bool is read as a byte, so that other values than 0 and 1 are true and not undefined behaviour.
template <typename T>
[[gnu::always_inline]] inline T load(const char* data, std::int64_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return reinterpret_cast<const std::uint8_t*>(data)[i] != 0;
  } else {
    return reinterpret_cast<const T*>(data)[i];
  }
}
template <typename T>
[[gnu::always_inline]] inline void store(char* data, std::int64_t i, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    reinterpret_cast<std::uint8_t*>(data)[i] = value ? 1 : 0;
  } else {
    reinterpret_cast<T*>(data)[i] = value;
  }
}

template <Level level, typename F, typename R, typename... A, std::size_t... k>
[[gnu::always_inline]] inline void map(const void* context, char* const* data, std::int64_t n,
                                       std::tuple<A...>*, std::index_sequence<k...>) {
  const F functor = *static_cast<const F*>(context);
  char* const out = data[0];
  const char* const in[] = {data[k + 1]...};
  KEYWAY_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) store<R>(out, i, functor(load<A>(in[k], i)...));
}

template <Level level, typename F, typename... A, std::size_t... k>
[[gnu::always_inline]] inline void check(const void* context, char* const* data, std::int64_t n,
                                         std::tuple<A...>*, std::index_sequence<k...>) {
  const CheckContext& c = *static_cast<const CheckContext*>(context);
  const F functor = *static_cast<const F*>(c.functor);
  const char* const in[] = {data[k]...};
  std::uint8_t bad = 0;
  for (std::int64_t i = 0; i < n; ++i) bad |= functor.accepts(load<A>(in[k], i)...) ? 0 : 1;
  if (bad != 0) *c.refused = true;
}

template <Level level, typename F>
struct MapBody {
  using S = FunctorSignature<F>;
  [[gnu::always_inline]] static void run(const void* context, char* const* data, std::int64_t n) {
    map<level, F, typename S::Result>(context, data, n, static_cast<typename S::Arguments*>(nullptr),
                                      std::make_index_sequence<S::kArity>());
  }
};
template <Level level, typename F>
struct CheckBody {
  using S = FunctorSignature<F>;
  [[gnu::always_inline]] static void run(const void* context, char* const* data, std::int64_t n) {
    check<level, F>(context, data, n, static_cast<typename S::Arguments*>(nullptr),
                    std::make_index_sequence<S::kArity>());
  }
};

// One body at each level.
template <typename Body>
KEYWAY_TARGET_BASELINE void baseline(const void* context, char* const* data, std::int64_t n) {
  Body::run(context, data, n);
}
template <typename Body>
KEYWAY_TARGET_AVX2 void avx2(const void* context, char* const* data, std::int64_t n) {
  Body::run(context, data, n);
}
template <typename Body>
KEYWAY_TARGET_AVX512 void avx512(const void* context, char* const* data, std::int64_t n) {
  Body::run(context, data, n);
}

template <template <Level, typename> typename Body, typename F>
inline constexpr LevelTable<Loop> kLoopsOf = {
#if defined(__x86_64__)
    {baseline<Body<Level::Baseline, F>>, avx2<Body<Level::Avx2, F>>, avx512<Body<Level::Avx512, F>>}
#else
    {baseline<Body<Level::Baseline, F>>, baseline<Body<Level::Baseline, F>>,
     baseline<Body<Level::Baseline, F>>}
#endif
};

template <typename F>
inline constexpr LevelTable<Loop> kLoops = kLoopsOf<MapBody, F>;

template <typename F>
inline constexpr LevelTable<Loop> kChecks = {};
template <typename F>
requires requires { F::kRefusal; }
inline constexpr LevelTable<Loop> kChecks<F> = kLoopsOf<CheckBody, F>;

template <typename F>
inline constexpr const char* kRefusalOf = nullptr;
template <typename F>
requires requires { F::kRefusal; }
inline constexpr const char* kRefusalOf<F> = F::kRefusal;

}  // namespace keyway::inline v1::detail
