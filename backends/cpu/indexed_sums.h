// Sums of indexed rows: what index_add, index_put with accumulate and gradients of embeddings are.
#pragma once

#include <keyway/backends/cpu/indexed_rows.h>
#include <keyway/core/dtype/scalar.h>

namespace keyway::inline v1 {

// table[offsets[r]] += alpha rows[r], row after row, of elements of table's dtype. Sums of 16-bit floats are kept in
// float32 and rounded once: for that the call has memory for twice of what `table` spans, touched where offsets point
// only.
void add_rows(const TensorBase& table, const IndexedRows& rows, const ScratchArray<std::int64_t>& offsets,
              const Scalar& alpha);

}  // namespace keyway::inline v1
