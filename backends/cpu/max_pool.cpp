// Kernels of max pooling.
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/images.h>
#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/kernels_pooling.h>
#include <keyway/backends/cpu/row_loop.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>
#include <keyway/ops/rules/output_meta.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace keyway::inline v1 {

namespace {

// Windows along one dimension. Tap k of window o looks at o * stride - padding + k * dilation.
struct Axis {
  std::int64_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;

  std::int64_t at(std::int64_t o, std::int64_t k) const { return o * stride - padding + k * dilation; }
  // The taps of window o that are inside the input: [first_tap, end_tap).
  std::int64_t first_tap(std::int64_t o) const { return ceil_div(padding - o * stride, dilation); }
  std::int64_t end_tap(std::int64_t o) const {
    const std::int64_t room = in - 1 - at(o, 0);
    return room < 0 ? 0 : std::min(kernel, room / dilation + 1);
  }
  // Where the first tap of a window inside the input is; somewhere in the input if none is.
  std::int64_t first(std::int64_t o) const { return std::min(in - 1, at(o, first_tap(o))); }
  // The windows whose tap k is inside.
  std::int64_t first_window(std::int64_t k) const { return std::min(out, ceil_div(padding - k * dilation, stride)); }
  std::int64_t end_window(std::int64_t k) const {
    const std::int64_t room = in - 1 - at(0, k);
    return room < 0 ? 0 : std::min(out, room / stride + 1);
  }

 private:
  static std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a <= 0 ? 0 : (a - 1) / b + 1; }
};

struct Axes {
  Axes(const TensorBase& in, const TensorBase& out, std::size_t rank, IntArrayRef kernel, IntArrayRef stride,
       IntArrayRef padding, IntArrayRef dilation) {
    const auto item = [](IntArrayRef list, std::size_t d) { return list[list.size() == 1 ? 0 : d]; };
    for (std::size_t d = 0; d < rank; ++d) {
      const std::size_t from_end = rank - d;
      axis[3 - rank + d] = {in.sizes()[in.sizes().size() - from_end],
                            out.sizes()[out.sizes().size() - from_end],
                            item(kernel, d),
                            item(stride.empty() ? kernel : stride, d),
                            item(padding, d),
                            item(dilation, d)};
    }
    const Axis& last = axis[2];
    firsts = ScratchArray<std::int64_t>(last.out);
    for (std::int64_t w = 0; w < last.out; ++w) firsts[w] = last.first(w);
    for (std::int64_t k = last.first_tap(last.out - 1); k < last.end_tap(0); ++k) {
      const std::int64_t begin = last.first_window(k), count = last.end_window(k) - begin;
      if (count > 0) taps.push_back({begin, count, last.at(begin, k)});
    }
  }
  double work() const {
    double product = 1;
    for (const Axis& a : axis) product *= static_cast<double>(a.out) * static_cast<double>(std::min(a.kernel, a.in));
    return product;
  }

  // What one tap of the windows along the last dimension looks at: from window `begin` on `count` ones, the first of
  // them at index `at`.
  struct Tap {
    std::int64_t begin, count, at;
  };

  Axis axis[3];
  ScratchArray<std::int64_t> firsts;  // axis[2].first(w) of each w
  std::vector<Tap> taps;
};

// Windows that are treated at once, and so many of them that they are whole vectors.
constexpr std::int64_t kWindows = 256, kVector = 16;

// The greatest values so far of up to kWindows windows, and their indices in the plane.
template <typename T, typename Index>
struct Greatest {
  T best[kWindows];
  Index index[kWindows];

