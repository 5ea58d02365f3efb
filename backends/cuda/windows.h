// Windows: what pooling looks at. An element of the result has a window of the input, an element of the input has the
// windows that may look at it; both are boxes, of three dimensions always. The first ones have one position if there
// are fewer.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1::cuda {

struct Range {
  std::int64_t begin = 0, end = 1;
};

// The windows along one dimension.
struct Axis {
  std::int64_t in = 1, out = 1;  // positions of the input, and windows
  // Window o looks at `kernel` positions from o * stride - padding on, dilation apart; or the windows divide the input
  // evenly, and have no other numbers.
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool even = false;

  // What a window looks at inside the input, dilation apart; nothing where the end is not above the beginning.
  KEYWAY_HD Range window(std::int64_t o) const {
    if (even) return share(o, in, out);
    const std::int64_t begin = o * stride - padding, end = begin + (kernel - 1) * dilation + 1;
    return {begin < 0 ? begin + (dilation - 1 - begin) / dilation * dilation : begin, end < in ? end : in};
  }
  // How many positions a window without dilation counts for in a mean, with or without what is padded.
  KEYWAY_HD std::int64_t length(std::int64_t o, bool padded) const {
    if (even || !padded) {
      const Range range = window(o);
      return range.end > range.begin ? range.end - range.begin : 0;
    }
    const std::int64_t begin = o * stride - padding, end = begin + kernel;
    return (end < in + padding ? end : in + padding) - begin;
  }
  // The windows that may look at a position: all that do, and with dilation some between them that do not.
  KEYWAY_HD Range windows_over(std::int64_t position) const {
    if (even) {
      const Range range = share(position, out, in);
      return {range.begin, range.end < out ? range.end : out};
    }
    const std::int64_t last = position + padding, first = last - (kernel - 1) * dilation;
    const std::int64_t end = last / stride + 1;
    return {first > 0 ? (first - 1) / stride + 1 : 0, end < out ? end : out};
  }

 private:
  // What share i of `shares` has of n positions, neighbours overlapping where they do not divide them.
  KEYWAY_HD static Range share(std::int64_t i, std::int64_t n, std::int64_t shares) {
    return {i * n / shares, ((i + 1) * n - 1) / shares + 1};
  }
};

// A position in a plane, or a volume.
struct Spot {
  std::int64_t of[3];
};

struct Box {
  Range of[3];

  KEYWAY_HD bool has(const Spot& spot) const {
    for (int d = 0; d < 3; ++d) {
      if (spot.of[d] < of[d].begin || spot.of[d] >= of[d].end) return false;
    }
    return true;
  }
  // Calls f(spot) for each, `step` apart, in row-major order.
  template <typename F>
  KEYWAY_HD void each(const std::int64_t (&step)[3], const F& f) const {
    for (std::int64_t i = of[0].begin; i < of[0].end; i += step[0]) {
      for (std::int64_t j = of[1].begin; j < of[1].end; j += step[1]) {
        for (std::int64_t k = of[2].begin; k < of[2].end; k += step[2]) f(Spot{{i, j, k}});
      }
    }
  }
  template <typename F>
  KEYWAY_HD void each(const F& f) const {
    each({1, 1, 1}, f);
  }
};

// How the planes of a tensor lie in memory: its last dimensions.
struct Plane {
  std::int64_t size[3] = {1, 1, 1}, stride[3] = {};  // in elements

  Plane(const TensorBase& tensor, std::size_t rank);

  KEYWAY_HD std::int64_t offset(const Spot& spot) const {
    return spot.of[0] * stride[0] + spot.of[1] * stride[1] + spot.of[2] * stride[2];
  }
  // Elements, counted in row-major order.
  KEYWAY_HD std::int64_t number(const Spot& spot) const {
    return (spot.of[0] * size[1] + spot.of[1]) * size[2] + spot.of[2];
  }
  KEYWAY_HD Spot spot(std::int64_t number) const {
    const std::int64_t line = number / size[2], d = line / size[1];
    return {{d, line - d * size[1], number - line * size[2]}};
  }
  KEYWAY_HD std::int64_t positions() const { return size[0] * size[1] * size[2]; }
};

struct Windows {
  Axis axis[3];

  KEYWAY_HD Box window(const Spot& o) const {
    return {{axis[0].window(o.of[0]), axis[1].window(o.of[1]), axis[2].window(o.of[2])}};
  }
  KEYWAY_HD Box windows_over(const Spot& position) const {
    return {{axis[0].windows_over(position.of[0]), axis[1].windows_over(position.of[1]),
             axis[2].windows_over(position.of[2])}};
  }
  KEYWAY_HD Box all_windows() const { return {{{0, axis[0].out}, {0, axis[1].out}, {0, axis[2].out}}}; }
};

// The last `rank` dimensions of the input and of what has an element for each window. A list has `rank` elements, or
// one for all; without a stride it is the kernel.
Windows fixed_windows(const TensorBase& in, const TensorBase& out, std::size_t rank, IntArrayRef kernel,
                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation);
Windows even_windows(const TensorBase& in, const TensorBase& out, std::size_t rank);

// A tensor of one element in each plane: where the plane begins.
TensorBase plane_origins(const TensorBase& tensor, std::size_t rank);

}  // namespace keyway::inline v1::cuda
