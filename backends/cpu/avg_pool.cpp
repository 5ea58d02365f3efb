// Kernels of average pooling, with windows of one size or ones that divide the input evenly.
#include <keyway/backends/cpu/images.h>
#include <keyway/backends/cpu/kernels_pooling.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/mean.h>

#include <algorithm>
#include <vector>

namespace keyway::inline v1 {

namespace {

__extension__ using Int128 = __int128;

// The part of a window along one dimension that is inside the input, and what it counts for in the mean.
struct Span {
  std::int64_t begin = 0, end = 1;
  double length = 1;
};

// Windows in a row along a dimension of one width, `step` apart.
struct Run {
  std::int64_t first, count, begin, step, width;
};

std::vector<Run> runs_of(const std::vector<Span>& spans) {
  std::vector<Run> runs;
  for (std::int64_t o = 0; o < static_cast<std::int64_t>(spans.size()); ++o) {
    const Span& span = spans[static_cast<std::size_t>(o)];
    const std::int64_t width = span.end - span.begin;
    if (!runs.empty() && runs.back().width == width) {
      Run& run = runs.back();
      const std::int64_t step = span.begin - run.begin - (run.count - 1) * run.step;
      if (run.count == 1 || step == run.step) {
        run.step = step;
        ++run.count;
        continue;
      }
    }
    runs.push_back({o, 1, span.begin, 0, width});
  }
  return runs;
}

// The windows of each dimension, and what sums are divided by: the product of lengths, unless `divisor` is set.
struct PoolWindows {
  const Span& span(int d, std::int64_t o) const { return spans[d][static_cast<std::size_t>(o)]; }
  double length(std::int64_t d, std::int64_t h, std::int64_t w) const {
    if (divisor != 0) return divisor;
    return span(0, d).length * span(1, h).length * span(2, w).length;
  }
  // Elements inside the windows of a plane.
  double work() const {
    double product = 1;
    for (const auto& list : spans) {
      double sum = 0;
      for (const Span& s : list) sum += static_cast<double>(s.end - s.begin);
      product *= sum;
    }
    return product;
  }

  std::vector<Span> spans[3] = {{Span()}, {Span()}, {Span()}};
  double divisor = 0;
};

std::int64_t size_from_end(const TensorBase& tensor, std::size_t from_end) {
  return tensor.sizes()[tensor.sizes().size() - from_end];
}

PoolWindows fixed_means(const TensorBase& in, const TensorBase& out, std::size_t rank, IntArrayRef kernel,
                        IntArrayRef stride, IntArrayRef padding, bool count_padding,
                        std::optional<std::int64_t> divisor) {
  const auto item = [](IntArrayRef list, std::size_t d) { return list[list.size() == 1 ? 0 : d]; };
  PoolWindows windows;
  windows.divisor = static_cast<double>(divisor.value_or(0));
  if (in.numel() == 0 || out.numel() == 0) return windows;  // nothing to compute, however many windows there are
  for (std::size_t d = 0; d < rank; ++d) {
    auto& list = windows.spans[3 - rank + d];
    list.clear();
    const std::int64_t size = size_from_end(in, rank - d), pad = item(padding, d);
    for (std::int64_t o = 0; o < size_from_end(out, rank - d); ++o) {
      const std::int64_t begin = o * item(stride.empty() ? kernel : stride, d) - pad;
      const std::int64_t end = std::min(begin + item(kernel, d), size + pad);
      Span span;
      span.begin = std::clamp<std::int64_t>(begin, 0, size);
      span.end = std::clamp(end, span.begin, size);
      span.length = static_cast<double>(count_padding ? end - begin : span.end - span.begin);
      list.push_back(span);
    }
  }
  return windows;
}

PoolWindows even_means(const TensorBase& in, const TensorBase& out, std::size_t rank) {
  PoolWindows windows;
  if (in.numel() == 0 || out.numel() == 0) return windows;
  for (std::size_t d = 0; d < rank; ++d) {
    auto& list = windows.spans[3 - rank + d];
    list.clear();
    const Int128 size = size_from_end(in, rank - d), count = size_from_end(out, rank - d);
    for (Int128 o = 0; o < count; ++o) {
      const auto begin = static_cast<std::int64_t>(o * size / count);
      const auto end = static_cast<std::int64_t>(((o + 1) * size - 1) / count + 1);
      list.push_back({begin, end, static_cast<double>(end - begin)});
    }
  }
  return windows;
}

// Calls f(d, h, w) for all windows of a plane.
template <typename T, typename F>
void each_window(const Images<T>& out, const F& f) {
  if (out.size[1] == 0 || out.size[2] == 0) return;  // the dimensions before may be long
  for (std::int64_t d = 0; d < out.size[0]; ++d) {
    for (std::int64_t h = 0; h < out.size[1]; ++h) {
      for (std::int64_t w = 0; w < out.size[2]; ++w) f(d, h, w);
    }
  }
}

// Calls f(offset of the first element, how many follow each other along w) for the lines of a window.
template <typename T, typename F>
void each_line(const PoolWindows& windows, const Images<T>& in, std::int64_t d, std::int64_t h, std::int64_t w,
               const F& f) {
  const Span &a = windows.span(0, d), &b = windows.span(1, h), &c = windows.span(2, w);
  for (std::int64_t i = a.begin; i < a.end; ++i) {
    for (std::int64_t j = b.begin; j < b.end; ++j) f(in.offset(i, j, c.begin), c.end - c.begin);
  }
}

// Channels that are treated together: many where they lie side by side, else one.
constexpr std::int64_t kPooledChannels = 64;
struct Blocks {
  template <typename A, typename B>
  Blocks(const Images<A>& a, const Images<B>& b)
      : channels(a.channels), size(a.channels_last() && b.channels_last() ? kPooledChannels : 1) {}
  std::int64_t in_image() const { return (channels + size - 1) / size; }
  std::int64_t image(std::int64_t i) const { return i / in_image(); }
  std::int64_t first(std::int64_t i) const { return i % in_image() * size; }
  std::int64_t count(std::int64_t i) const { return std::min(size, channels - first(i)); }

