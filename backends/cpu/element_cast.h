// ElementCast: turns contiguous elements of one dtype into those of another, as Cast (ops/functors/copy.h) does.
//
// Few pairs of dtypes have a loop. Others go by dtypes between: every step but the last is exact, or rounds so that the
// last one rounds as if it were the only one. float16 becomes int64 by float32, int64 becomes float16 by float32
// rounded to odd (core/base/bits.h), bfloat16 becomes complex128 by float32 and float64.
#pragma once

#include <keyway/backends/cpu/loop.h>
#include <keyway/core/dtype/scalar_type.h>

#include <cstdint>

namespace keyway::inline v1::detail {

class ElementCast {
 public:
  // Not to be run.
  ElementCast() = default;
  // Requires: the dtypes differ. Throws keyway::Error(Type) where one of them is no number.
  ElementCast(ScalarType to, ScalarType from, SimdLevel level);

  bool given() const { return count_ > 0; }
  void run(void* to, const void* from, std::int64_t n) const;

  // run(), the context being the ElementCast and data out and in.
  static void loop(const void* context, char* const* data, std::int64_t n);

 private:
  static constexpr int kMaxSteps = 3;
  static constexpr std::int64_t kBlock = 512;        // elements that are between two steps at a time
  static constexpr std::int64_t kWidestBetween = 8;  // bytes of a float64 or complex64

  Loop steps_[kMaxSteps] = {};
  std::int16_t count_ = 0;
  std::int16_t to_size_ = 0;
  std::int16_t from_size_ = 0;
};

}  // namespace keyway::inline v1::detail