  [[gnu::always_inline]] void begin(std::int64_t i, std::int64_t first_index) {
    best[i] = lowest_value<T>();
    index[i] = static_cast<Index>(first_index);
  }
  // Windows [from, from + n) look at in[0], in[step], ..., whose indices are `at`, at + at_step, ...
  [[gnu::always_inline]] void take(std::int64_t from, std::int64_t n, const T* in, std::int64_t step, std::int64_t at,
                                   std::int64_t at_step) {
    const auto first = static_cast<Index>(at), apart = static_cast<Index>(at_step);
    if (step == 1) {
      KEYWAY_INDEPENDENT
      for (std::int64_t i = 0; i < n; ++i) {
        consider(from + i, in[i], static_cast<Index>(first + static_cast<Index>(i) * apart));
      }
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        consider(from + i, in[i * step], static_cast<Index>(first + static_cast<Index>(i) * apart));
      }
    }
  }
  // All windows up to n, rounded up to whole vectors, look at in[0], in[1], ...
  [[gnu::always_inline]] void take_row(std::int64_t n, const T* in, std::int64_t at, std::int64_t at_step) {
    const auto first = static_cast<Index>(at), step = static_cast<Index>(at_step);
    for (std::int64_t begin = 0; begin < n; begin += kVector) {
      KEYWAY_INDEPENDENT
      for (std::int64_t i = begin; i < begin + kVector; ++i) {
        consider(i, in[i], static_cast<Index>(first + static_cast<Index>(i) * step));
      }
    }
  }
  [[gnu::always_inline]] void write(std::int64_t n, T* to, std::int64_t step, std::int64_t* indices,
                                    std::int64_t indices_step) const {
    for (std::int64_t i = 0; i < n; ++i) {
      to[i * step] = best[i];
      indices[i * indices_step] = index[i];
    }
  }

 private:
  [[gnu::always_inline]] void consider(std::int64_t i, T value, Index at) {
    const bool greater = (value > best[i]) | is_nan(value);
    best[i] = greater ? value : best[i];
    index[i] = greater ? at : index[i];
  }
};

// A piece of a line of the input, as windows see it that are one or two elements apart: what lies outside is less than
// all, and of two elements those that lie one after the other for neighbouring windows stand together.
template <typename T>
struct InputRow {
  static constexpr std::int64_t kExtent = 512;  // of a window at most
  static constexpr std::int64_t kLength = kWindows + kExtent + kVector;
  T values[2][kLength];

  static bool holds(const Axis& axis) {
    return axis.stride <= 2 && axis.kernel <= kExtent && axis.dilation <= kExtent / axis.kernel;
  }
  // What windows [first, first + n) look at, of the line that begins at `line`.
  [[gnu::always_inline]] void fill(const Axis& axis, const T* line, std::int64_t step, std::int64_t first,
                                   std::int64_t n) {
    const std::int64_t begin = axis.at(first, 0);
    const std::int64_t length = (n + kVector) * axis.stride + (axis.kernel - 1) * axis.dilation;
    const std::int64_t low = std::clamp<std::int64_t>(-begin, 0, length);
    const std::int64_t high = std::clamp<std::int64_t>(axis.in - begin, low, length);
    for (int part = 0; part < axis.stride; ++part) {
      T* const to = values[part];
      const auto index = [&](std::int64_t at) { return (at - part + axis.stride - 1) >> (axis.stride - 1); };
      const std::int64_t from = index(low), until = index(high), count = index(length);
      for (std::int64_t i = 0; i < from; ++i) to[i] = lowest_value<T>();
      const T* const in = line + (begin + part) * step;
      const std::int64_t each = axis.stride * step;
      if (each == 1) {
        KEYWAY_INDEPENDENT
        for (std::int64_t i = from; i < until; ++i) to[i] = in[i];
      } else if (each == 2) {
        KEYWAY_INDEPENDENT
        for (std::int64_t i = from; i < until; ++i) to[i] = in[2 * i];
      } else {
        for (std::int64_t i = from; i < until; ++i) to[i] = in[i * each];
      }
      for (std::int64_t i = until; i < count; ++i) to[i] = lowest_value<T>();
    }
  }
  // What the windows' tap k sees.
  const T* tap(const Axis& axis, std::int64_t k) const {
    const std::int64_t at = k * axis.dilation;
    return values[at & (axis.stride - 1)] + (at >> (axis.stride - 1));
  }
};

// What rows of windows (row_loop.h) share.
template <typename T>
struct PooledImages {
  const Axes* axes;
  Images<const T> in;
  Images<T> out;
  Images<std::int64_t> indices;

  std::int64_t lines() const { return out.size[0] * out.size[1]; }
  std::int64_t index(std::int64_t d, std::int64_t h, std::int64_t w) const {
    return (d * in.size[1] + h) * in.size[2] + w;
  }
  // The index that the first line of the input has which a line of windows looks at.
  std::int64_t first_line(std::int64_t d, std::int64_t h) const {
    return index(axes->axis[0].first(d), axes->axis[1].first(h), 0);
  }
  // Calls f(d, h) for the lines of the input that a line of windows looks at.
  template <typename F>
  [[gnu::always_inline]] void each_input_line(std::int64_t d, std::int64_t h, const F& f) const {
    for (std::int64_t i = axes->axis[0].first_tap(d); i < axes->axis[0].end_tap(d); ++i) {
      for (std::int64_t j = axes->axis[1].first_tap(h); j < axes->axis[1].end_tap(h); ++j) {
        f(axes->axis[0].at(d, i), axes->axis[1].at(h, j));
      }
    }
  }
};

