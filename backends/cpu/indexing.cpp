// Operators that take one index for each row: of a matrix of embeddings, or along a dimension.
#include <keyway/backends/cpu/element_bits.h>
#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/indexed_rows.h>
#include <keyway/backends/cpu/indexed_sums.h>
#include <keyway/backends/cpu/kernels_indexing.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>
#include <cstring>

namespace keyway::inline v1 {

namespace {

const std::int64_t* data_of(const TensorBase& list) { return static_cast<const std::int64_t*>(list.data_ptr()); }

ScratchArray<std::int64_t> offsets_of(const TensorBase& list, std::int64_t stride) {
  ScratchArray<std::int64_t> offsets(list.numel(), 0);
  add_offsets(offsets, data_of(list), stride);
  return offsets;
}

// Rows of `source` along `dim`, and where in `table` those lie that `index` names.
struct Indexed {
  ScratchArray<std::int64_t> offsets;
  IndexedRows rows;

  Indexed(const TensorBase& table, std::int64_t dim, const TensorBase& index, const TensorBase& source)
      : offsets(
            offsets_of(index_list(index, "index", 0, table.sizes()[static_cast<std::size_t>(dim)]),
                       table.strides()[static_cast<std::size_t>(dim)] * static_cast<std::int64_t>(table.itemsize()))),
        rows(table, dims_but(table.dim(), dim), source, dims_but(source.dim(), dim), {dim}) {}
};

template <typename T>
void copy_run(char* to, const char* from, std::int64_t n, std::int64_t to_step, std::int64_t from_step) {
  if (to_step == sizeof(T) && from_step == sizeof(T)) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, sizeof(T));
}

void read_rows(const IndexedRows& rows, const ScratchArray<std::int64_t>& offsets, std::size_t itemsize) {
  visit_bits(itemsize, [&]<typename T>() {
    rows.each_row(offsets.data(), [](char* table, char* row, std::int64_t n, std::int64_t table_step,
                                     std::int64_t row_step) { copy_run<T>(row, table, n, row_step, table_step); });
  });
}

// The sums of the rows of grad_output that one index names, and beside them, in a row after the last, of those
// that count for nothing.
template <typename T>
void embedding_gradient(const TensorBase& grad_output, const TensorBase& list, std::int64_t padding_idx,
                        bool by_frequency, const TensorBase& out) {
  using Acc = Opmath<T>;
  const std::int64_t count = out.sizes()[0], width = out.sizes()[1];
  const ScratchArray<std::int64_t> indices(list.numel()), uses(by_frequency ? count + 1 : 0, 0);
  std::copy_n(data_of(list), list.numel(), indices.begin());
  for (std::int64_t& at : indices) {
    if (at == padding_idx) at = count;
    if (by_frequency) ++uses[at];
  }
  const TensorBase rows = contiguous_as(grad_output, cpp_type_to_scalar_type<Acc>);
  const TensorBase sums = make_tensor({count + 1, width}, cpp_type_to_scalar_type<Acc>, DeviceType::CPU);
  Acc* const sum = static_cast<Acc*>(sums.data_ptr());
  std::fill(sum, sum + sums.numel(), Acc());
  for (std::int64_t& at : indices) at *= width * static_cast<std::int64_t>(sizeof(Acc));
  DimVector row_dims = dims_but(rows.dim(), rows.dim() - 1);
  add_rows(sums, IndexedRows(sums, {1}, rows, {rows.dim() - 1}, row_dims), indices, 1);
  for (std::int64_t r = 0; by_frequency && r < count; ++r) {
    const auto n = static_cast<Real<Acc>>(std::max<std::int64_t>(1, uses[r]));
    for (std::int64_t i = 0; i < width; ++i) sum[r * width + i] = sum[r * width + i] / n;
  }
  copy_elements(make_view(sums, {count, width}, {width, 1}, 0), out);
}

}  // namespace

