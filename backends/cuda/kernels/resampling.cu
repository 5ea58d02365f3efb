// Sums of elements at given indices of a dimension, times weights, and their gradients. A table [N, C, S, I] and rows
// [N, C, P, I] are tied by indices and weights [N, 1, K, P]. An element of what is gathered, and a product's, is one
// thread's; what is scattered is added up in the order of taps and rows (indexed_rows.cuh).
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/indexed_rows.cuh>
#include <keyway/backends/cuda/kernels/kernels_resampling.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/zeros.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1::cuda {

namespace {

constexpr DtypeSet kFloats = DtypeSet{kDouble} | DtypeSet{kFloat};
constexpr const char* kBadIndex = "argument 'indices' has an element that is out of range";

// Where the indices of a row lie, tap after tap: -1 is none.
struct TapIndices {
  std::int64_t taps, step;  // in elements
  std::int64_t size;        // of the table

  KEYWAY_HD bool has(std::int64_t index) const { return index >= -1 && index < size; }
};

// Operands: out, the line of the table, the row's first index, its first weight.
template <typename T>
struct GatherWeighted {
  static constexpr const char* kElementError = kBadIndex;
  TapIndices of;
  std::int64_t table_step, weight_step;

  KEYWAY_HD bool operator()(const Element<4>& at) const {
    T sum = 0;
    for (std::int64_t k = 0; k < of.taps; ++k) {
      const std::int64_t index = (&at.at<const std::int64_t>(2))[k * of.step];
      if (!of.has(index)) return false;
      if (index >= 0) sum += (&at.at<const T>(1))[index * table_step] * (&at.at<const T>(3))[k * weight_step];
    }
    at.at<T>(0) = sum;
    return true;
  }
};

// Operands: out, the index, the first elements of the row and of the table, each of which has `channels` and `inner`.
template <typename T>
struct GatherProducts {
  static constexpr const char* kElementError = kBadIndex;
  std::int64_t size, channels, inner;
  std::int64_t row_steps[2], table_steps[3];  // in elements; the table's of channels, indices and inner ones

  KEYWAY_HD bool operator()(const Element<4>& at) const {
    const std::int64_t index = at.at<const std::int64_t>(1);
    if (index < -1 || index >= size) return false;
    T sum = 0;
    for (std::int64_t c = 0; index >= 0 && c < channels; ++c) {
      const T* const row = &at.at<const T>(2) + c * row_steps[0];
      const T* const table = &at.at<const T>(3) + c * table_steps[0] + index * table_steps[1];
      for (std::int64_t i = 0; i < inner; ++i) sum += row[i * row_steps[1]] * table[i * table_steps[2]];
    }
    at.at<T>(0) = sum;
    return true;
  }
};

// Operands: the offset in bytes, the index, the number of the image.
struct OffsetOfIndex {
  static constexpr const char* kElementError = kBadIndex;
  std::int64_t size, image_bytes, row_bytes;

  KEYWAY_HD bool operator()(const Element<3>& at) const {
    const std::int64_t index = at.at<const std::int64_t>(1);
    const bool within = index >= -1 && index < size;
    at.at<std::int64_t>(0) = within && index >= 0 ? at.number(2) * image_bytes + index * row_bytes : -1;
    return within;
  }
};

// Operands: out, the row's element, the weight.
template <typename T>
struct WeighRow {
  KEYWAY_HD void operator()(const Element<3>& at) const { at.at<T>(0) = at.at<const T>(1) * at.at<const T>(2); }
};

// Some dimensions of a tensor, in another order; where `dims` has -1, one that is broadcast.
TensorBase arranged(const TensorBase& tensor, std::initializer_list<int> dims) {
  DimVector sizes, strides;
  for (const int d : dims) {
    sizes.push_back(d < 0 ? 1 : tensor.sizes()[static_cast<std::size_t>(d)]);
    strides.push_back(d < 0 ? 0 : tensor.strides()[static_cast<std::size_t>(d)]);
  }
  return make_view(tensor, sizes, strides, tensor.storage_offset());
}

}  // namespace

void _gather_weighted(const TensorBase& self, const TensorBase& indices, const TensorBase& weights, TensorBase& out) {
  if (out.numel() == 0) return;
  const TensorBase first = arranged(indices, {0, -1, 3, -1}), weight = arranged(weights, {0, -1, 3, -1});
  const TapIndices taps{indices.sizes()[2], indices.strides()[2], self.sizes()[2]};
  const IterationSpace space = ElementSpace(out.sizes()).tensor(out).line(self, 2).tensor(first).tensor(weight).space();
  visit_dtype<kFloats | DtypeSet{kInt}>(self.dtype(), "_gather_weighted", [&]<typename T>() {
    each<4>(space, GatherWeighted<T>{taps, self.strides()[2], weights.strides()[2]}, out.device());
  });
}

void _gather_products(const TensorBase& self, const TensorBase& other, const TensorBase& indices, TensorBase& out) {
  if (out.numel() == 0) return;
  const TensorBase row = arranged(self, {0, -1, -1, 2}), table = arranged(other, {0, -1, -1, -1});
  const IterationSpace space = ElementSpace(out.sizes()).tensor(out).tensor(indices).tensor(row).tensor(table).space();
  visit_dtype<kFloats>(self.dtype(), "_gather_products", [&]<typename T>() {
    each<4>(space,
            GatherProducts<T>{other.sizes()[2],
                              self.sizes()[1],
                              self.sizes()[3],
                              {self.strides()[1], self.strides()[3]},
                              {other.strides()[1], other.strides()[2], other.strides()[3]}},
            out.device());
  });
}

void _scatter_weighted(const TensorBase& self, const TensorBase& indices, const TensorBase& weights, std::int64_t size,
                       TensorBase& out) {
  const ContiguousOut table(out);
  if (out.numel() > 0) fill_with_zeros(table.tensor());
  const std::int64_t images = self.sizes()[0], taps = indices.sizes()[2], count = indices.sizes()[3];
  const DimVector listed{images, taps, count}, sizes{images, taps, count, self.sizes()[1], self.sizes()[3]};
  if (out.numel() > 0 && checked_numel(sizes) > 0) {
    const TensorBase offsets = make_tensor(listed, kLong, out.device());
    const IntArrayRef strides = table.tensor().strides();
    const auto item = static_cast<std::int64_t>(out.itemsize());
    each<3>(ElementSpace(listed).tensor(offsets).tensor(arranged(indices, {0, 2, 3})).coordinate(0).space(),
            OffsetOfIndex{size, strides[0] * item, strides[2] * item}, out.device());
    const TensorBase rows = make_tensor(sizes, self.dtype(), out.device());
    const IterationSpace space = ElementSpace(sizes)
                                     .tensor(rows)
                                     .tensor(arranged(self, {0, -1, 2, 1, 3}))
                                     .tensor(arranged(weights, {0, 2, 3, -1, -1}))
                                     .space();
    visit_dtype<kFloats>(self.dtype(), "_scatter_weighted",
                         [&]<typename T>() { each<3>(space, WeighRow<T>{}, out.device()); });
    IndexedRows(table.tensor(), {1, 3}, rows, {3, 4}).add(offsets, 1);
  }
  table.finish();
}

}  // namespace keyway::inline v1::cuda