// A row is a line of windows in a plane, tap by tap.
template <typename T, typename Index>
struct PlaneRows {
  PooledImages<T> images;
  std::int64_t width;
  bool by_input_rows;
  std::int64_t begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const auto& [axes, in, out, indices] = images;
    const std::int64_t plane = r / images.lines(), line = r % images.lines();
    const std::int64_t d = line / out.size[1], h = line % out.size[1], first_line = images.first_line(d, h);
    const T* const from = in.plane(plane);
    Greatest<T, Index> greatest;
    InputRow<T> input;
    for (std::int64_t first = 0; first < out.size[2]; first += kWindows) {
      const std::int64_t n = std::min(kWindows, out.size[2] - first);
      for (std::int64_t i = 0; i < n; ++i) greatest.begin(i, first_line + axes->firsts[first + i]);
      images.each_input_line(
          d, h, [&](std::int64_t y, std::int64_t x) __attribute__((always_inline)) {
            const T* const start = from + in.offset(y, x, 0);
            by_input_rows ? take_rows(greatest, input, start, images.index(y, x, 0), first, n)
                          : take_taps(greatest, start, images.index(y, x, 0), first, n);
          });
      greatest.write(n, out.plane(plane) + out.offset(d, h, first), out.stride[2],
                     indices.plane(plane) + indices.offset(d, h, first), indices.stride[2]);
    }
  }

 private:
  [[gnu::always_inline]] void take_rows(Greatest<T, Index>& greatest, InputRow<T>& input, const T* line,
                                        std::int64_t index, std::int64_t first, std::int64_t n) const {
    const Axis& axis = images.axes->axis[2];
    input.fill(axis, line, images.in.stride[2], first, n);
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      greatest.take_row(n, input.tap(axis, k), index + axis.at(first, k), axis.stride);
    }
  }
  [[gnu::always_inline]] void take_taps(Greatest<T, Index>& greatest, const T* line, std::int64_t index,
                                        std::int64_t first, std::int64_t n) const {
    const std::int64_t stride = images.axes->axis[2].stride, step = images.in.stride[2];
    for (const Axes::Tap& tap : images.axes->taps) {
      const std::int64_t begins = std::max(first, tap.begin), ends = std::min(first + n, tap.begin + tap.count);
      if (begins >= ends) continue;
      const std::int64_t at = tap.at + (begins - tap.begin) * stride;
      greatest.take(begins - first, ends - begins, line + at * step, stride * step, index + at, stride);
    }
  }
};

// A row is a line of windows in a plane that are two by two elements, side by side and all inside, in contiguous lines.
template <typename T, typename Index>
struct SquareRows {
  PooledImages<T> images;
  std::int64_t width, begin = 0, end = 0;

  static bool holds(const PooledImages<T>& images) {
    const auto is_pair = [](const Axis& axis) {
      return axis.kernel == 2 && axis.stride == 2 && axis.padding == 0 && axis.dilation == 1 && 2 * axis.out <= axis.in;
    };
    const auto& axis = images.axes->axis;
    return axis[0].in == 1 && axis[0].kernel == 1 && axis[0].padding == 0 && is_pair(axis[1]) && is_pair(axis[2]) &&
           images.in.stride[2] == 1 && images.out.stride[2] == 1 && images.indices.stride[2] == 1;
  }

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const auto& [axes, in, out, indices] = images;
    const std::int64_t plane = r / out.size[1], h = r % out.size[1], n = out.size[2];
    const T* const upper = in.plane(plane) + in.offset(0, 2 * h, 0);
    const T* const lower = in.plane(plane) + in.offset(0, 2 * h + 1, 0);
    T* const to = out.plane(plane) + out.offset(0, h, 0);
    std::int64_t* const index = indices.plane(plane) + indices.offset(0, h, 0);
    const auto first = static_cast<Index>(images.index(0, 2 * h, 0)), line = static_cast<Index>(in.size[2]);
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      T best = upper[2 * i];
      Index at = 0;
      consider(best, at, upper[2 * i + 1], 1);
      consider(best, at, lower[2 * i], line);
      consider(best, at, lower[2 * i + 1], line + 1);
      to[i] = best;
      index[i] = static_cast<Index>(first + static_cast<Index>(2 * i) + at);
    }
  }

 private:
  [[gnu::always_inline]] static void consider(T& best, Index& at, T value, Index index) {
    const bool greater = (value > best) | is_nan(value);
    best = greater ? value : best;
    at = greater ? index : at;
  }
};