  std::int64_t channels;
  std::int64_t size;
};

// Adds to the sums of a line of windows what they have of a line of elements: one element of each after the other.
template <typename T, typename Wide>
void add_line(const std::vector<Run>& runs, const T* from, std::int64_t step, Wide* sums) {
  for (const Run& run : runs) {
    Wide* const sum = sums + run.first;
    if (run.count < 4) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        Wide one = sum[i];
        const T* const at = from + (run.begin + i * run.step) * step;
        for (std::int64_t k = 0; k < run.width; ++k) one = plus(one, opmath(at[k * step]));
        sum[i] = one;
      }
      continue;
    }
    for (std::int64_t k = 0; k < run.width; ++k) {
      const T* const at = from + (run.begin + k) * step;
      for (std::int64_t i = 0; i < run.count; ++i) sum[i] = plus(sum[i], opmath(at[i * run.step * step]));
    }
  }
}

// Planes, a line of windows at a time.
template <typename T>
void average_planes(const PoolWindows& windows, const Images<const T>& in, const Images<T>& out) {
  using Wide = Opmath<T>;
  const std::vector<Run> runs = runs_of(windows.spans[2]);
  const std::int64_t width = out.size[2];
  const double divisor = windows.divisor;
  const ScratchArray<double> lengths(width);
  for (std::int64_t w = 0; w < width; ++w) lengths[w] = windows.span(2, w).length;
  parallel_for(0, in.planes(), planes_in_part(windows.work()), [&](std::int64_t begin, std::int64_t end) {
    Scratch<1024> scratch(scratch_bytes<Wide>(width));
    Wide* const sums = scratch.template take<Wide>(width);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const T* const from = in.plane(plane);
      for (std::int64_t line = 0; line < out.size[0] * out.size[1]; ++line) {
        const std::int64_t d = line / out.size[1], h = line % out.size[1];
        const Span &a = windows.span(0, d), &b = windows.span(1, h);
        std::fill_n(sums, width, Wide(0));
        for (std::int64_t i = a.begin; i < a.end; ++i) {
          for (std::int64_t j = b.begin; j < b.end; ++j) add_line(runs, from + in.offset(i, j, 0), in.stride[2], sums);
        }
        T* const to = out.plane(plane) + out.offset(d, h, 0);
        const double before = a.length * b.length;
        for (std::int64_t w = 0; w < width; ++w) {
          to[w * out.stride[2]] = mean_of<T>(sums[w], divisor != 0 ? divisor : before * lengths[w]);
        }
      }
    }
  });
}

