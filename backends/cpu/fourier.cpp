// Fourier transforms, one dimension after the other, of many lines at a time.
#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/fourier_plan.h>
#include <keyway/backends/cpu/kernels_fourier.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1 {

namespace {

// Fewer lines than these are transformed one by one.
constexpr std::int64_t kFewLines = 3;

// `lines` are `width` arrays of `length` complex numbers, or of as many pairs of real ones, to be the columns of
// `data`.
template <int W, typename T>
void load_lines(T* data, const T* lines, std::int64_t apart, std::int64_t length, std::int64_t width) {
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
  if (width < W) std::fill_n(data, 2 * W * length, T(0));
  copy_tile({reinterpret_cast<char*>(data), W * kItem, kItem},
            {reinterpret_cast<const char*>(lines), kItem, apart * kItem}, 2 * length, width, kItem);
}
template <int W, typename T>
void store_lines(T* lines, const T* data, std::int64_t apart, std::int64_t length, std::int64_t width) {
  constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
  copy_tile({reinterpret_cast<char*>(lines), apart * kItem, kItem},
            {reinterpret_cast<const char*>(data), kItem, W * kItem}, width, 2 * length, kItem);
}

// Elements that follow each other at a distance of `apart` complex numbers, of `width` columns side by side.
template <int W, typename T>
void load_columns(T* data, const T* columns, std::int64_t apart, std::int64_t length, std::int64_t width) {
  if (width < W) std::fill_n(data, 2 * W * length, T(0));
  for (std::int64_t i = 0; i < length; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      data[2 * i * W + j] = columns[2 * (i * apart + j)];
      data[(2 * i + 1) * W + j] = columns[2 * (i * apart + j) + 1];
    }
  }
}
template <int W, typename T>
void store_columns(T* columns, const T* data, std::int64_t apart, std::int64_t length, std::int64_t width) {
  for (std::int64_t i = 0; i < length; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      columns[2 * (i * apart + j)] = data[2 * i * W + j];
      columns[2 * (i * apart + j) + 1] = data[(2 * i + 1) * W + j];
    }
  }
}

template <typename T>
void scale_all(T* data, std::int64_t n, T scale) {
  if (scale == T(1)) return;
  for (std::int64_t i = 0; i < n; ++i) data[i] *= scale;
}

// Calls f(block, one buffer, other buffer) for blocks of W lines, with 2 * W * length numbers in each buffer.
template <int W, typename T, typename F>
void each_block(std::int64_t blocks, std::int64_t length, const F& f) {
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / (length * W));
  parallel_for(0, blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t size = 2 * W * length;
    Scratch<4096> buffer(2 * scratch_bytes<T>(size));
    T* const one = buffer.template take<T>(size);
    T* const other = buffer.template take<T>(size);
    for (std::int64_t block = begin; block < end; ++block) f(block, one, other);
  });
}

// Transforms the middle one of three dimensions, [outer, n, inner], of complex numbers; `from` may be `to`.
template <int W, typename T>
void transform_lines(const T* from, T* to, std::int64_t outer, std::int64_t n, std::int64_t inner, bool forward,
                     T scale) {
  const FourierPlan<T> plan(n, forward);
  const std::int64_t side = inner == 1 ? outer : inner, blocks = (side + W - 1) / W;
  each_block<W, T>(
      inner == 1 ? blocks : outer * blocks, plan.buffer_length(), [&](std::int64_t block, T* one, T* other) {
        const std::int64_t first = block % blocks * W, width = std::min<std::int64_t>(W, side - first);
        const std::int64_t at = 2 * (inner == 1 ? first * n : block / blocks * n * inner + first);
        inner == 1 ? load_lines<W>(one, from + at, 2 * n, n, width) : load_columns<W>(one, from + at, inner, n, width);
        T* const result = plan.template run<W>(one, other);
        scale_all(result, 2 * W * n, scale);
        inner == 1 ? store_lines<W>(to + at, result, 2 * n, n, width)
                   : store_columns<W>(to + at, result, inner, n, width);
      });
}

// Out of the transform z of n / 2 pairs of real numbers, elements 0 to n / 2 of that of these numbers: the pairs' first
// and second ones have (z(k) + conj z(n / 2 - k)) / 2 and (z(k) - conj z(n / 2 - k)) / 2i, which a last pass adds.
template <int W, typename T>
void last_pass(const T* z, T* out, std::int64_t half, const complex<T>* roots, T scale) {
  for (std::int64_t k = 0; k <= half; ++k) {
    const T* const a = z + 2 * W * (k == half ? 0 : k);
    const T* const b = z + 2 * W * (k == 0 ? 0 : half - k);
    T* const to = out + 2 * W * k;
    const T re = (k == half ? T(-1) : roots[k].real()) * scale / 2,
            im = (k == half ? T(0) : roots[k].imag()) * scale / 2;
    const T share = scale / 2;
#pragma GCC ivdep
    for (int j = 0; j < W; ++j) {
      const T odd_re = a[W + j] + b[W + j], odd_im = b[j] - a[j];
      to[j] = (a[j] + b[j]) * share + (re * odd_re - im * odd_im);
      to[W + j] = (a[W + j] - b[W + j]) * share + (re * odd_im + im * odd_re);
    }
  }
}

