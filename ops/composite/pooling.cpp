#include <keyway/ops/all.h>
#include <keyway/ops/pooling_composites.h>

#include <algorithm>

namespace keyway::inline v1::composite {

namespace {

// A list of one number for one dimension as a list for two, of which the first does nothing.
DimVector as_plane(IntArrayRef list, std::int64_t nothing) {
  return list.empty() ? DimVector() : DimVector{nothing, list[0]};
}

bool is_of_ones(IntArrayRef list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t size) { return size == 1; });
}

// The elements of each plane, or volume, of `output_size` at indices of it.
Tensor unpooled(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  DimVector sizes(self.sizes().begin(), self.sizes().end() - output_size.size());
  const auto as_lines = [&](std::int64_t length) {
    DimVector lines = sizes;
    lines.push_back(length);
    return lines;
  };
  const DimVector flat = as_lines(checked_numel(self.sizes().slice(sizes.size())));
  const Tensor empty = keyway::zeros(as_lines(checked_numel(output_size)), self.options());
  for (const std::int64_t size : output_size) sizes.push_back(size);
  return empty.scatter(-1, indices.reshape(flat), self.reshape(flat)).reshape(sizes);
}

}  // namespace

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  return keyway::adaptive_avg_pool2d(self.unsqueeze(-2), as_plane(output_size, 1)).squeeze(-2);
}
Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  if (is_of_ones(output_size) && self.dim() > 2 && self.is_floating_point()) return self.mean({-2, -1}, true);
  return _adaptive_avg_pool2d(self, output_size);
}
Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  if (is_of_ones(output_size) && self.dim() > 3 && self.is_floating_point()) return self.mean({-3, -2, -1}, true);
  return _adaptive_avg_pool3d(self, output_size);
}

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad) {
  return avg_pool2d(self.unsqueeze(-2), as_plane(kernel_size, 1), as_plane(stride, 1), as_plane(padding, 0), ceil_mode,
                    count_include_pad)
      .squeeze(-2);
}

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const auto [values, indices] =
      max_pool2d_with_indices(self.unsqueeze(-2), as_plane(kernel_size, 1), as_plane(stride, 1), as_plane(padding, 0),
                              as_plane(dilation, 1), ceil_mode);
  return {values.squeeze(-2), indices.squeeze(-2)};
}
Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(composite::max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}
Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}
Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return unpooled(self, indices, output_size);
}
Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef, IntArrayRef) {
  return unpooled(self, indices, output_size);
}

}  // namespace keyway::inline v1::composite
