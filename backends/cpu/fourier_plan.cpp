#include <keyway/backends/cpu/fourier_plan.h>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace keyway::inline v1 {

namespace {

// exp(2 pi i k / n) for 0 <= k < n, out of an angle of at most an eighth of the circle.
complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  const std::int64_t quarter = 4 * k / n, rest = 4 * k - quarter * n;
  const bool upper = 2 * rest > n;
  const double angle = std::numbers::pi / 2 * static_cast<double>(upper ? n - rest : rest) / static_cast<double>(n);
  const double c = upper ? std::sin(angle) : std::cos(angle), s = upper ? std::cos(angle) : std::sin(angle);
  switch (quarter) {
    case 0: return {c, s};
    case 1: return {-s, c};
    case 2: return {-c, -s};
    default: return {s, -c};
  }
}

// All n of them, or their conjugates: each a product of two out of about sqrt(n).
template <typename T>
ScratchArray<complex<T>> roots_of_unity(std::int64_t n, bool conjugate) {
  const auto step = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))) + 1;
  std::vector<complex<double>> near, far;
  for (std::int64_t k = 0; k < step && k < n; ++k) near.push_back(root_of_unity(k, n));
  for (std::int64_t k = 0; k < n; k += step) far.push_back(root_of_unity(k, n));
  ScratchArray<complex<T>> roots(n);
  for (std::int64_t k = 0; k < n; ++k) {
    const complex<double> root = far[static_cast<std::size_t>(k / step)] * near[static_cast<std::size_t>(k % step)];
    roots[k] = {static_cast<T>(root.real()), static_cast<T>(conjugate ? -root.imag() : root.imag())};
  }
  return roots;
}

template <typename T>
complex<T> conjugate(complex<T> z) {
  return {z.real(), -z.imag()};
}

// The transform of R elements in place; `omega` are the R-th roots.
template <int R, typename T>
[[gnu::always_inline]] inline void butterfly(complex<T>* a, const complex<T>* omega) {
  if constexpr (R == 2) {
    const complex<T> difference = a[0] - a[1];
    a[0] += a[1];
    a[1] = difference;
  } else if constexpr (R == 4) {
    const complex<T> sum = a[0] + a[2], difference = a[0] - a[2], odd = a[1] + a[3], turned = a[1] - a[3];
    const T sign = omega[1].imag();  // that root is i or -i
    const complex<T> quarter(-sign * turned.imag(), sign * turned.real());
    a[0] = sum + odd;
    a[1] = difference + quarter;
    a[2] = sum - odd;
    a[3] = difference - quarter;
  } else {
    complex<T> sums[R];
    for (int i = 0; i < R; ++i) {
      sums[i] = a[0];
      for (int t = 1; t < R; ++t) sums[i] += a[t] * omega[i * t % R];
    }
    for (int i = 0; i < R; ++i) a[i] = sums[i];
  }
}

// One pass: `x` holds R * m groups of s elements, element t of a small transform m groups after the one before it. `y`
// gets the R results of each side by side, times the root of each.
template <typename T>
struct Pass {
  const complex<T>* x;
  complex<T>* y;
  std::int64_t m, s;
  const complex<T>* roots;
  std::int64_t n;       // the number of these
  std::int64_t stride;  // of them between elements of the transform at hand

  template <int R>
  void run() const {
    complex<T> omega[R], turn[R];
    for (int i = 0; i < R; ++i) omega[i] = roots[i * (n / R)];
    for (std::int64_t p = 0; p < m; ++p) {
      for (int i = 1; i < R; ++i) turn[i] = roots[p * i * stride];
      const complex<T>* const from = x + p * s;
      complex<T>* const to = y + p * R * s;
      for (std::int64_t q = 0; q < s; ++q) {
        complex<T> a[R];
        for (int t = 0; t < R; ++t) a[t] = from[q + t * m * s];
        butterfly<R>(a, omega);
        to[q] = a[0];
        for (int i = 1; i < R; ++i) to[q + i * s] = a[i] * turn[i];
      }
    }
  }

