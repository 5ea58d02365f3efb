// Convolution by products. The windows of the input become the columns of a matrix, one for each position of the
// output and a row for each channel and position in the kernel; then
//
//   y = w columns      columns of x = transposed w times y      w = y columns^T
//
// Columns exist for a block of positions at a time, so that they stay in the cache.
#include <keyway/backends/cpu/convolution.h>
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/gemm.h>
#include <keyway/backends/cpu/images.h>
#include <keyway/backends/cpu/scratch.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

// Elements of a block of columns.
constexpr std::int64_t kColumnElements = 32 * 1024;

// A problem as three spatial dimensions; which positions of the output a kernel position meets the input at.
struct ConvWindows {
  explicit ConvWindows(const ConvProblem& problem) {
    const int lead = 3 - problem.rank;
    for (int d = 0; d < problem.rank; ++d) {
      in[lead + d] = problem.in[d];
      out[lead + d] = problem.out[d];
      kernel[lead + d] = problem.kernel[d];
      stride[lead + d] = problem.stride[d];
      padding[lead + d] = problem.padding[d];
      dilation[lead + d] = problem.dilation[d];
    }
  }
  std::int64_t positions() const { return out[0] * out[1] * out[2]; }
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Where in the input tap k of the window at position o lies; outside if not in [0, in).
  std::int64_t input(int d, std::int64_t o, std::int64_t k) const {
    return o * stride[d] - padding[d] + k * dilation[d];
  }
  // First and last + 1 of the positions along the last dimension whose tap k lies inside the input.
  std::int64_t first_inside(std::int64_t k) const {
    const std::int64_t before = padding[2] - k * dilation[2];
    return before <= 0 ? 0 : std::min(out[2], (before - 1) / stride[2] + 1);
  }
  std::int64_t end_inside(std::int64_t k) const {
    const std::int64_t room = in[2] - 1 + padding[2] - k * dilation[2];
    return room < 0 ? 0 : std::min(out[2], room / stride[2] + 1);
  }

  std::int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  std::int64_t stride[3] = {1, 1, 1}, padding[3] = {}, dilation[3] = {1, 1, 1};
};

// Calls row(taps of the input or null, its step, column elements, count) for the runs of positions [begin, end)
// at tap (kd, kh, kw); null where the window reaches into the padding.
template <typename T, typename F>
void each_run(const ConvWindows& windows, const Images<T>& x, T* plane, const std::int64_t (&k)[3], std::int64_t begin,
              std::int64_t end, const F& row) {
  const std::int64_t width = windows.out[2];
  const std::int64_t inside = windows.first_inside(k[2]);
  const std::int64_t outside = std::max(inside, windows.end_inside(k[2]));
  const std::int64_t step = windows.stride[2] * x.stride[2];
  for (std::int64_t p = begin; p < end;) {
    const std::int64_t line = p / width, from = p - line * width;
    const std::int64_t to = std::min(width, from + end - p);
    const std::int64_t d = windows.input(0, line / windows.out[1], k[0]);
    const std::int64_t h = windows.input(1, line % windows.out[1], k[1]);
    const bool line_inside = d >= 0 && d < windows.in[0] && h >= 0 && h < windows.in[1];
    const std::int64_t a = line_inside ? std::clamp(inside, from, to) : to;
    const std::int64_t b = line_inside ? std::clamp(outside, a, to) : to;
    if (a > from) row(nullptr, step, p - begin, a - from);
    if (b > a) {
      T* const first = plane + d * x.stride[0] + h * x.stride[1] + windows.input(2, a, k[2]) * x.stride[2];
      row(first, step, p - begin + a - from, b - a);
    }
    if (to > b) row(nullptr, step, p - begin + b - from, to - b);
    p += to - from;
  }
}

// Calls f(plane of the input, tap, row of the columns) for channels [first, first + count) of an image.
template <typename T, typename F>
void each_column_row(const ConvWindows& windows, const Images<T>& x, std::int64_t image, std::int64_t first,
                     std::int64_t count, const F& f) {
  std::int64_t row = 0;
  for (std::int64_t c = 0; c < count; ++c) {
    T* const plane = x.at(image, first + c);
    std::int64_t k[3];
    for (k[0] = 0; k[0] < windows.kernel[0]; ++k[0]) {
      for (k[1] = 0; k[1] < windows.kernel[1]; ++k[1]) {
        for (k[2] = 0; k[2] < windows.kernel[2]; ++k[2]) f(plane, k, row++);
      }
    }
  }
}

