// The operands of a scatter as indexed rows of one element each: of src, and of the lines of out that index counts in.
// `out` begins with the elements of self. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/kernels/indexed_rows.cuh>
#include <keyway/backends/cuda/kernels/offsets.h>
#include <keyway/backends/cuda/kernels/operands.h>

namespace keyway::inline v1::cuda {

struct ScatterRows {
  TensorBase offsets;
  IndexedRows indexed;

  ScatterRows(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& src,
              const TensorBase& out)
      : offsets(scatter_offsets(with_dim(out), dim, with_dim(as_dtype(index, kLong)))),
        indexed(out, {}, used(with_dim(apart_from(src, out)), with_dim(index).sizes()), {}) {
    begin_as(self, out);
  }

 private:
  // What of src has an index.
  static TensorBase used(const TensorBase& src, IntArrayRef sizes) {
    return make_view(src, sizes, src.strides(), src.storage_offset());
  }
};

}  // namespace keyway::inline v1::cuda