// The first n / 2 + 1 elements of the transforms of rows of n real numbers: of half as many pairs, if n is even.
template <int W, typename T>
void transform_real(const T* rows, T* out, std::int64_t count, std::int64_t n, T scale) {
  const bool even = n % 2 == 0;
  const FourierPlan<T> plan(even ? n / 2 : n, true);
  const ScratchArray<complex<T>> roots = even ? roots_of_unity<T>(n, true) : ScratchArray<complex<T>>();
  const std::int64_t kept = n / 2 + 1, length = std::max(plan.buffer_length(), kept);
  each_block<W, T>((count + W - 1) / W, length, [&](std::int64_t block, T* one, T* other) {
    const std::int64_t first = block * W, width = std::min<std::int64_t>(W, count - first);
    const T* const from = rows + first * n;
    T* result = one;
    if (even) {
      load_lines<W>(one, from, n, n / 2, width);
      const T* const pairs = plan.template run<W>(one, other);
      result = pairs == one ? other : one;
      last_pass<W>(pairs, result, n / 2, roots.data(), scale);
    } else {
      std::fill_n(one, 2 * W * n, T(0));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < width; ++j) one[2 * i * W + j] = from[j * n + i];
      }
      result = plan.template run<W>(one, other);
      scale_all(result, 2 * W * kept, scale);
    }
    store_lines<W>(out + 2 * first * kept, result, 2 * kept, kept, width);
  });
}

double scale_of(std::int64_t normalization, double count) {
  return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(count) : 1 / count;
}

template <typename T>
void transform(const TensorBase& self, IntArrayRef dim, std::int64_t normalization, bool forward,
               const TensorBase& tensor) {
  const bool reads_self = dim.size() > 0 && self.is_contiguous();
  if (!reads_self) copy_elements(self, tensor);
  const TensorBase& first = reads_self ? self : tensor;
  const IntArrayRef sizes = tensor.sizes();
  const auto size_of = [&](std::int64_t d) {
    return sizes.empty() ? 1 : sizes[static_cast<std::size_t>(wrap_dim(d, tensor.dim()))];
  };
  double count = 1;
  for (const std::int64_t d : dim) count *= static_cast<double>(size_of(d));
  const double scale = scale_of(normalization, count);
  for (std::size_t i = 0; i < dim.size(); ++i) {
    const std::int64_t n = size_of(dim[i]);
    std::int64_t inner = 1;
    for (std::size_t d = static_cast<std::size_t>(wrap_dim(dim[i], tensor.dim())) + 1; d < sizes.size(); ++d)
      inner *= sizes[d];
    const T factor = i + 1 == dim.size() ? static_cast<T>(scale) : 1;
    const std::int64_t outer = tensor.numel() / (n * inner);
    T* const to = reinterpret_cast<T*>(tensor.data_ptr<complex<T>>());
    const T* const from = i == 0 ? reinterpret_cast<const T*>(first.data_ptr<complex<T>>()) : to;
    if ((inner == 1 ? outer : inner) < kFewLines) {
      transform_lines<1>(from, to, outer, n, inner, forward, factor);
    } else {
      transform_lines<kFourierColumns>(from, to, outer, n, inner, forward, factor);
    }
  }
}

template <typename T>
void half_transform(const TensorBase& self, std::int64_t normalization, const TensorBase& out) {
  const std::int64_t n = self.sizes().back(), count = self.numel() / n;
  const T scale = static_cast<T>(scale_of(normalization, static_cast<double>(n)));
  const T* const rows = self.data_ptr<T>();
  T* const to = reinterpret_cast<T*>(out.data_ptr<complex<T>>());
  if (count < kFewLines) {
    transform_real<1>(rows, to, count, n, scale);
  } else {
    transform_real<kFourierColumns>(rows, to, count, n, scale);
  }
}

}  // namespace

namespace cpu {

void _fft_c2c(const TensorBase& self, IntArrayRef dim, std::int64_t normalization, bool forward, TensorBase& out) {
  const ContiguousOut target(out);
  if (out.numel() == 0) return;
  if (out.dtype() == kComplexDouble) {
    transform<double>(self, dim, normalization, forward, target.tensor());
  } else {
    transform<float>(self, dim, normalization, forward, target.tensor());
  }
  target.finish();
}

void _fft_half(const TensorBase& self, std::int64_t normalization, TensorBase& out) {
  if (out.numel() == 0) return;
  const TensorBase rows = contiguous(self);
  const ContiguousOut target(out);
  if (rows.dtype() == kDouble) {
    half_transform<double>(rows, normalization, target.tensor());
  } else {
    half_transform<float>(rows, normalization, target.tensor());
  }
  target.finish();
}

}  // namespace cpu

}  // namespace keyway::inline v1