template <typename T>
class OwnConvolution {
 public:
  OwnConvolution(const ConvProblem& problem, const TensorBase& x, const TensorBase& w, const TensorBase& y)
      : problem_(problem),
        windows_(problem),
        x_(x, static_cast<std::size_t>(problem.rank)),
        y_(y, static_cast<std::size_t>(problem.rank)),
        w_(static_cast<T*>(w.data_ptr())),
        w_stride_(w.strides()[0]),
        w_step_(common_step(w, 1)),
        y_step_(common_step(y, 2)) {}

  void forward() const {
    const std::int64_t block = positions_in_block(problem_.in_channels);
    const std::int64_t blocks = (windows_.positions() + block - 1) / block;
    parallel_for(0, problem_.batch * problem_.groups * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      Buffer columns(bytes(problem_.in_channels, block));
      T* const to = columns.template take<T>(problem_.in_channels * windows_.taps() * block);
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t image = task / blocks / problem_.groups, group = task / blocks % problem_.groups;
        const std::int64_t p = task % blocks * block, count = std::min(block, windows_.positions() - p);
        gather(image, group * problem_.in_channels, problem_.in_channels, p, count, to);
        gemm(Product<T>{weights(group, 0, problem_.in_channels), constant(columns_of(to, problem_.in_channels, count)),
                        outputs(image, group, p, count)});
      }
    });
  }

  void data() const {
    const std::int64_t channels = channels_in_task(), block = positions_in_block(channels);
    const std::int64_t parts = (problem_.in_channels + channels - 1) / channels;
    parallel_for(0, problem_.batch * problem_.groups * parts, 1, [&](std::int64_t begin, std::int64_t end) {
      Buffer columns(bytes(channels, block));
      T* const from = columns.template take<T>(channels * windows_.taps() * block);
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t image = task / parts / problem_.groups, group = task / parts % problem_.groups;
        const std::int64_t c = task % parts * channels, count = std::min(channels, problem_.in_channels - c);
        clear(image, group * problem_.in_channels + c, count);
        for (std::int64_t p = 0; p < windows_.positions(); p += block) {
          const std::int64_t positions = std::min(block, windows_.positions() - p);
          gemm(Product<T>{weights(group, c, count).transposed(), constant(outputs(image, group, p, positions)),
                          columns_of(from, count, positions)});
          scatter(image, group * problem_.in_channels + c, count, p, positions, from);
        }
      }
    });
  }

  void weights_pass() const {
    const std::int64_t channels = channels_in_task(), block = positions_in_block(channels);
    const std::int64_t parts = (problem_.in_channels + channels - 1) / channels;
    parallel_for(0, problem_.groups * parts, 1, [&](std::int64_t begin, std::int64_t end) {
      Buffer columns(bytes(channels, block));
      T* const to = columns.template take<T>(channels * windows_.taps() * block);
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t group = task / parts, c = task % parts * channels;
        const std::int64_t count = std::min(channels, problem_.in_channels - c);
        const Matrix<const T> sum = weights(group, c, count);
        const Matrix<T> result = {const_cast<T*>(sum.data), sum.rows, sum.columns, sum.row_stride, sum.column_stride};
        for (std::int64_t image = 0; image < problem_.batch; ++image) {
          for (std::int64_t p = 0; p < windows_.positions(); p += block) {
            const std::int64_t positions = std::min(block, windows_.positions() - p);
            gather(image, group * problem_.in_channels + c, count, p, positions, to);
            gemm(Product<T>{constant(outputs(image, group, p, positions)),
                            constant(columns_of(to, count, positions)).transposed(), result, Opmath<T>(1),
                            Opmath<T>(image == 0 && p == 0 ? 0 : 1), sum});
          }
        }
      }
    });
  }

 private:
  using Buffer = Scratch<64>;

  std::size_t bytes(std::int64_t channels, std::int64_t positions) const {
    return scratch_bytes<T>(channels * windows_.taps() * positions);
  }
  std::int64_t positions_in_block(std::int64_t channels) const {
    const std::int64_t wanted = kColumnElements / std::max<std::int64_t>(1, channels * windows_.taps());
    return std::min(windows_.positions(), std::max<std::int64_t>(32, wanted / 16 * 16));
  }
  // In passes that go through all positions in a task, a task is a few channels.
  std::int64_t channels_in_task() const {
    return std::clamp<std::int64_t>(kColumnElements / 64 / windows_.taps(), 1, problem_.in_channels);
  }

  static Matrix<const T> constant(const Matrix<T>& m) {
    return {m.data, m.rows, m.columns, m.row_stride, m.column_stride};
  }
  Matrix<const T> weights(std::int64_t group, std::int64_t channel, std::int64_t channels) const {
    return {w_ + group * problem_.out_channels * w_stride_ + channel * windows_.taps() * w_step_, problem_.out_channels,
            channels * windows_.taps(), w_stride_, w_step_};
  }
  Matrix<T> outputs(std::int64_t image, std::int64_t group, std::int64_t position, std::int64_t count) const {
    return {y_.at(image, group * problem_.out_channels) + position * y_step_, problem_.out_channels, count,
            y_.channel_stride, y_step_};
  }
  Matrix<T> columns_of(T* data, std::int64_t channels, std::int64_t positions) const {
    return {data, channels * windows_.taps(), positions, positions, 1};
  }

  void gather(std::int64_t image, std::int64_t channel, std::int64_t channels, std::int64_t position,
              std::int64_t count, T* to) const {
    each_column_row(windows_, x_, image, channel, channels, [&](T* plane, const std::int64_t(&k)[3], std::int64_t row) {
      T* const line = to + row * count;
      each_run(windows_, x_, plane, k, position, position + count,
               [&](const T* from, std::int64_t step, std::int64_t at, std::int64_t n) {
                 for (std::int64_t i = 0; i < n; ++i) line[at + i] = from ? from[i * step] : T(0);
               });
    });
  }
  void scatter(std::int64_t image, std::int64_t channel, std::int64_t channels, std::int64_t position,
               std::int64_t count, const T* from) const {
    each_column_row(windows_, x_, image, channel, channels, [&](T* plane, const std::int64_t(&k)[3], std::int64_t row) {
      const T* const line = from + row * count;
      each_run(windows_, x_, plane, k, position, position + count,
               [&](T* to, std::int64_t step, std::int64_t at, std::int64_t n) {
                 if (to == nullptr) return;
                 for (std::int64_t i = 0; i < n; ++i) to[i * step] = plus(to[i * step], line[at + i]);
               });
    });
  }
  void clear(std::int64_t image, std::int64_t channel, std::int64_t channels) const {
    for (std::int64_t c = 0; c < channels; ++c) {
      T* const plane = x_.at(image, channel + c);
      for (std::int64_t d = 0; d < windows_.in[0]; ++d) {
        for (std::int64_t h = 0; h < windows_.in[1]; ++h) {
          T* const line = plane + d * x_.stride[0] + h * x_.stride[1];
          for (std::int64_t i = 0; i < windows_.in[2]; ++i) line[i * x_.stride[2]] = T(0);
        }
      }
    }
  }

  const ConvProblem& problem_;
  ConvWindows windows_;
  Images<T> x_;
  Images<T> y_;
  T* w_;
  std::int64_t w_stride_;
  std::int64_t w_step_;
  std::int64_t y_step_;
};

