// Functors of random operators: element i of a result is a function of the call and of i, the same to the last bit on
// every device.
#pragma once

#include <keyway/core/base/philox.h>
#include <keyway/ops/functors/opmath.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace keyway::inline v1 {

// A number of [0, 1) that T holds exactly: as many bits as its mantissa has.
template <typename T>
[[gnu::always_inline]] KEYWAY_HD inline Opmath<T> uniform_number(const PhiloxCall& call, std::int64_t i) {
  const PhiloxBlock bits = call.bits(static_cast<std::uint64_t>(i));
  if constexpr (std::is_same_v<T, double>) {
    return uniform_double(bits.wide(0));
  } else if constexpr (std::is_same_v<T, float>) {
    return uniform_float(bits.words[0]);
  } else {
    constexpr int kDigits = std::is_same_v<T, Half> ? 11 : 8;
    return static_cast<float>(bits.words[0] >> (32 - kDigits)) / static_cast<float>(1 << kDigits);
  }
}

// From `from` up to `to`, which rounding may reach: then it gives way to `from`.
template <typename T>
struct Uniform {
  using Acc = Opmath<T>;
  PhiloxCall call;
  Acc low, width;
  T first, end;

  Uniform(const PhiloxCall& draw, double from, double to)
      : call(draw),
        low(static_cast<Acc>(from)),
        width(static_cast<Acc>(to - from)),
        first(static_cast<T>(low)),
        end(static_cast<T>(static_cast<Acc>(to))) {}

  KEYWAY_HD T operator()(std::int64_t i) const {
    const T x = static_cast<T>(low + width * uniform_number<T>(call, i));
    return x < end ? x : first;
  }
};

template <typename T>
struct Normal {
  using Acc = Real<Opmath<T>>;
  PhiloxCall call;
  Acc center, width;

  Normal(const PhiloxCall& draw, double mean, double std)
      : call(draw), center(static_cast<Acc>(mean)), width(static_cast<Acc>(std)) {}

  KEYWAY_HD T operator()(std::int64_t i) const {
    const PhiloxBlock bits = call.bits(static_cast<std::uint64_t>(i));
    NormalPair<Acc> pair;
    if constexpr (std::is_same_v<Acc, double>) {
      pair = normal_doubles(bits.wide(0), bits.wide(1));
    } else {
      pair = normal_floats(bits.words[0], bits.words[1]);
    }
    if constexpr (kIsComplex<T>) {  // its variance is std^2: half of it in each part
      const Acc part = width * static_cast<Acc>(0.70710678118654752440);
      return static_cast<T>(Opmath<T>(center + part * pair.first, part * pair.second));
    } else {
      return static_cast<T>(center + width * pair.first);
    }
  }
};

// How long something waits that happens at rate 1: -log(1 - u). The difference is a multiple of 2^-53, so it is exact.
struct Waiting {
  PhiloxCall call;

  KEYWAY_HD double operator()(std::int64_t i) const { return 0 - portable::log(1 - uniform_number<double>(call, i)); }
};

template <typename T>
struct Exponential {
  Waiting waiting;
  double rate;

  KEYWAY_HD T operator()(std::int64_t i) const { return static_cast<T>(static_cast<Opmath<T>>(waiting(i) / rate)); }
};

// Whether something of probability p happens.
struct Chance {
  PhiloxCall call;

  KEYWAY_HD bool operator()(std::int64_t i, double p) const { return uniform_number<double>(call, i) < p; }
};

// Running sums of weights, of which multinomial draws, are added up within so many at a time, and to each comes what
// all before these have: so they can be found in parallel, and have the same bits everywhere.
inline constexpr std::int64_t kSummedWeights = 512;

// What dropout makes of an element.
template <typename T>
struct KeptScaled {
  Real<Opmath<T>> scale;

  KEYWAY_HD T operator()(T x, bool kept) const { return kept ? static_cast<T>(opmath(x) * scale) : T(); }
};

// An integer that T has, of [from, from + count), where a count of 0 means 2^64.
template <typename T>
struct Whole {
  PhiloxCall call;
  std::int64_t from;
  std::uint64_t count;

  KEYWAY_HD T operator()(std::int64_t i) const {
    const std::uint64_t x = static_cast<std::uint64_t>(from) + call.bounded(static_cast<std::uint64_t>(i), count);
    if constexpr (std::is_same_v<T, bool>) {
      return x != 0;
    } else if constexpr (std::integral<T>) {
      return static_cast<T>(x);
    } else {
      return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(x)));
    }
  }
};

}  // namespace keyway::inline v1
