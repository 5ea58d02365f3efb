#include <keyway/core/tensor/foreign_memory.h>
#include <keyway/core/tensor/storage_listener.h>

#include <cstdint>
#include <utility>

namespace keyway::inline v1 {

TensorBase tensor_over(DataPtr data, IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  const std::int64_t numel = checked_numel(sizes);
  const DimVector steps = numel == 0 ? contiguous_strides(sizes) : DimVector(strides);
  for (const std::int64_t step : steps)
    KEYWAY_CHECK(step >= 0, "a tensor cannot have negative strides, as {}: make a copy first", strides);
  KEYWAY_CHECK(reinterpret_cast<std::uintptr_t>(data.get()) % element_size(dtype) == 0,
               "the memory begins at an address that is no multiple of the {} bytes of {}: make a copy first",
               element_size(dtype), dtype);
  const std::size_t bytes = checked_nbytes(sizes, steps, 0, element_size(dtype));
  Storage storage(make_intrusive<StorageImpl>(std::move(data), bytes, /*resizable=*/false));
  note_made(storage);
  return TensorBase(
      make_intrusive<TensorImpl>(std::move(storage), dtype, sizes, steps, numel, is_contiguous(sizes, steps)));
}

}  // namespace keyway::inline v1
