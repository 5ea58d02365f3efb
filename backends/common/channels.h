// ChannelLayout: where the elements of the channels of a batch, [N, C, ...], lie in memory.
#pragma once

#include <keyway/core/tensor/geometry.h>
#include <keyway/core/tensor/memory_format.h>
#include <keyway/core/tensor/tensor_base.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace keyway::inline v1::detail {

// In planes of `positions` neighbours, [batches, channels, positions], or side by side, [batches * positions,
// channels].
struct ChannelLayout {
  // Fewer channels side by side are not worth going through together.
  static constexpr std::int64_t kManyChannels = 16;

  std::int64_t batches, channels, positions;

  explicit ChannelLayout(const TensorBase& batch)
      : batches(batch.sizes()[0]),
        channels(batch.sizes()[1]),
        positions(checked_numel(batch.sizes().slice(2, batch.sizes().size() - 2))),
        one_plane_(!has_many_channels() && positions == 1) {
    if (one_plane_) std::swap(batches, positions);
  }

  bool has_many_channels() const { return channels >= kManyChannels; }
  // Elements of a channel.
  std::int64_t count() const { return batches * positions; }

  // A tensor whose elements lie so, in planes, if it is row-major.
  TensorBase in_planes(const TensorBase& batch) const {
    if (!batch.defined() || !one_plane_) return batch;
    return make_view(batch, {1, channels, positions}, {0, batch.strides()[1], batch.strides()[0]},
                     batch.storage_offset());
  }

 private:
  bool one_plane_;  // the elements of a channel are one plane
};

// Whether the channels of all are the last dimension in memory, and some, so that none has to be copied. Tensors may be
// undefined.
inline bool channels_are_last(const ChannelLayout& at, std::initializer_list<const TensorBase*> tensors,
                              ScalarType dtype) {
  return at.has_many_channels() && std::all_of(tensors.begin(), tensors.end(), [dtype](const TensorBase* x) {
           return !x->defined() || (x->dtype() == dtype && (x->is_contiguous(MemoryFormat::ChannelsLast) ||
                                                            x->is_contiguous(MemoryFormat::ChannelsLast3d)));
         });
}
// Such a tensor as what it is in memory.
inline TensorBase channels_as_columns(const TensorBase& tensor, const ChannelLayout& at) {
  if (!tensor.defined()) return tensor;
  return make_view(tensor, {at.count(), at.channels}, {at.channels, 1}, tensor.storage_offset());
}

}  // namespace keyway::inline v1::detail
