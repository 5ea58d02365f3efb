// Offsets: how far from the beginning of a table that lies which indices name, in bytes. Computed and tested once, and
// then read by whatever reads or writes there. Internal to backends/cuda.
#pragma once

#include <keyway/core/base/small_vector.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>
#include <limits>

namespace keyway::inline v1::cuda {

// What indices count: `size` positions, each `stride` bytes after the one before.
struct IndexedDim {
  std::int64_t size, stride;

  static IndexedDim of(const TensorBase& table, std::int64_t dim);
};

// Row-major int64 tensors of one shape. What has an index that is refused has an offset below 0.
class Offsets {
 public:
  // No index that is accepted is that.
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

  Offsets(IntArrayRef shape, Device device);

  // One more dimension. `index`, of int32 or int64, broadcasts to the shape; the argument's name in errors ends the
  // functions' names.
  // From 0; those equal to `skipped` have an offset below 0, and are no error.
  void add_index(const TensorBase& index, const IndexedDim& along);
  void add_indices(const TensorBase& indices, const IndexedDim& along, std::int64_t skipped = kNone);
  // Those below 0 count from the end.
  void add_wrapped_indices(const TensorBase& indices, const IndexedDim& along);

  // All 0 if nothing was added.
  TensorBase take() &&;

 private:
  template <template <typename> typename Named>
  void add(const TensorBase& index, const IndexedDim& along, std::int64_t low, std::int64_t skipped);

  TensorBase offsets_;
  bool begun_ = false;
};

// Those of a scatter: of shape index.sizes(). Element i lies in the line of `table` along `dim` that has the same other
// coordinates, at the position that index, of int64, has there.
TensorBase scatter_offsets(const TensorBase& table, std::int64_t dim, const TensorBase& index);

}  // namespace keyway::inline v1::cuda