template <typename T>
void average_as(const PoolWindows& windows, const TensorBase& self, const TensorBase& result, std::size_t rank) {
  using Wide = Opmath<T>;
  const Images<const T> in(self, rank);
  const Images<T> out(result, rank);
  const Blocks blocks(in, out);
  if (blocks.size == 1) return average_planes(windows, in, out);
  const double work = windows.work() * static_cast<double>(blocks.size);
  parallel_for(0, in.batch * blocks.in_image(), planes_in_part(work), [&](std::int64_t begin, std::int64_t end) {
    Wide sums[kPooledChannels];
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = in.at(blocks.image(i), blocks.first(i));
      T* const to = out.at(blocks.image(i), blocks.first(i));
      const std::int64_t lanes = blocks.count(i);
      each_window(out, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
        for (std::int64_t c = 0; c < lanes; ++c) sums[c] = Wide(0);
        each_line(windows, in, d, h, w, [&](std::int64_t offset, std::int64_t n) {
          const T* at = from + offset;
          for (std::int64_t k = 0; k < n; ++k, at += in.stride[2]) {
            for (std::int64_t c = 0; c < lanes; ++c) sums[c] = plus(sums[c], opmath(at[c]));
          }
        });
        const double length = windows.length(d, h, w);
        T* const at_window = to + out.offset(d, h, w);
        for (std::int64_t c = 0; c < lanes; ++c) at_window[c * out.channel_stride] = mean_of<T>(sums[c], length);
      });
    }
  });
}

// Adds the shares of a line of windows to what they have of a line of elements; to each element in the order of
// windows, as CUDA does.
template <typename Wide>
void spread_line(const std::vector<Run>& runs, const Wide* shares, Wide* to, std::int64_t step) {
  for (const Run& run : runs) {
    const Wide* const share = shares + run.first;
    for (std::int64_t k = run.width; k-- > 0;) {
      Wide* const at = to + (run.begin + k) * step;
      for (std::int64_t i = 0; i < run.count; ++i) at[i * run.step * step] += share[i];
    }
  }
}

// Of planes, a line of windows at a time.
template <typename T>
void spread_planes(const PoolWindows& windows, const Images<const T>& grads, const Images<T>& to) {
  using Wide = Opmath<T>;
  constexpr bool kDirect = std::is_same_v<T, Wide>;
  const std::vector<Run> runs = runs_of(windows.spans[2]);
  const std::int64_t width = grads.size[2], lines = to.size[0] * to.size[1];
  const std::int64_t lines_of_windows = width == 0 ? 0 : grads.size[0] * grads.size[1];
  // Sums are kept in the result, or in a row-major plane.
  const std::int64_t step = kDirect ? to.stride[2] : 1, row = kDirect ? to.stride[1] : to.size[2],
                     slice = kDirect ? to.stride[0] : to.size[2] * to.size[1];
  const double work = windows.work() + static_cast<double>(to.positions());
  parallel_for(0, to.planes(), planes_in_part(work), [&](std::int64_t begin, std::int64_t end) {
    Scratch<1024> scratch(scratch_bytes<Wide>(width) + scratch_bytes<Wide>(kDirect ? 0 : to.positions()));
    Wide* const shares = scratch.template take<Wide>(width);
    Wide* const buffer = scratch.template take<Wide>(0);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      Wide* const sums = kDirect ? reinterpret_cast<Wide*>(to.plane(plane)) : buffer;
      for (std::int64_t line = 0; line < lines; ++line) {
        Wide* const at = sums + line / to.size[1] * slice + line % to.size[1] * row;
        for (std::int64_t w = 0; w < to.size[2]; ++w) at[w * step] = Wide(0);
      }
      for (std::int64_t line = 0; line < lines_of_windows; ++line) {
        const std::int64_t d = line / grads.size[1], h = line % grads.size[1];
        const T* const grad = grads.plane(plane) + grads.offset(d, h, 0);
        for (std::int64_t w = 0; w < width; ++w) {
          shares[w] = opmath(grad[w * grads.stride[2]]) / static_cast<Wide>(windows.length(d, h, w));
        }
        const Span &a = windows.span(0, d), &b = windows.span(1, h);
        for (std::int64_t i = a.begin; i < a.end; ++i) {
          for (std::int64_t j = b.begin; j < b.end; ++j) spread_line(runs, shares, sums + i * slice + j * row, step);
        }
      }
      for (std::int64_t i = 0; !kDirect && i < to.positions(); ++i) {
        const std::int64_t line = i / to.size[2];
        to.plane(plane)[to.offset(line / to.size[1], line % to.size[1], i % to.size[2])] = static_cast<T>(sums[i]);
      }
    }
  });
}

