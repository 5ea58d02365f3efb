// Operators that take one index for each row: of a matrix of embeddings, or along a dimension.
// What bounds them is said in indexed_rows.cu.
#include <keyway/backends/cuda/kernels/indexed_rows.cuh>
#include <keyway/backends/cuda/kernels/kernels_creation.h>
#include <keyway/backends/cuda/kernels/kernels_indexing.h>
#include <keyway/backends/cuda/kernels/offsets.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <utility>

namespace keyway::inline v1::cuda {

namespace {

// Rows of `rows` along `dim`, and the positions of `table` along it that `index` names.
struct AlongDim {
  TensorBase offsets;
  IndexedRows indexed;

  AlongDim(const TensorBase& table, std::int64_t dim, const TensorBase& index, const TensorBase& rows)
      : offsets(offsets_of(table, dim, index)),
        indexed(table, dims_but(table.dim(), dim), rows, dims_but(rows.dim(), dim)) {}

  static TensorBase offsets_of(const TensorBase& table, std::int64_t dim, const TensorBase& index) {
    Offsets all(index.sizes(), index.device());
    all.add_index(index, IndexedDim::of(table, dim));
    return std::move(all).take();
  }
};

// The sum of rows, or their mean.
template <typename T>
struct EmbeddingGradient {
  using Acc = Opmath<T>;
  bool by_frequency;

  KEYWAY_HD Acc begin(T) const { return Acc(); }
  KEYWAY_HD Acc none() const { return Acc(); }
  KEYWAY_HD Acc merge(Acc a, Acc b) const { return a + b; }
  KEYWAY_HD Acc add(Acc sum, T x) const { return sum + opmath(x); }
  KEYWAY_HD T end(Acc sum, std::int64_t rows) const {
    return static_cast<T>(by_frequency ? sum / static_cast<Real<Acc>>(rows) : sum);
  }
};

}  // namespace

void embedding(const TensorBase& weight, const TensorBase& indices, std::int64_t, bool, bool, TensorBase& out) {
  Offsets offsets(indices.sizes(), indices.device());
  offsets.add_indices(indices, IndexedDim::of(weight, 0));
  IndexedRows(weight, {1}, out, {out.dim() - 1}).read(std::move(offsets).take());
}

void embedding_dense_backward(const TensorBase& grad_output, const TensorBase& indices, std::int64_t,
                              std::int64_t padding_idx, bool scale_grad_by_freq, TensorBase& out) {
  Offsets list(indices.sizes(), indices.device());
  list.add_indices(indices, IndexedDim::of(out, 0), padding_idx);
  const TensorBase offsets = std::move(list).take();
  fill_Scalar(out, 0, out);
  const IndexedRows rows(out, {1}, grad_output, {grad_output.dim() - 1});
  visit_floating_and_complex(grad_output.dtype(), "embedding_dense_backward",
                             [&]<typename T>() { rows.fold<T>(offsets, EmbeddingGradient<T>{scale_grad_by_freq}); });
}

void index_select(const TensorBase& self, std::int64_t dim, const TensorBase& index, TensorBase& out) {
  const AlongDim rows(with_dim(self), dim, index, with_dim(out));
  rows.indexed.read(rows.offsets);
}

void index_add(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& source,
               const Scalar& alpha, TensorBase& out) {
  const AlongDim rows(with_dim(out), dim, index, with_dim(apart_from(source, out)));
  begin_as(self, out);
  rows.indexed.add(rows.offsets, alpha);
}

void index_copy(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& source,
                TensorBase& out) {
  const AlongDim rows(with_dim(out), dim, index, with_dim(apart_from(source, out)));
  begin_as(self, out);
  rows.indexed.write(rows.offsets);
}

}  // namespace keyway::inline v1::cuda
