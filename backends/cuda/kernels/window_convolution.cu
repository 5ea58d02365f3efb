// With an input x, weights w and an output y,
//
//   y = w windows(x)      windows(x) = transposed w times y, added up      w = y times transposed windows(x)
//
// and a transposed convolution is the second of these. Windows are laid out for a chunk of positions of the output at a
// time, in a buffer of at most 64 MiB, and what is summed is kept in float32 where tensors have 16-bit floats, until it
// is rounded once. An element of x adds up the windows that have it, in order, so nothing depends on timing.
// Writing the windows and reading them again bounds all three: as many elements as the kernel has positions, for each
// element of x; threads that follow each other have positions that do, so x and y are read and written in whole lines
// where they are row-major.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/im2col.h>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/multiply.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/window_convolution.h>
#include <keyway/backends/cuda/product.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

namespace {

constexpr std::int64_t kChunkBytes = 64 << 20;
constexpr DtypeSet kWindowTypes = kFloatingAndComplexTypes | DtypeSet{kLong};
constexpr DtypeSet kSumTypes{kFloat, kDouble, kComplexFloat, kComplexDouble, kLong};

// The functors below go over the elements of a matrix by number, columns of which are those of a chunk. Operands: the
// matrix, the element's number.

// windows(x), moved as bits.
template <typename T>
struct Unfold {
  Im2col windows;
  Im2colColumns chunk;
  ConvImages x;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    const auto number = static_cast<std::uint32_t>(element.number(1));
    const std::uint32_t row = chunk.count.quotient(number);
    const Im2col::Window window = windows.window(chunk, number - row * chunk.count.value);
    const Im2col::Row part = windows.row(row);
    std::int64_t at[3];
    const bool inside = windows.input(window, part, at);
    element.at<T>(0) = inside ? static_cast<const T*>(x.data)[x.offset(window.image, part.channel, at)] : T{};
  }
};

// y, with a row for each channel; as bits.
template <typename T>
struct TakeOutputs {
  Im2col windows;
  Im2colColumns chunk;
  ConvImages y;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    const auto number = static_cast<std::uint32_t>(element.number(1));
    const std::uint32_t channel = chunk.count.quotient(number);
    const Im2col::Window window = windows.window(chunk, number - channel * chunk.count.value);
    element.at<T>(0) = static_cast<const T*>(y.data)[y.offset(window.image, channel, window.at)];
  }
};

// The other way: y from such a matrix of sums, and a bias unless it is null.
template <typename T>
struct GiveOutputs {
  using Sum = Opmath<T>;
  Im2col windows;
  Im2colColumns chunk;
  ConvImages y;
  const Sum* bias;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    const auto number = static_cast<std::uint32_t>(element.number(1));
    const std::uint32_t channel = chunk.count.quotient(number);
    const Im2col::Window window = windows.window(chunk, number - channel * chunk.count.value);
    Sum sum = element.at<const Sum>(0);
    if (bias != nullptr) sum = plus(sum, bias[channel]);
    static_cast<T*>(y.data)[y.offset(window.image, channel, window.at)] = static_cast<T>(sum);
  }
};

// x, to which the windows of a chunk are added; its images that begin in the chunk begin with the bias, or 0. Operands:
// images of x, from `first` on, and the element's number among them.
template <typename T>
struct Fold {
  Im2col windows;
  Im2colColumns chunk;
  std::int64_t first;
  Divisor channels, positions;  // of x: all groups, and a plane
  const T* columns;
  const T* bias;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    const auto number = static_cast<std::uint32_t>(element.number(1));
    const std::uint32_t plane = positions.quotient(number), images = channels.quotient(plane);
    const std::uint32_t channel = plane - images * channels.value;
    const std::int64_t image = first + images;
    std::int64_t at[3];
    Im2col::split(number - plane * positions.value, windows.in, at);
    const bool begins = image > chunk.image || chunk.position == 0;
    T sum = begins ? (bias != nullptr ? bias[channel] : T(0)) : element.at<T>(0);
    // Where the image's first window lies among the columns.
    const std::int64_t shift = (image - chunk.image) * windows.positions.value - chunk.position;
    const std::int64_t count = chunk.count.value;
    const T* const rows = columns + std::int64_t{channel} * windows.taps.value * count;
    windows.each_window(at, [&](std::uint32_t tap, std::int64_t window) {
      const std::int64_t column = shift + window;
      if (column >= 0 && column < count) sum = plus(sum, rows[tap * count + column]);
    });
    element.at<T>(0) = sum;
  }
};

class Convolution {
 public:
  Convolution(const TensorBase& x, const TensorBase& w, const TensorBase& y, IntArrayRef stride, IntArrayRef padding,
              IntArrayRef dilation, std::int64_t groups)
      : x_(x),
        w_(w),
        y_(y),
        windows_(x, w, y, stride, padding, dilation, groups),
        dtype_(x.dtype()),
        sums_(sum_dtype(x.dtype())),
        taps_(windows_.in_channels * windows_.taps.value) {}

  // y; bias may be undefined.
  void forward(const TensorBase& bias) const {
    const TensorBase addend = contiguous_as(bias, sums_);
    const TensorBase weights = weights_of(contiguous(w_));
    each_chunk([&](const Im2colColumns& chunk) {
      const TensorBase sums = matrix(windows_.out_channels, chunk, sums_);
      multiply({weights, unfolded(chunk), sums});
      if (sums.numel() == 0) return;
      visit_dtype<kWindowTypes>(dtype_, "convolution", [&]<typename T>() {
        visit(sums, GiveOutputs<T>{windows_, chunk, y_, data_or_null<const Opmath<T>>(addend)});
      });
    });
  }