// A tensor whose dimensions from `first` on have a common step: itself, or a contiguous copy.
TensorBase with_common_step(const TensorBase& tensor, std::size_t first, bool copy) {
  if (common_step(tensor, first) != 0) return tensor;
  TensorBase dense = make_tensor(tensor.sizes(), tensor.dtype(), tensor.device());
  if (copy) copy_elements(tensor, dense);
  return dense;
}

}  // namespace

template <typename T>
void own_convolution(ConvPass pass, const ConvProblem& problem, const TensorBase& x, const TensorBase& w,
                     const TensorBase& y) {
  const TensorBase weights = with_common_step(w, 1, pass != ConvPass::Weights);
  const TensorBase outputs = with_common_step(y, 2, pass != ConvPass::Forward);
  const OwnConvolution<T> convolution(problem, x, weights, outputs);
  switch (pass) {
    case ConvPass::Forward: convolution.forward(); break;
    case ConvPass::Data: convolution.data(); break;
    case ConvPass::Weights: convolution.weights_pass(); break;
  }
  if (pass == ConvPass::Forward && !outputs.is_same(y)) copy_elements(outputs, y);
  if (pass == ConvPass::Weights && !weights.is_same(w)) copy_elements(weights, w);
}

#define KEYWAY_OWN_CONVOLUTION(T)                                                                      \
  template void own_convolution<T>(ConvPass, const ConvProblem&, const TensorBase&, const TensorBase&, \
                                   const TensorBase&);
KEYWAY_OWN_CONVOLUTION(float)
KEYWAY_OWN_CONVOLUTION(double)
KEYWAY_OWN_CONVOLUTION(complex<float>)
KEYWAY_OWN_CONVOLUTION(complex<double>)
KEYWAY_OWN_CONVOLUTION(std::int64_t)
#undef KEYWAY_OWN_CONVOLUTION

}  // namespace keyway::inline v1