// Spreads each window's gradient over its elements, window after window.
template <typename T>
void spread_as(const PoolWindows& windows, const TensorBase& grad_output, const TensorBase& grad_input,
               std::size_t rank) {
  using Wide = Opmath<T>;
  constexpr bool kDirect = std::is_same_v<T, Wide>;
  const Images<const T> grads(grad_output, rank);
  const Images<T> to(grad_input, rank);
  const Blocks blocks(grads, to);
  if (blocks.size == 1) return spread_planes(windows, grads, to);
  const std::int64_t width = kDirect ? 0 : blocks.size;
  // Where sums are kept: in the result, or in a buffer of the block's channels side by side.
  Images<Wide> sums(grad_input, rank);
  if (!kDirect) {
    sums.channel_stride = 1;
    sums.stride[2] = width;
    sums.stride[1] = width * to.size[2];
    sums.stride[0] = sums.stride[1] * to.size[1];
  }
  const double work = (windows.work() + static_cast<double>(to.positions())) * static_cast<double>(blocks.size);
  parallel_for(0, to.batch * blocks.in_image(), planes_in_part(work), [&](std::int64_t begin, std::int64_t end) {
    Scratch<64> scratch(scratch_bytes<Wide>(to.positions() * width));
    Wide* const buffer = scratch.template take<Wide>(0);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* const from = grads.at(blocks.image(i), blocks.first(i));
      T* const result = to.at(blocks.image(i), blocks.first(i));
      Wide* const sum = kDirect ? reinterpret_cast<Wide*>(result) : buffer;
      const std::int64_t lanes = blocks.count(i), step = sums.channel_stride;
      each_window(to, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
        for (std::int64_t c = 0; c < lanes; ++c) sum[sums.offset(d, h, w) + c * step] = Wide(0);
      });
      each_window(grads, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
        const auto length = static_cast<Wide>(windows.length(d, h, w));
        const T* const grad = from + grads.offset(d, h, w);
        each_line(windows, sums, d, h, w, [&](std::int64_t offset, std::int64_t n) {
          for (std::int64_t k = 0; k < n; ++k) {
            Wide* const at = sum + offset + k * sums.stride[2];
            for (std::int64_t c = 0; c < lanes; ++c) at[c * step] += opmath(grad[c * grads.channel_stride]) / length;
          }
        });
      });
      if (kDirect) continue;
      each_window(to, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
        for (std::int64_t c = 0; c < lanes; ++c) {
          result[to.offset(d, h, w) + c * to.channel_stride] = static_cast<T>(sum[sums.offset(d, h, w) + c]);
        }
      });
    }
  });
}

void average(const char* op, const PoolWindows& windows, const TensorBase& self, const TensorBase& out,
             std::size_t rank) {
  if (out.numel() == 0) return;
  visit_dtype<kFloatingTypes | DtypeSet{kLong}>(self.dtype(), op,
                                                [&]<typename T>() { average_as<T>(windows, self, out, rank); });
}
void spread(const char* op, const PoolWindows& windows, const TensorBase& grad_output, const TensorBase& grad_input,
            std::size_t rank) {
  if (grad_input.numel() == 0) return;
  visit_dtype<kFloatingTypes>(grad_output.dtype(), op,
                              [&]<typename T>() { spread_as<T>(windows, grad_output, grad_input, rank); });
}

}  // namespace

namespace cpu {

#include <keyway/backends/common/avg_pool.inc>

}  // namespace cpu

}  // namespace keyway::inline v1
