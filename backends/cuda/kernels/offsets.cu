// Offsets from indices. Bound by memory: an index is read and an offset written.
#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/offsets.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <utility>

namespace keyway::inline v1::cuda {

namespace {

// Operands: the offset, the index.
template <typename I>
struct AddOffset {
  IndexedDim along;
  std::int64_t low, skipped;
  bool begun;  // offsets of other dimensions are there

  KEYWAY_HD bool operator()(const Element<2>& element) const {
    const std::int64_t index = element.at<const I>(1);
    std::int64_t& offset = element.at<std::int64_t>(0);
    const std::int64_t before = begun ? offset : 0;
    const bool within = low <= index && index < along.size;
    const bool counts = within && before >= 0 && index != skipped;
    offset = counts ? before + (index < 0 ? index + along.size : index) * along.stride : -1;
    return within;
  }
};

template <typename I>
struct AddIndex : AddOffset<I> {
  static constexpr const char* kElementError = "argument 'index' has an element that is out of range";
};
template <typename I>
struct AddIndices : AddOffset<I> {
  static constexpr const char* kElementError = "argument 'indices' has an element that is out of range";
};

// Operands: the offset, the index, the line of the table that it counts in.
struct ScatterOffset {
  static constexpr const char* kElementError = "argument 'index' has an element that is out of range";
  const char* table;
  IndexedDim along;

  KEYWAY_HD bool operator()(const Element<3>& element) const {
    const std::int64_t index = element.at<const std::int64_t>(1);
    const bool within = 0 <= index && index < along.size;
    element.at<std::int64_t>(0) = within ? element.address(2) - table + index * along.stride : -1;
    return within;
  }
};

}  // namespace

IndexedDim IndexedDim::of(const TensorBase& table, std::int64_t dim) {
  const auto d = static_cast<std::size_t>(dim);
  return {table.sizes()[d], table.strides()[d] * static_cast<std::int64_t>(table.itemsize())};
}

Offsets::Offsets(IntArrayRef shape, Device device) : offsets_(make_tensor(shape, kLong, device)) {}

template <template <typename> typename Named>
void Offsets::add(const TensorBase& index, const IndexedDim& along, std::int64_t low, std::int64_t skipped) {
  const bool begun = std::exchange(begun_, true);
  if (offsets_.numel() == 0) return;
  const IterationSpace space = ElementSpace(offsets_.sizes()).tensor(offsets_).tensor(index).space();
  visit_index(index.dtype(), "indexing", [&]<typename I>() {
    each<2>(space, Named<I>{{along, low, skipped, begun}}, offsets_.device());
  });
}

void Offsets::add_index(const TensorBase& index, const IndexedDim& along) { add<AddIndex>(index, along, 0, kNone); }

void Offsets::add_indices(const TensorBase& indices, const IndexedDim& along, std::int64_t skipped) {
  add<AddIndices>(indices, along, 0, skipped);
}

void Offsets::add_wrapped_indices(const TensorBase& indices, const IndexedDim& along) {
  add<AddIndices>(indices, along, -along.size, kNone);
}

TensorBase Offsets::take() && {
  if (!begun_ && offsets_.numel() > 0) {
    const cudaStream_t stream = runtime_stream(cuda_device_guard().get_stream(offsets_.device()));
    KEYWAY_CUDA_CHECK(cudaMemsetAsync(offsets_.data_ptr(), 0, offsets_.nbytes(), stream));
  }
  return std::move(offsets_);
}

TensorBase scatter_offsets(const TensorBase& table, std::int64_t dim, const TensorBase& index) {
  TensorBase offsets = make_tensor(index.sizes(), kLong, index.device());
  if (offsets.numel() == 0) return offsets;
  const IterationSpace space = ElementSpace(index.sizes()).tensor(offsets).tensor(index).line(table, dim).space();
  const ScatterOffset functor{static_cast<const char*>(table.data_ptr()), IndexedDim::of(table, dim)};
  each<3>(space, functor, index.device());
  return offsets;
}

}  // namespace keyway::inline v1::cuda
