// What composites of matrices share.
#pragma once

#include <keyway/ops/matrices.h>
#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/rules/column_major.h>

#include <string_view>

namespace keyway::inline v1::composite {

// Throws keyway::Error(LinAlg) if an element of `info` is not 0: it names the first matrix of the batch with such a
// one. `positive` says what it means if that is above 0, with its value for {}. Waits for the device, and is not asked
// of Meta.
void check_info(const Tensor& info, std::string_view positive);

// Interchanges of rows by `pivots` in matrices with as many of them: where each row of the result comes from.
Tensor permutation_of(const Tensor& pivots, std::int64_t size);

}  // namespace keyway::inline v1::composite
