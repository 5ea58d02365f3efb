// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011), and the
// step from its bits to uniform, normal and bounded numbers. Pure functions for host and device code: element
// i of a random tensor is a function of (seed, call, i) alone, to the last bit, whatever the device, the number of
// threads or the order of work.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/base/portable_math.h>

#include <cmath>
#include <cstdint>

namespace keyway::inline v1 {

struct PhiloxBlock {
  std::uint32_t words[4];

  // Requires: i < 2. Words 2i and 2i + 1 as one number.
  KEYWAY_HD constexpr std::uint64_t wide(int i) const {
    return words[2 * i] | static_cast<std::uint64_t>(words[2 * i + 1]) << 32;
  }
  KEYWAY_HD friend constexpr bool operator==(const PhiloxBlock& a, const PhiloxBlock& b) {
    return a.wide(0) == b.wide(0) && a.wide(1) == b.wide(1);
  }
};

// The bijection itself: ten rounds on a counter of four words with a key of two.
KEYWAY_HD constexpr PhiloxBlock philox4x32_10(PhiloxBlock counter, std::uint64_t key) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  PhiloxBlock x = counter;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53u} * x.words[0];
    const std::uint64_t b = std::uint64_t{0xcd9e8d57u} * x.words[2];
    x = {{static_cast<std::uint32_t>(b >> 32) ^ x.words[1] ^ k0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ x.words[3] ^ k1, static_cast<std::uint32_t>(a)}};
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return x;
}

// Where the calls of a graph begin. It lies on the device, and each replay sets it anew.
struct PhiloxStart {
  std::uint64_t seed = 0;
  std::uint64_t call = 0;
};

// The random numbers of one call of one operator. A kernel takes it by value and asks it per element.
//
// The key is the seed; the counter is {element: 64 bits, call: 48 bits, block: 16 bits}. `call` comes from
// Generator::next_call(), `block` numbers the further bits that one element needs (rejection, several
// normals).
struct PhiloxCall {
  std::uint64_t seed = 0;
  std::uint64_t call = 0;  // below 2^48
  // Of a call in a graph: `call` is counted from here, and the seed stands here. Device code alone reads it; that of a
  // call on the host is null.
  const PhiloxStart* start = nullptr;

  // 128 random bits.
  KEYWAY_HD constexpr PhiloxBlock bits(std::uint64_t element, std::uint16_t block = 0) const {
    PhiloxStart at{seed, call};
#if defined(__CUDA_ARCH__) || defined(KEYWAY_EMULATED_DEVICE)
    if (start != nullptr) at = {start->seed, start->call + call};
#endif
    return philox4x32_10(
        {{static_cast<std::uint32_t>(element), static_cast<std::uint32_t>(element >> 32),
          static_cast<std::uint32_t>(at.call), static_cast<std::uint32_t>(at.call >> 32) << 16 | block}},
        at.seed);
  }

  // bounded() in a form that becomes vector code: right if it leaves `unsure` as it is, which is 0 at first. Requires:
  // 0 < bound <= 2^32.
  KEYWAY_HD constexpr std::uint64_t bounded_unless(std::uint64_t element, std::uint64_t bound,
                                                   std::uint32_t& unsure) const {
    const PhiloxBlock random = bits(element);
    const std::uint64_t low = random.words[0] * bound;
    const std::uint64_t high = random.words[1] * bound + (low >> 32);
    // Only what begins with 32 zeros is below `bound`, so that it may have to be rejected.
    unsure |= static_cast<std::uint32_t>(high) == 0 ? 1u : 0u;
    return high >> 32;
  }

  // A number of [0, bound), each equally likely; of all 2^64 if bound is 0. Multiplies and rejects (Lemire,
  // Fast random integer generation in an interval, 2019); a rejection has probability bound / 2^64, and takes
  // further bits of the same element, from `block` on.
  KEYWAY_HD constexpr std::uint64_t bounded(std::uint64_t element, std::uint64_t bound, std::uint16_t block = 0) const {
    __extension__ using Wide = unsigned __int128;
    PhiloxBlock random = bits(element, block);
    if (bound == 0) return random.wide(0);
    for (int i = 0;; i ^= 1) {
      const Wide product = static_cast<Wide>(random.wide(i)) * bound;
      // The least that is accepted is below `bound`, so that nearly always nothing needs to be divided.
      const auto low = static_cast<std::uint64_t>(product);
      if (low >= bound || low >= (std::uint64_t{0} - bound) % bound) return static_cast<std::uint64_t>(product >> 64);
      if (i == 1) random = bits(element, ++block);
    }
  }
};

// Uniform in [0, 1), a multiple of 2^-24.
KEYWAY_HD constexpr float uniform_float(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
// Uniform in [0, 1), a multiple of 2^-53.
KEYWAY_HD constexpr double uniform_double(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

template <typename T>
struct NormalPair {
  T first, second;
};

namespace detail {
// Box-Muller, of numbers of [0, 1).
template <typename T>
KEYWAY_HD inline NormalPair<T> normal_pair(T a, T b) {
  const T radius = std::sqrt(-2 * portable::log(1 - a));  // the argument is in (0, 1]
  const portable::CosineSine<T> angle = portable::cosine_sine_of_turns(b);
  return {radius * angle.cosine, radius * angle.sine};
}
}  // namespace detail

// Two independent standard normal numbers. Magnitudes reach 5.8 in float, and 8.6 in double.
KEYWAY_HD inline NormalPair<float> normal_floats(std::uint32_t a, std::uint32_t b) {
  return detail::normal_pair(uniform_float(a), uniform_float(b));
}
KEYWAY_HD inline NormalPair<double> normal_doubles(std::uint64_t a, std::uint64_t b) {
  return detail::normal_pair(uniform_double(a), uniform_double(b));
}

}  // namespace keyway::inline v1