namespace cpu {

void embedding(const TensorBase& weight, const TensorBase& indices, std::int64_t, bool, bool, TensorBase& out) {
  const TensorBase list = index_list(indices, "indices", 0, weight.sizes()[0]);
  const auto offsets = offsets_of(list, weight.strides()[0] * static_cast<std::int64_t>(weight.itemsize()));
  const std::int64_t last = out.dim() - 1;
  read_rows(IndexedRows(weight, {1}, out, {last}, dims_but(out.dim(), last)), offsets, weight.itemsize());
}

void embedding_dense_backward(const TensorBase& grad_output, const TensorBase& indices, std::int64_t num_weights,
                              std::int64_t padding_idx, bool scale_grad_by_freq, TensorBase& out) {
  const TensorBase list = index_list(indices, "indices", 0, num_weights);
  visit_floating_and_complex(grad_output.dtype(), "embedding_dense_backward", [&]<typename T>() {
    embedding_gradient<T>(grad_output, list, padding_idx, scale_grad_by_freq, out);
  });
}

void index_select(const TensorBase& self, std::int64_t dim, const TensorBase& index, TensorBase& out) {
  const TensorBase table = with_dim(self), to = with_dim(out);
  const Indexed indexed(table, dim, index, to);
  read_rows(indexed.rows, indexed.offsets, self.itemsize());
}

void index_add(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& source,
               const Scalar& alpha, TensorBase& out) {
  const TensorBase to = with_dim(out), from = with_dim(apart_from(source, out));
  const Indexed indexed(to, dim, index, from);
  begin_as(self, out);
  add_rows(to, indexed.rows, indexed.offsets, alpha);
}

void index_copy(const TensorBase& self, std::int64_t dim, const TensorBase& index, const TensorBase& source,
                TensorBase& out) {
  const TensorBase to = with_dim(out), from = with_dim(apart_from(source, out));
  const Indexed indexed(to, dim, index, from);
  begin_as(self, out);
  visit_bits(self.itemsize(), [&]<typename T>() {
    indexed.rows.each_part(indexed.offsets.data(),
                           [](char* table, char* row, std::int64_t n, std::int64_t table_step, std::int64_t row_step) {
                             copy_run<T>(table, row, n, table_step, row_step);
                           });
  });
}

namespace {

// Writes the indices of set flags behind the `found` ones of before, and says how many there are then: at most `count`.
// Each index is written, and stays if its flag is set: what comes of a flag is no jump, which nobody could foresee.
std::int64_t find_true(const std::uint8_t* flags, std::int64_t n, std::int64_t count, std::int64_t found,
                       std::int64_t* indices) {
  for (std::int64_t i = 0; i < n && found < count; ++i) {
    indices[found] = i;
    found += flags[i] != 0 ? 1 : 0;
  }
  return found;
}

}  // namespace

// Each column of the result, the indices along a dimension, lies in one piece.
TensorBase nonzero(const TensorBase& self) {
  const TensorBase flags = contiguous_as(self, kBool);
  const auto* flag = static_cast<const std::uint8_t*>(flags.data_ptr());
  const std::int64_t n = self.numel(), rank = self.dim();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += flag[i] != 0 ? 1 : 0;
  const std::int64_t column = std::max<std::int64_t>(count, 1);
  const TensorBase out = make_tensor_strided({count, rank}, {1, column}, kLong, DeviceType::CPU);
  auto* const to = static_cast<std::int64_t*>(out.data_ptr());
  if (count == 0 || rank == 0) return out;
  const auto last = static_cast<std::size_t>(rank) - 1;
  const std::int64_t length = self.sizes()[last];
  DimVector index(last, 0);  // of a line along the last dimension
  const std::uint8_t* const end = flag + n;
  for (std::int64_t row = 0; row < count && flag != end; flag += length) {
    const std::int64_t first = row;
    row = find_true(flag, length, count, row, to + static_cast<std::int64_t>(last) * column);
    for (std::size_t d = 0; d < last; ++d) {
      std::int64_t* const indices = to + static_cast<std::int64_t>(d) * column;
      std::fill(indices + first, indices + row, index[d]);
    }
    for (std::size_t d = last; d-- > 0;) {
      if (++index[d] < self.sizes()[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace cpu

}  // namespace keyway::inline v1
