#include <keyway/backends/cpu/element_cast.h>
#include <keyway/backends/cpu/narrow_cast.h>
#include <keyway/core/base/bits.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/copy.h>

#include <algorithm>

namespace keyway::inline v1::detail {

namespace {

// What is cast by float32, or complex64.
constexpr DtypeSet kNarrowFloats = DtypeSet{kHalf, kBFloat16} | kFloat8Types;
// A float32 holds each of their numbers.
constexpr DtypeSet kExactInFloat{kBool, kByte, kChar, kShort, kUInt16};

// To float32, or complex64, such that the result rounds to a narrow float as its origin does.
template <typename From>
struct CastToOdd {
  KEYWAY_HD constexpr float operator()(From x) const { return round_to_odd(x); }
};
template <>
struct CastToOdd<complex<double>> {
  KEYWAY_HD constexpr complex<float> operator()(complex<double> z) const {
    return {round_to_odd(z.real()), round_to_odd(z.imag())};
  }
};

struct Step {
  ScalarType to;
  bool odd = false;
};

// The first step of a cast. Requires: to != from, both of kCastTypes.
constexpr Step first_step(ScalarType to, ScalarType from) {
  if (kNarrowFloats.contains(from)) return {kFloat};
  if (from == kComplexHalf) return {kComplexFloat};
  if (kComplexTypes.contains(from)) {
    if (to == kComplexHalf && from == kComplexDouble) return {kComplexFloat, true};
    if (to == kBool || kComplexTypes.contains(to)) return {to};
    return {from == kComplexDouble ? kDouble : kFloat};  // the real part
  }
  if (to == kComplexDouble) return {from == kDouble ? kComplexDouble : kDouble};
  if (to == kComplexFloat) return {from == kFloat ? kComplexFloat : kFloat};
  if (!kNarrowFloats.contains(to) && to != kComplexHalf) return {to};
  if (from != kFloat) return {kFloat, !kExactInFloat.contains(from)};
  return {to == kComplexHalf ? kComplexFloat : to};
}

constexpr ScalarType as_signed(ScalarType dtype) {
  switch (dtype) {
    case kByte: return kChar;
    case kUInt16: return kShort;
    case kUInt32: return kInt;
    case kUInt64: return kLong;
    default: return dtype;
  }
}

struct Pair {
  ScalarType to, from;

  friend constexpr bool operator==(Pair, Pair) = default;
};

// The pair of dtypes whose loop a step takes. Integers that get no wider keep their low bits, and the sign of what they
// came from is all that counts where they do; of floats 8 and 16 bits take the low ones of int32.
constexpr Pair loop_of(ScalarType to, ScalarType from) {
  if (to == kBool) return {to, as_signed(from)};
  if (!kIntegralTypes.contains(to)) return {to, from};
  const bool widens = element_size(to) > element_size(from);
  if (kIntegralTypes.contains(from)) return {as_signed(to), widens ? from : as_signed(from)};
  return {from == kBool || element_size(to) < 4 ? as_signed(to) : to, from};
}

template <bool odd>
Loop loop_for(ScalarType to, ScalarType from, SimdLevel level) {
  const Pair pair = loop_of(to, from);
  return visit_dtype<kCastTypes>(pair.from, "copy_", [&]<typename From>() -> Loop {
    constexpr ScalarType kFrom = cpp_type_to_scalar_type<From>;
    if constexpr (odd) {
      if constexpr (first_step(kFrom == kComplexDouble ? kComplexHalf : kHalf, kFrom).odd)
        return kLoops<CastToOdd<From>>[level];
    } else {
      return visit_dtype<kCastTypes>(pair.to, "copy_", [&]<typename To>() -> Loop {
        constexpr ScalarType kTo = cpp_type_to_scalar_type<To>;
        if constexpr (loop_of(kTo, kFrom) == Pair{kTo, kFrom} &&
                      (kTo == kFrom ? kIntegralTypes.contains(kTo) : first_step(kTo, kFrom).to == kTo)) {
          return kLoops<Cast<To, From>>[level];
        }
        return nullptr;
      });
    }
    return nullptr;
  });
}

// What most casts take, found sooner than loop_for() does; null for others.
Loop loop_of_16_bits(ScalarType to, ScalarType from, SimdLevel level) {
  if (to == kFloat) {
    if (from == kBFloat16) return kLoops<Cast<float, BFloat16>>[level];
    if (from == kHalf) return kLoops<Cast<float, Half>>[level];
  } else if (from == kFloat) {
    if (to == kBFloat16) return kLoops<Cast<BFloat16, float>>[level];
    if (to == kHalf) return kLoops<Cast<Half, float>>[level];
  }
  return nullptr;
}

}  // namespace

ElementCast::ElementCast(ScalarType to, ScalarType from, SimdLevel level)
    : to_size_(static_cast<std::int16_t>(element_size(to))), from_size_(static_cast<std::int16_t>(element_size(from))) {
  if (const Loop only = loop_of_16_bits(to, from, level); only != nullptr) {
    steps_[count_++] = only;
    return;
  }
  for (const ScalarType dtype : {to, from}) {
    if (!kCastTypes.contains(dtype)) fail_dtype(dtype, kCastTypes, "copy_");
  }
  for (ScalarType at = from; at != to;) {
    const Step step = first_step(to, at);
    steps_[count_++] = step.odd ? loop_for<true>(step.to, at, level) : loop_for<false>(step.to, at, level);
    at = step.to;
  }
}

void ElementCast::run(void* to, const void* from, std::int64_t n) const {
  char* out = static_cast<char*>(to);
  char* in = const_cast<char*>(static_cast<const char*>(from));
  if (count_ == 1) {
    char* const data[] = {out, in};
    return steps_[0](nullptr, data, n);
  }
  alignas(64) char between[kMaxSteps - 1][kBlock * kWidestBetween];
  for (std::int64_t left = n; left > 0; left -= kBlock) {
    const std::int64_t part = std::min(left, kBlock);
    for (int k = 0; k < count_; ++k) {
      char* const data[] = {k == count_ - 1 ? out : between[k], k == 0 ? in : between[k - 1]};
      steps_[k](nullptr, data, part);
    }
    out += part * to_size_;
    in += part * from_size_;
  }
}

void ElementCast::loop(const void* context, char* const* data, std::int64_t n) {
  static_cast<const ElementCast*>(context)->run(data[0], data[1], n);
}

}  // namespace keyway::inline v1::detail
