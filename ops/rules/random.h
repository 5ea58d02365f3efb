// Rules of random operators.
#pragma once

#include <keyway/core/random/generator.h>
#include <keyway/ops/rules/output_meta.h>

#include <array>
#include <optional>

namespace keyway::inline v1::rules {

// Throws unless the dtype holds the integers from `low` to `high`; those that a float holds are those up to the first
// gap.
KEYWAY_API void check_holds(ScalarType dtype, std::int64_t low, std::int64_t high);

// The same of those below n, which randperm gives: of a real dtype.
KEYWAY_API void check_permutation(ScalarType dtype, std::int64_t n);

// Integers of [from, from + count), where a count of 0 means 2^64.
struct WholeRange {
  std::int64_t from;
  std::uint64_t count;
};
// Of those that the dtype holds, all from 0 on; or those from `from` up to but without `to`, all if it is absent.
// Throws unless it holds them.
KEYWAY_API WholeRange whole_range(ScalarType dtype);
KEYWAY_API WholeRange whole_range(ScalarType dtype, std::int64_t from, std::optional<std::int64_t> to);

inline OutputMeta multinomial(const TensorBase& self, std::int64_t num_samples, bool, const Generator&) {
  OutputMeta meta = meta_of(self.sizes());
  meta.sizes.back() = num_samples;
  return meta;
}
inline std::array<OutputMeta, 2> native_dropout(const TensorBase& input, double, std::optional<bool>) {
  return {meta_of(input.sizes()), meta_of(input.sizes())};
}
inline OutputMeta randperm(std::int64_t n, const Generator&, std::optional<ScalarType>, std::optional<Layout>,
                           std::optional<Device>, std::optional<bool> pin_memory) {
  return meta_of_new({n}, pin_memory);
}

}  // namespace keyway::inline v1::rules