// A row is one window in all channels of an image, where those lie side by side.
template <typename T, typename Index>
struct ChannelRows {
  PooledImages<T> images;
  std::int64_t width, begin = 0, end = 0;

  [[gnu::always_inline]] void row(std::int64_t r) const {
    const auto& [axes, in, out, indices] = images;
    const std::int64_t w = r % out.size[2], line = r / out.size[2] % images.lines();
    const std::int64_t image = r / out.size[2] / images.lines();
    const std::int64_t d = line / out.size[1], h = line % out.size[1];
    const Axis& axis = axes->axis[2];
    const std::int64_t start = images.first_line(d, h) + axis.first(w);
    Greatest<T, Index> greatest;
    for (std::int64_t first = 0; first < in.channels; first += kWindows) {
      const std::int64_t n = std::min(kWindows, in.channels - first);
      const T* const from = in.at(image, first);
      for (std::int64_t c = 0; c < n; ++c) greatest.begin(c, start);
      images.each_input_line(
          d, h, [&](std::int64_t y, std::int64_t x) __attribute__((always_inline)) {
            for (std::int64_t k = axis.first_tap(w); k < axis.end_tap(w); ++k) {
              const std::int64_t at = axis.at(w, k);
              greatest.take(0, n, from + in.offset(y, x, at), 1, images.index(y, x, at), 0);
            }
          });
      greatest.write(n, out.at(image, first) + out.offset(d, h, w), 1,
                     indices.at(image, first) + indices.offset(d, h, w), indices.channel_stride);
    }
  }
};

// Floats are worth a function for each instruction-set level.
template <typename Rows, bool is_float>
void run_windows(const Rows& rows, std::int64_t count) {
  if constexpr (is_float) {
    run_rows(rows, count);
  } else {
    parallel_for_rows(rows.width, count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) rows.row(r);
    });
  }
}

template <typename T, typename Index>
void pool_images(const PooledImages<T>& images, double work) {
  constexpr bool kFast = RealFloat<T> && sizeof(Index) == 4;
  const double windows = static_cast<double>(images.out.positions());
  const auto elements = [&](double each) { return static_cast<std::int64_t>(std::min(1e15, each)); };
  if (images.in.channels_last() && images.out.channels_last()) {
    const std::int64_t width = elements(work / windows * static_cast<double>(images.in.channels));
    return run_windows<ChannelRows<T, Index>, kFast>({images, width}, images.in.batch * images.out.positions());
  }
  if constexpr (kFast) {
    if (SquareRows<T, Index>::holds(images)) {
      const std::int64_t width = 4 * images.out.size[2];
      return run_windows<SquareRows<T, Index>, true>({images, width}, images.in.planes() * images.out.size[1]);
    }
  }
  const bool by_input_rows = InputRow<T>::holds(images.axes->axis[2]);
  run_windows<PlaneRows<T, Index>, kFast>({images, elements(work / static_cast<double>(images.lines())), by_input_rows},
                                          images.in.planes() * images.lines());
}

template <typename T>
void pool(const Axes& axes, const TensorBase& self, const TensorBase& out, const TensorBase& indices,
          std::size_t rank) {
  const PooledImages<T> images{&axes, {self, rank}, {out, rank}, {indices, rank}};
  if constexpr (RealFloat<T>) {
    // A window may begin outside.
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - 4 * kWindows;
    if (images.in.positions() <= kMost) return pool_images<T, std::int32_t>(images, axes.work());
  }
  pool_images<T, std::int64_t>(images, axes.work());
}

TensorBase as_float(const TensorBase& tensor) {
  const OutputMeta meta = meta_like(tensor);
  if (meta.strides.empty()) return make_tensor(meta.sizes, kFloat, tensor.device());
  return make_tensor_strided(meta.sizes, meta.strides, kFloat, tensor.device());
}

