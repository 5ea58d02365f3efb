// What composites of matrices share.
#pragma once

#include <keyway/ops/matrices.h>
#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/rules/column_major.h>

#include <string_view>

namespace keyway::inline v1::composite {

// Throws keyway::Error(LinAlg) if an element of `info` is not 0, as the operator _linalg_check_errors, which it calls.
// `api_name` is the function that users call, and says what it means if an element is above 0. Waits for the device,
// and is not asked of Meta.
void check_info(const Tensor& info, std::string_view api_name);

// Interchanges of rows by `pivots` in matrices with as many of them: where each row of the result comes from.
Tensor permutation_of(const Tensor& pivots, std::int64_t size);

}  // namespace keyway::inline v1::composite
