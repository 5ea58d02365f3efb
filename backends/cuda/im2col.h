// Im2col: a convolution as a matrix product. Every position of the output has a window of the input; the windows are
// columns of a matrix, those of an image after those of the image before, with a row for each channel and tap, a tap
// being a position in the kernel. Which element of the input is where in that matrix, and the other way round.
#pragma once

#include <keyway/backends/cuda/divisor.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// Some of the columns: those from position `position` of image `image` on.
struct Im2colColumns {
  std::int64_t image = 0;
  std::uint32_t position = 0;
  Divisor count;  // at least one, as a divisor of numbers of elements
};

struct Im2col {
  // Of x [batch, groups * in_channels, ...], w [groups * out_channels, in_channels, ...] and y [batch, groups *
  // out_channels, ...], with lists of one number or one for each spatial dimension. Throws
  // keyway::Error(NotImplemented) for numbers of 2^30 and more. Requires: the operator's contracts.
  Im2col(const TensorBase& x, const TensorBase& w, const TensorBase& y, IntArrayRef strides, IntArrayRef paddings,
         IntArrayRef dilations, std::int64_t group_count);

  std::int64_t rows() const { return groups * in_channels * taps.value; }
  std::int64_t columns() const { return batch * positions.value; }
  // `most` columns at most, from column `first` on. Requires: there are some.
  Im2colColumns chunk(std::int64_t first, std::int64_t most) const;

  // A position of the output, and the image it belongs to.
  struct Window {
    std::int64_t image;
    std::int64_t at[3];
  };
  // Column `number` of a chunk.
  KEYWAY_HD Window window(const Im2colColumns& chunk, std::uint32_t number) const {
    const std::uint32_t all = chunk.position + number;
    const std::uint32_t images = positions.quotient(all);
    Window window{chunk.image + images, {}};
    split(all - images * positions.value, out, window.at);
    return window;
  }
  // What a row has of each window.
  struct Row {
    std::uint32_t channel;  // of all groups
    std::int64_t tap[3];
  };
  KEYWAY_HD Row row(std::uint32_t number) const {
    Row row{taps.quotient(number), {}};
    split(number - row.channel * taps.value, kernel, row.tap);
    return row;
  }
  // The position of the input that a window has at a row. Whether there is one; else it is padding.
  KEYWAY_HD bool input(const Window& window, const Row& row, std::int64_t (&at)[3]) const {
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      at[d] = window.at[d] * stride[d].value - padding[d] + row.tap[d] * dilation[d];
      inside = inside && at[d] >= 0 && at[d] < in[d].value;
    }
    return inside;
  }

  // Calls f(tap, position of the output) for the windows that have a position of the input, in order of the taps.
  template <typename F>
  KEYWAY_HD void each_window(const std::int64_t (&at)[3], const F& f) const {
    std::uint32_t tap = 0;
    for (std::uint32_t k0 = 0; k0 < kernel[0].value; ++k0) {
      const std::int64_t o0 = reader(0, at[0], k0);
      for (std::uint32_t k1 = 0; k1 < kernel[1].value; ++k1) {
        const std::int64_t o1 = o0 < 0 ? -1 : reader(1, at[1], k1);
        for (std::uint32_t k2 = 0; k2 < kernel[2].value; ++k2, ++tap) {
          const std::int64_t o2 = o1 < 0 ? -1 : reader(2, at[2], k2);
          if (o2 >= 0) f(tap, (o0 * out[1].value + o1) * out[2].value + o2);
        }
      }
    }
  }

  std::int64_t batch, groups, in_channels, out_channels;  // channels of a group
  Divisor in[3], out[3], kernel[3], stride[3];            // three dimensions: those that are missing are the first
  std::int64_t padding[3] = {}, dilation[3] = {1, 1, 1};
  Divisor taps, positions;  // of a kernel, and of a plane of the output

  // The number of a position in row-major order, taken apart.
  KEYWAY_HD static void split(std::uint32_t number, const Divisor (&sizes)[3], std::int64_t (&at)[3]) {
    const std::uint32_t lines = sizes[2].quotient(number), planes = sizes[1].quotient(lines);
    at[0] = planes;
    at[1] = lines - planes * sizes[1].value;
    at[2] = number - lines * sizes[2].value;
  }

 private:
  // Along one dimension, the position of the output whose tap k reads the input there; -1 if none does.
  KEYWAY_HD std::int64_t reader(int d, std::int64_t at, std::int64_t k) const {
    const std::int64_t from = at + padding[d] - k * dilation[d];
    if (from < 0) return -1;
    const std::int64_t position = stride[d].quotient(static_cast<std::uint32_t>(from));
    return position * stride[d].value == from && position < out[d].value ? position : -1;
  }
};

// Where the elements of images lie: [batch, channels, ...], counted in elements.
struct ConvImages {
  ConvImages(const TensorBase& tensor);  // NOLINT

  KEYWAY_HD std::int64_t offset(std::int64_t image, std::int64_t channel, const std::int64_t (&at)[3]) const {
    return image * image_stride + channel * channel_stride + at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2];
  }

  void* data;
  std::int64_t image_stride, channel_stride, stride[3] = {};
};

}  // namespace keyway::inline v1::cuda
