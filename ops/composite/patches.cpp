// Images as patches, and channels as pixels.
#include <keyway/ops/all.h>
#include <keyway/ops/patches_composites.h>

#include <array>

namespace keyway::inline v1::composite {

namespace {

// Where along one dimension windows lie.
struct Windows {
  std::int64_t length, dilation, padding, stride;
  std::int64_t size, count;  // of the dimension with its padding; how many windows there are
};

Windows windows_of(std::size_t at, std::int64_t size, IntArrayRef kernel_size, IntArrayRef dilation,
                   IntArrayRef padding, IntArrayRef stride) {
  const auto item = [at](IntArrayRef list) { return list[list.size() == 1 ? 0 : at]; };
  Windows windows{item(kernel_size), item(dilation), item(padding), item(stride), 0, 0};
  std::int64_t reach = 0;
  KEYWAY_CHECK(!__builtin_mul_overflow(windows.dilation, windows.length - 1, &reach) &&
                   !__builtin_mul_overflow(windows.padding, 2, &windows.size) &&
                   !__builtin_add_overflow(windows.size, size, &windows.size) && reach < windows.size,
               "a window of {} positions, {} apart, does not fit into a dimension of size {} with a padding of {}",
               windows.length, windows.dilation, size, windows.padding);
  windows.count = (windows.size - reach - 1) / windows.stride + 1;
  return windows;
}

// The positions of all windows, [length * count]: the first of each, then the second, ...
Tensor positions_of(const Windows& windows, Device device) {
  const TensorOptions options = TensorOptions(device).dtype(kLong);
  const Tensor within = keyway::arange(windows.length, options) * windows.dilation;
  const Tensor begins = keyway::arange(windows.count, options) * windows.stride;
  return (within.unsqueeze(1) + begins).reshape({checked_numel({windows.length, windows.count})});
}

// How far apart in memory `n` elements are, of which each is `distance` behind the one before.
std::int64_t apart(std::int64_t step, std::int64_t distance, std::int64_t n) { return n > 1 ? step * distance : step; }

// With a batch of one in front, if it has none.
Tensor in_front(const Tensor& self) { return self.dim() == 3 ? self.unsqueeze(0) : self; }

// Sizes with others in place of the last three.
DimVector with_last(const Tensor& self, IntArrayRef last) {
  DimVector sizes(self.sizes().slice(0, self.sizes().size() - 3));
  for (const std::int64_t size : last) sizes.push_back(size);
  return sizes;
}

// Leaves the dimensions before the last five, and puts those in this order.
Tensor last_five(const Tensor& self, const std::array<std::int64_t, 5>& order) {
  DimVector dims;
  const std::int64_t first = self.dim() - 5;
  for (std::int64_t d = 0; d < first; ++d) dims.push_back(d);
  for (const std::int64_t d : order) dims.push_back(first + d);
  return self.permute(dims);
}

}  // namespace

Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  const Tensor images = in_front(self);
  const Windows down = windows_of(0, images.size(2), kernel_size, dilation, padding, stride);
  const Windows across = windows_of(1, images.size(3), kernel_size, dilation, padding, stride);
  const Tensor padded =
      down.padding == 0 && across.padding == 0
          ? images
          : keyway::constant_pad_nd(images, {across.padding, across.padding, down.padding, down.padding});
  // A view with a dimension for each of where windows are and of where in them: one copy makes columns of it.
  const IntArrayRef steps = padded.strides();
  const Tensor windows = padded.as_strided(
      {images.size(0), images.size(1), down.length, across.length, down.count, across.count},
      {steps[0], steps[1], apart(steps[2], down.dilation, down.length), apart(steps[3], across.dilation, across.length),
       apart(steps[2], down.stride, down.count), apart(steps[3], across.stride, across.count)});
  const Tensor columns = windows.reshape({images.size(0), checked_numel({images.size(1), down.length, across.length}),
                                          checked_numel({down.count, across.count})});
  const Tensor result = self.dim() == 3 ? columns.squeeze(0) : columns;
  return result.is_alias_of(self) ? result.clone() : result;
}

Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
              IntArrayRef padding, IntArrayRef stride) {
  const Windows down = windows_of(0, output_size[0], kernel_size, dilation, padding, stride);
  const Windows across = windows_of(1, output_size[1], kernel_size, dilation, padding, stride);
  const Tensor columns = self.dim() == 2 ? self.unsqueeze(0) : self;
  const std::int64_t area = checked_numel({down.length, across.length}), batch = columns.size(0);
  KEYWAY_CHECK(columns.size(1) % area == 0, "self has {} rows, which is no multiple of a window's {} positions",
               columns.size(1), area);
  KEYWAY_CHECK(columns.size(2) == checked_numel({down.count, across.count}),
               "self has {} columns, but the result has {} x {} windows", columns.size(2), down.count, across.count);
  const std::int64_t channels = columns.size(1) / area;
  const Tensor windows = columns.reshape({batch, channels, down.length, across.length, down.count, across.count})
                             .permute({0, 1, 2, 4, 3, 5})
                             .reshape({batch, channels, checked_numel({down.length, down.count}),
                                       checked_numel({across.length, across.count})});
  const Tensor wide = keyway::zeros({batch, channels, windows.size(2), across.size}, self.options())
                          .index_add(3, positions_of(across, self.device()), windows);
  const Tensor images = keyway::zeros({batch, channels, down.size, across.size}, self.options())
                            .index_add(2, positions_of(down, self.device()), wide)
                            .narrow(2, down.padding, output_size[0])
                            .narrow(3, across.padding, output_size[1])
                            .contiguous();
  return self.dim() == 2 ? images.squeeze(0) : images;
}

Tensor pixel_shuffle(const Tensor& self, std::int64_t upscale_factor) {
  const std::int64_t r = upscale_factor, channels = self.size(-3) / (r * r), height = self.size(-2),
                     width = self.size(-1);
  return last_five(self.reshape(with_last(self, {channels, r, r, height, width})), {0, 3, 1, 4, 2})
      .reshape(with_last(self, {channels, checked_numel({height, r}), checked_numel({width, r})}));
}

Tensor pixel_unshuffle(const Tensor& self, std::int64_t downscale_factor) {
  const std::int64_t r = downscale_factor, channels = self.size(-3), height = self.size(-2) / r,
                     width = self.size(-1) / r;
  return last_five(self.reshape(with_last(self, {channels, height, r, width, r})), {0, 2, 4, 1, 3})
      .reshape(with_last(self, {checked_numel({channels, r, r}), height, width}));
}

Tensor channel_shuffle(const Tensor& self, std::int64_t groups) {
  DimVector apart(self.sizes());
  apart[1] = groups;
  apart.insert(2, self.size(1) / groups);
  return self.reshape(apart).transpose(1, 2).reshape(self.sizes());
}

}  // namespace keyway::inline v1::composite