// 16-bit floats are pooled as float32, in copies.
void max_pool(const char* op, std::size_t rank, const TensorBase& self, IntArrayRef kernel, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, const TensorBase& out, const TensorBase& indices) {
  if (out.numel() == 0) return;
  const Axes axes(self, out, rank, kernel, stride, padding, dilation);
  constexpr DtypeSet kNarrowTypes{kHalf, kBFloat16};
  if (kNarrowTypes.contains(self.dtype())) {
    const TensorBase wide = as_float(self), result = as_float(out);
    copy_elements(self, wide);
    pool<float>(axes, wide, result, indices, rank);
    return copy_elements(result, out);
  }
  visit_dtype<kRealTypes - kNarrowTypes>(self.dtype(), op,
                                         [&]<typename T>() { pool<T>(axes, self, out, indices, rank); });
}

// Each window's gradient goes to the element of its greatest value, in the order of the windows.
template <typename T>
void scatter_gradients(const TensorBase& grad_output, const TensorBase& indices, const TensorBase& grad_input,
                       std::size_t rank) {
  using Wide = Opmath<T>;
  const Images<const T> grads(grad_output, rank);
  const Images<const std::int64_t> argmax(indices, rank);
  const Images<T> to(grad_input, rank);
  const std::int64_t step = common_step(grad_input, grad_input.sizes().size() - rank);
  const bool direct = std::is_same_v<T, Wide> && step != 0;
  const std::int64_t size = to.positions();
  const bool any = grad_output.numel() > 0;  // without elements it may have long dimensions
  const double work = static_cast<double>(size) + static_cast<double>(grads.positions());
  parallel_for(0, to.planes(), planes_in_part(work), [&](std::int64_t begin, std::int64_t end) {
    Scratch<64> scratch(direct ? 0 : scratch_bytes<Wide>(size));
    Wide* const buffer = scratch.template take<Wide>(0);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      Wide* const sums = direct ? reinterpret_cast<Wide*>(to.plane(plane)) : buffer;
      const std::int64_t s = direct ? step : 1;
      for (std::int64_t i = 0; i < size; ++i) sums[i * s] = Wide(0);
      for (std::int64_t d = 0; d < (any ? grads.size[0] : 0); ++d) {
        for (std::int64_t h = 0; h < grads.size[1]; ++h) {
          const T* const from = grads.plane(plane) + grads.offset(d, h, 0);
          const std::int64_t* const index = argmax.plane(plane) + argmax.offset(d, h, 0);
          for (std::int64_t w = 0; w < grads.size[2]; ++w) {
            sums[index[w * argmax.stride[2]] * s] += opmath(from[w * grads.stride[2]]);
          }
        }
      }
      if (direct) continue;
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t line = i / to.size[2];
        to.plane(plane)[to.offset(line / to.size[1], line % to.size[1], i % to.size[2])] = static_cast<T>(sums[i]);
      }
    }
  });
}

void max_pool_backward(const char* op, std::size_t rank, const TensorBase& grad_output, const TensorBase& indices,
                       const TensorBase& grad_input) {
  if (grad_input.numel() == 0) return;
  const IntArrayRef sizes = grad_input.sizes();
  check_indices(indices, "indices", 0, checked_numel(sizes.slice(sizes.size() - rank)));
  visit_dtype<kFloatingTypes>(grad_output.dtype(), op,
                              [&]<typename T>() { scatter_gradients<T>(grad_output, indices, grad_input, rank); });
}

}  // namespace

namespace cpu {

void max_pool2d_with_indices(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef dilation, bool, TensorBase& out, TensorBase& indices) {
  max_pool("max_pool2d_with_indices", 2, self, kernel_size, stride, padding, dilation, out, indices);
}
void max_pool3d_with_indices(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                             IntArrayRef dilation, bool, TensorBase& out, TensorBase& indices) {
  max_pool("max_pool3d_with_indices", 3, self, kernel_size, stride, padding, dilation, out, indices);
}
void max_pool2d_with_indices_backward(const TensorBase& grad_output, const TensorBase&, IntArrayRef, IntArrayRef,
                                      IntArrayRef, IntArrayRef, bool, const TensorBase& indices,
                                      TensorBase& grad_input) {
  max_pool_backward("max_pool2d_with_indices_backward", 2, grad_output, indices, grad_input);
}
void max_pool3d_with_indices_backward(const TensorBase& grad_output, const TensorBase&, IntArrayRef, IntArrayRef,
                                      IntArrayRef, IntArrayRef, bool, const TensorBase& indices,
                                      TensorBase& grad_input) {
  max_pool_backward("max_pool3d_with_indices_backward", 3, grad_output, indices, grad_input);
}

}  // namespace cpu

}  // namespace keyway::inline v1