  void run(int factor) const {
    switch (factor) {
      case 2: return run<2>();
      case 3: return run<3>();
      case 4: return run<4>();
      case 5: return run<5>();
      case 7: return run<7>();
      case 11: return run<11>();
      default: return run<13>();
    }
  }
};

}  // namespace

template <typename T>
FourierPlan<T>::FourierPlan(std::int64_t n, bool forward) : n_(n), forward_(forward) {
  std::int64_t rest = n;
  for (const int factor : {4, 2, 3, 5, 7, 11, 13}) {
    for (; rest % factor == 0; rest /= factor) factors_.push_back(factor);
  }
  if (rest == 1) {
    roots_ = roots_of_unity<T>(n, forward);
  } else {
    make_chirp();
  }
}

template <typename T>
void FourierPlan<T>::make_chirp() {
  std::int64_t length = 1;
  while (length < 2 * n_ - 1) length *= 2;
  inner_ = std::make_unique<FourierPlan>(length, true);
  const ScratchArray<complex<T>> roots = roots_of_unity<T>(2 * n_, forward_);
  const ScratchArray<complex<T>> mirrored(length, complex<T>()), other(length);
  chirp_ = ScratchArray<complex<T>>(n_);
  std::int64_t square = 0;  // k^2, modulo 2 n
  for (std::int64_t k = 0; k < n_; ++k) {
    chirp_[k] = roots[square];
    mirrored[k] = conjugate(chirp_[k]);
    if (k > 0) mirrored[length - k] = mirrored[k];
    square = (square + 2 * k + 1) % (2 * n_);
  }
  const complex<T>* const kernel = inner_->run(mirrored.data(), other.data(), 1);
  const T scale = 1 / static_cast<T>(length);
  kernel_ = ScratchArray<complex<T>>(length);
  for (std::int64_t k = 0; k < length; ++k) kernel_[k] = kernel[k] * scale;
}

template <typename T>
complex<T>* FourierPlan<T>::run(complex<T>* data, complex<T>* other, std::int64_t width) const {
  return inner_ ? run_chirp(data, other, width) : run_passes(data, other, width);
}

template <typename T>
complex<T>* FourierPlan<T>::run_passes(complex<T>* data, complex<T>* other, std::int64_t width) const {
  std::int64_t left = n_, done = 1;
  for (const int factor : factors_) {
    left /= factor;
    Pass<T>{data, other, left, done * width, roots_.data(), n_, done}.run(factor);
    done *= factor;
    std::swap(data, other);
  }
  return data;
}

// The inverse transform is the conjugate of the transform of the conjugate.
template <typename T>
complex<T>* FourierPlan<T>::run_chirp(complex<T>* data, complex<T>* other, std::int64_t width) const {
  const std::int64_t length = inner_->n_;
  for (std::int64_t k = 0; k < n_; ++k) {
    for (std::int64_t j = 0; j < width; ++j) data[k * width + j] *= chirp_[k];
  }
  for (std::int64_t i = n_ * width; i < length * width; ++i) data[i] = complex<T>();
  complex<T>* const there = inner_->run(data, other, width);
  for (std::int64_t k = 0; k < length; ++k) {
    for (std::int64_t j = 0; j < width; ++j) {
      complex<T>& z = there[k * width + j];
      z = conjugate(z * kernel_[k]);
    }
  }
  complex<T>* const back = inner_->run(there, there == data ? other : data, width);
  for (std::int64_t k = 0; k < n_; ++k) {
    for (std::int64_t j = 0; j < width; ++j) {
      complex<T>& z = back[k * width + j];
      z = conjugate(z) * chirp_[k];
    }
  }
  return back;
}

template class FourierPlan<float>;
template class FourierPlan<double>;

}  // namespace keyway::inline v1
