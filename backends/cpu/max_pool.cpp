// Kernels of max pooling.
#include <keyway/backends/cpu/images.h>
#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/kernels_pooling.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>
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
  // them at place `at`.
  struct Tap {
    std::int64_t begin, count, at;
  };

  Axis axis[3];
  ScratchArray<std::int64_t> firsts;  // axis[2].first(w) of each w
  std::vector<Tap> taps;
};

// A line of windows: `n` of them, with the greatest values so far and their places.
template <typename T>
struct Line {
  T* best;
  std::int64_t* place;
  std::int64_t best_step, place_step;

  void begin(std::int64_t i, std::int64_t first_place) const {
    best[i * best_step] = lowest_value<T>();
    place[i * place_step] = first_place;
  }
  // Windows [from, from + n) look at in[0], in[step], ..., whose places are `at`, at + at_step, ...
  void take(std::int64_t from, std::int64_t n, const T* in, std::int64_t step, std::int64_t at,
            std::int64_t at_step) const {
    if (best_step == 1 && place_step == 1) return take(best + from, place + from, n, in, step, at, at_step, 1, 1);
    take(best + from * best_step, place + from * place_step, n, in, step, at, at_step, best_step, place_step);
  }

 private:
  [[gnu::always_inline]] static void take(T* best, std::int64_t* place, std::int64_t n, const T* in, std::int64_t step,
                                          std::int64_t at, std::int64_t at_step, std::int64_t best_step,
                                          std::int64_t place_step) {
    for (std::int64_t i = 0; i < n; ++i) {
      const T value = in[i * step], before = best[i * best_step];
      const bool greater = opmath(value) > opmath(before) || is_nan(value);
      best[i * best_step] = greater ? value : before;
      place[i * place_step] = greater ? at + i * at_step : place[i * place_step];
    }
  }
};

template <typename T>
class MaxPool {
 public:
  MaxPool(const TensorBase& self, const TensorBase& out, const TensorBase& indices, std::size_t rank, const Axes& axes)
      : axes_(axes), in_(self, rank), out_(out, rank), places_(indices, rank), work_(axes.work()) {}

  void run() const {
    const std::int64_t lines = out_.size[0] * out_.size[1];
    if (in_.channels_last() && out_.channels_last()) {
      const double work = work_ / static_cast<double>(lines) * static_cast<double>(in_.channels);
      parallel_for(0, in_.batch * lines, planes_in_part(work), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          for (std::int64_t w = 0; w < out_.size[2]; ++w) channels(i / lines, i % lines, w);
        }
      });
      return;
    }
    parallel_for(0, in_.planes(), planes_in_part(work_), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) {
        for (std::int64_t line = 0; line < lines; ++line) windows(plane, line);
      }
    });
  }

 private:
  std::int64_t place(std::int64_t d, std::int64_t h, std::int64_t w) const {
    return (d * in_.size[1] + h) * in_.size[2] + w;
  }
  // Calls f(d, h) for the lines of the input that a line of windows looks at.
  template <typename F>
  void each_input_line(std::int64_t d, std::int64_t h, const F& f) const {
    for (std::int64_t i = axes_.axis[0].first_tap(d); i < axes_.axis[0].end_tap(d); ++i) {
      for (std::int64_t j = axes_.axis[1].first_tap(h); j < axes_.axis[1].end_tap(h); ++j) {
        f(axes_.axis[0].at(d, i), axes_.axis[1].at(h, j));
      }
    }
  }

  // All windows in a line of a plane, tap by tap.
  void windows(std::int64_t plane, std::int64_t line) const {
    const std::int64_t d = line / out_.size[1], h = line % out_.size[1];
    const Axis& axis = axes_.axis[2];
    const Line<T> to = {out_.plane(plane) + out_.offset(d, h, 0), places_.plane(plane) + places_.offset(d, h, 0),
                        out_.stride[2], places_.stride[2]};
    const std::int64_t first_d = axes_.axis[0].first(d), first_h = axes_.axis[1].first(h);
    const std::int64_t first_line = place(first_d, first_h, 0);
    for (std::int64_t w = 0; w < axis.out; ++w) to.begin(w, first_line + axes_.firsts[w]);
    const T* const from = in_.plane(plane);
    each_input_line(d, h, [&](std::int64_t y, std::int64_t x) {
      for (const Axes::Tap& tap : axes_.taps) {
        to.take(tap.begin, tap.count, from + in_.offset(y, x, tap.at), axis.stride * in_.stride[2], place(y, x, tap.at),
                axis.stride);
      }
    });
  }

  // One window in all channels of an image, where those lie side by side.
  void channels(std::int64_t image, std::int64_t line, std::int64_t w) const {
    const std::int64_t d = line / out_.size[1], h = line % out_.size[1];
    const Axis& axis = axes_.axis[2];
    const Line<T> to = {out_.at(image, 0) + out_.offset(d, h, w), places_.at(image, 0) + places_.offset(d, h, w), 1,
                        places_.channel_stride};
    const std::int64_t start = place(axes_.axis[0].first(d), axes_.axis[1].first(h), axis.first(w));
    for (std::int64_t c = 0; c < in_.channels; ++c) to.begin(c, start);
    const T* const from = in_.at(image, 0);
    each_input_line(d, h, [&](std::int64_t y, std::int64_t x) {
      for (std::int64_t k = axis.first_tap(w); k < axis.end_tap(w); ++k) {
        const std::int64_t at = axis.at(w, k);
        to.take(0, in_.channels, from + in_.offset(y, x, at), 1, place(y, x, at), 0);
      }
    });
  }

  const Axes& axes_;
  Images<const T> in_;
  Images<T> out_;
  Images<std::int64_t> places_;
  double work_;
};

void max_pool(const char* op, std::size_t rank, const TensorBase& self, IntArrayRef kernel, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation, const TensorBase& out, const TensorBase& indices) {
  if (out.numel() == 0) return;
  const Axes axes(self, out, rank, kernel, stride, padding, dilation);
  visit_dtype<kRealTypes>(self.dtype(), op, [&]<typename T>() { MaxPool<T>(self, out, indices, rank, axes).run(); });
}

// Each window's gradient goes to the place of its greatest value, in the order of the windows.
template <typename T>
void scatter_gradients(const TensorBase& grad_output, const TensorBase& indices, const TensorBase& grad_input,
                       std::size_t rank) {
  using Wide = Opmath<T>;
  const Images<const T> grads(grad_output, rank);
  const Images<const std::int64_t> places(indices, rank);
  const Images<T> to(grad_input, rank);
  const std::int64_t step = common_step(grad_input, grad_input.sizes().size() - rank);
  const bool direct = std::is_same_v<T, Wide> && step != 0;
  const std::int64_t size = to.places();
  const bool any = grad_output.numel() > 0;  // without elements it may have long dimensions
  const double work = static_cast<double>(size) + static_cast<double>(grads.places());
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
          const std::int64_t* const place = places.plane(plane) + places.offset(d, h, 0);
          for (std::int64_t w = 0; w < grads.size[2]; ++w) {
            sums[place[w * places.stride[2]] * s] += opmath(from[w * grads.stride[2]]);
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
