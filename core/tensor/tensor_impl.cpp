#include <keyway/core/tensor/geometry.h>
#include <keyway/core/tensor/tensor_impl.h>

namespace keyway::inline v1 {

AutogradMetaInterface::~AutogradMetaInterface() = default;
TensorExtra::~TensorExtra() = default;

std::uint8_t TensorImpl::compute_layout() const {
  std::uint8_t flags = kKnown;
  if (keyway::is_contiguous(sizes(), strides())) flags |= kContiguous;
  if (keyway::is_non_overlapping_and_dense(sizes(), strides())) flags |= kDense;
  if (keyway::is_channels_last(sizes(), strides())) flags |= kChannelsLast;
  set_layout(flags);
  return flags;
}

}  // namespace keyway::inline v1
