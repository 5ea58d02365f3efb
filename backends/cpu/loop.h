// The innermost loops: one function per functor and instruction-set level, over contiguous elements.
#pragma once

#include <keyway/backends/cpu/simd/level.h>
#include <keyway/backends/cpu/simd/math.h>
#include <keyway/ops/functors/forms.h>
#include <keyway/ops/functors/signature.h>

#include <cstddef>
#include <cstdint>
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
KEYWAY_INLINE T load(const char* data, std::int64_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return reinterpret_cast<const std::uint8_t*>(data)[i] != 0;
  } else {
    return reinterpret_cast<const T*>(data)[i];
  }
}
template <typename T>
KEYWAY_INLINE void store(char* data, std::int64_t i, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    reinterpret_cast<std::uint8_t*>(data)[i] = value ? 1 : 0;
  } else {
    reinterpret_cast<T*>(data)[i] = value;
  }
}

// The functor of an element, with the level's functions where it takes some.
template <SimdLevel level, typename F, typename... A>
KEYWAY_INLINE auto apply(const F& functor, A... x) {
  if constexpr (requires { functor.with(simd::VectorMath<level>(), x...); }) {
    return functor.with(simd::VectorMath<level>(), x...);
  } else {
    return functor(x...);
  }
}

template <SimdLevel level, typename F, typename R, typename... A, std::size_t... k>
KEYWAY_INLINE void map(const F& functor, char* const* data, std::int64_t begin, std::int64_t end, std::tuple<A...>*,
                       std::index_sequence<k...>) {
  char* const out = data[0];
  const char* const in[] = {data[k + 1]...};
  KEYWAY_INDEPENDENT
  for (std::int64_t i = begin; i < end; ++i) store<R>(out, i, apply<level>(functor, load<A>(in[k], i)...));
}

// Functors of angles: vector functions take the small ones, which nearly all are, StandardMath's the others.
template <typename F>
concept TakesAngles = F::kTakesAngles && std::is_same_v<float, Opmath<functor_argument_t<F, 0>>>;

template <SimdLevel level, typename F, typename T>
KEYWAY_INLINE void map_angles(const F& functor, char* const* data, std::int64_t n) {
  using Math = simd::VectorMath<level>;
  constexpr std::int64_t kBlock = 1024;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = begin + kBlock < n ? begin + kBlock : n;
    std::uint32_t large = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      large |= Math::is_small_angle(opmath(load<T>(data[1], i))) ? 0u : 1u;
    }
    if (large == 0) [[likely]] {
      map<level, F, T>(functor, data, begin, end, static_cast<std::tuple<T>*>(nullptr), std::index_sequence<0>());
      continue;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      const T x = load<T>(data[1], i);
      store<T>(data[0], i, Math::is_small_angle(opmath(x)) ? apply<level>(functor, x) : functor(x));
    }
  }
}

template <SimdLevel level, typename F, typename... A, std::size_t... k>
KEYWAY_INLINE void check(const void* context, char* const* data, std::int64_t n, std::tuple<A...>*,
                         std::index_sequence<k...>) {
  const CheckContext& c = *static_cast<const CheckContext*>(context);
  const F functor = *static_cast<const F*>(c.functor);
  const char* const in[] = {data[k]...};
  std::uint8_t bad = 0;
  for (std::int64_t i = 0; i < n; ++i) bad |= functor.accepts(load<A>(in[k], i)...) ? 0 : 1;
  if (bad != 0) *c.refused = true;
}

template <SimdLevel level, typename F>
struct MapBody {
  KEYWAY_INLINE static void run(const void* context, char* const* data, std::int64_t n) {
    const F functor = *static_cast<const F*>(context);
    if constexpr (HasForms<F>) {
      functor.choose([&](const auto& form) { run_form(form, data, n); });
    } else {
      run_form(functor, data, n);
    }
  }

 private:
  template <typename Form>
  KEYWAY_INLINE static void run_form(const Form& form, char* const* data, std::int64_t n) {
    using S = FunctorSignature<Form>;
    if constexpr (TakesAngles<Form>) {
      map_angles<level, Form, typename S::Result>(form, data, n);
    } else {
      map<level, Form, typename S::Result>(form, data, 0, n, static_cast<typename S::Arguments*>(nullptr),
                                           std::make_index_sequence<S::kArity>());
    }
  }
};
template <SimdLevel level, typename F>
struct CheckBody {
  using S = FunctorSignature<F>;
  KEYWAY_INLINE static void run(const void* context, char* const* data, std::int64_t n) {
    check<level, F>(context, data, n, static_cast<typename S::Arguments*>(nullptr),
                    std::make_index_sequence<S::kArity>());
  }
};

// Of the library's own files those that backends/cpu/CMakeLists.txt lists are compiled for loops.
#if defined(KEYWAY_BUILDING) && !defined(KEYWAY_HAS_LOOPS)
inline constexpr bool kHasLoops = false;
#else
inline constexpr bool kHasLoops = true;
#endif

template <template <SimdLevel, typename> typename Body, typename F>
struct LoopOf {
  static_assert(kHasLoops && sizeof(F) > 0, "a file with loops must be listed in backends/cpu/CMakeLists.txt");
  template <SimdLevel level>
  using At = Body<level, F>;
  static constexpr LevelTable<Loop> kLoops = at_levels<At>();
};
template <template <SimdLevel, typename> typename Body, typename F>
inline constexpr LevelTable<Loop> kLoopsOf = LoopOf<Body, F>::kLoops;

template <typename F>
inline constexpr LevelTable<Loop> kLoops = kLoopsOf<MapBody, F>;

template <typename F>
inline constexpr LevelTable<Loop> kChecks = {};
template <typename F>
requires requires { F::kElementError; }
inline constexpr LevelTable<Loop> kChecks<F> = kLoopsOf<CheckBody, F>;

}  // namespace keyway::inline v1::detail