  // x.
  void data(const TensorBase& bias) const {
    if (x_.numel() == 0) return;
    const TensorBase addend = contiguous_as(bias, sums_);
    const TensorBase weights = weights_of(contiguous(w_));
    const TensorBase x = dtype_ == sums_ ? x_ : make_tensor(x_.sizes(), sums_, x_.device());
    each_chunk([&](const Im2colColumns& chunk) {
      const TensorBase columns = matrix(taps_, chunk, sums_);
      multiply({transposed(weights), outputs(chunk), columns});
      visit_dtype<kSumTypes>(sums_, "convolution",
                             [&]<typename T>() { fold<T>(columns, chunk, x, data_or_null<const T>(addend)); });
    });
    if (!x.is_same(x_)) copy_elements(x, x_);
  }

  // w.
  void weights() const {
    if (w_.numel() == 0) return;
    const bool in_place = dtype_ == sums_ && w_.is_contiguous();
    const TensorBase w = in_place ? w_ : make_tensor(w_.sizes(), sums_, w_.device());
    const TensorBase sums = weights_of(w);
    bool first = true;
    each_chunk([&](const Im2colColumns& chunk) {
      multiply({outputs(chunk), transposed(unfolded(chunk)), sums, 1, first ? 0 : 1, sums});
      first = false;
    });
    if (first) {
      // No images: sums of nothing.
      const TensorBase none = make_tensor({windows_.groups, windows_.out_channels, 0}, dtype_, w_.device());
      multiply({none, make_tensor({windows_.groups, 0, taps_}, dtype_, w_.device()), sums});
    }
    if (!in_place) copy_elements(w, w_);
  }

 private:
  template <typename F>
  void each_chunk(const F& f) const {
    const std::int64_t lines = std::max({windows_.rows(), windows_.groups * windows_.out_channels, std::int64_t{1}});
    const auto bytes = static_cast<std::int64_t>(std::max(x_.itemsize(), element_size(sums_)));
    std::int64_t most = std::max<std::int64_t>(1, kChunkBytes / bytes / lines);
    if (most > 64) most -= most % 64;  // lines that begin at multiples of what is read at once
    for (std::int64_t first = 0; first < windows_.columns(); first += most) f(windows_.chunk(first, most));
  }

  // [groups, lines, columns of the chunk].
  TensorBase matrix(std::int64_t lines, const Im2colColumns& chunk, ScalarType dtype) const {
    return make_tensor({windows_.groups, lines, chunk.count.value}, dtype, x_.device());
  }
  // [groups, out channels, in channels and taps].
  TensorBase weights_of(const TensorBase& w) const {
    return make_view(w, {windows_.groups, windows_.out_channels, taps_}, {windows_.out_channels * taps_, taps_, 1},
                     w.storage_offset());
  }
  template <typename F>
  static void visit(const TensorBase& matrix, const F& functor) {
    each<2>(ElementSpace(matrix.sizes()).tensor(matrix).number().space(), functor, matrix.device());
  }

  TensorBase unfolded(const Im2colColumns& chunk) const {
    const TensorBase columns = matrix(taps_, chunk, dtype_);
    if (columns.numel() == 0) return columns;
    visit_bits(x_.itemsize(), [&]<typename T>() { visit(columns, Unfold<T>{windows_, chunk, x_}); });
    return columns;
  }
  TensorBase outputs(const Im2colColumns& chunk) const {
    const TensorBase taken = matrix(windows_.out_channels, chunk, dtype_);
    if (taken.numel() == 0) return taken;
    visit_bits(y_.itemsize(), [&]<typename T>() { visit(taken, TakeOutputs<T>{windows_, chunk, y_}); });
    return taken;
  }

  // Adds the windows of a chunk to the images of x that they belong to, so many at a time that their elements' numbers
  // have 31 bits.
  template <typename T>
  void fold(const TensorBase& columns, const Im2colColumns& chunk, const TensorBase& x, const T* bias) const {
    const std::int64_t channels = x.sizes()[1], of_image = x.numel() / x.sizes()[0];
    const std::int64_t last = chunk.image + (chunk.position + chunk.count.value - 1) / windows_.positions.value;
    const std::int64_t most = std::max<std::int64_t>(1, ((std::int64_t{1} << 31) - 1) / of_image);
    const std::int64_t plane = of_image / channels;
    for (std::int64_t first = chunk.image; first <= last; first += most) {
      DimVector sizes(x.sizes().begin(), x.sizes().end());
      sizes[0] = std::min(most, last + 1 - first);
      const TensorBase images = make_view(x, sizes, x.strides(), x.storage_offset() + first * x.strides()[0]);
      visit(images,
            Fold<T>{windows_, chunk, first, Divisor(static_cast<std::uint32_t>(channels)),
                    Divisor(static_cast<std::uint32_t>(plane)), static_cast<const T*>(columns.data_ptr()), bias});
    }
  }

  const TensorBase &x_, &w_, &y_;
  Im2col windows_;
  ScalarType dtype_, sums_;  // of the tensors, and what is summed in
  std::int64_t taps_;        // of all channels of a group
};

}  // namespace

void window_convolution(ConvResult result, const ConvOperands& of, const TensorBase& bias) {
  const Convolution work(of.x, of.w, of.y, of.stride, of.padding, of.dilation, of.groups);
  switch (result) {
    case ConvResult::Outputs: return work.forward(bias);
    case ConvResult::Images: return work.data(bias);
    case ConvResult::Weights: return work.weights();
  }
}

}  // namespace keyway::inline v1::cuda
