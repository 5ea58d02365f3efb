#include <keyway/backends/cpu/fourier_plan.h>
#include <keyway/backends/cpu/simd/level.h>

#include <algorithm>
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

// A complex number of one column, for loops over columns: plain arithmetic, which vectors do too.
template <typename T>
struct Pair {
  T re, im;

  KEYWAY_INLINE Pair operator+(Pair b) const { return {re + b.re, im + b.im}; }
  KEYWAY_INLINE Pair operator-(Pair b) const { return {re - b.re, im - b.im}; }
  KEYWAY_INLINE Pair operator*(Pair b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
  KEYWAY_INLINE Pair conjugate() const { return {re, -im}; }
};
template <typename T>
Pair<T> pair_of(complex<T> z) {
  return {z.real(), z.imag()};
}

// Column j of an element of W columns.
template <int W, typename T>
KEYWAY_INLINE Pair<T> load(const T* element, int j) {
  return {element[j], element[W + j]};
}
template <int W, typename T>
KEYWAY_INLINE void store(T* element, int j, Pair<T> z) {
  element[j] = z.re;
  element[W + j] = z.im;
}

// One pass: `x` holds R * m groups of s elements, element t of a small transform m groups after the one before it. `y`
// gets the R results of each side by side, times the root of each.
template <typename T, int W>
struct Pass {
  const T* x;
  T* y;
  std::int64_t m, s;
  const complex<T>* roots;
  std::int64_t n;       // the number of these
  std::int64_t stride;  // of them between elements of the transform at hand

  KEYWAY_INLINE Pair<T> root(std::int64_t k) const { return pair_of(roots[k]); }

  KEYWAY_INLINE void run2() const {
    const std::int64_t apart = 2 * W * m * s, beside = 2 * W * s;
    for (std::int64_t p = 0; p < m; ++p) {
      const Pair<T> turn = root(p * stride);
      const T* from = x + p * beside;
      T* to = y + 2 * p * beside;
      for (std::int64_t q = 0; q < s; ++q, from += 2 * W, to += 2 * W) {
#pragma GCC ivdep
        for (int j = 0; j < W; ++j) {
          const Pair<T> a = load<W>(from, j), b = load<W>(from + apart, j);
          store<W>(to, j, a + b);
          store<W>(to + beside, j, (a - b) * turn);
        }
      }
    }
  }

  KEYWAY_INLINE void run4() const {
    const std::int64_t apart = 2 * W * m * s, beside = 2 * W * s;
    const T sign = roots[n / 4].imag();  // that root is i or -i
    for (std::int64_t p = 0; p < m; ++p) {
      const Pair<T> turn1 = root(p * stride), turn2 = root(2 * p * stride), turn3 = root(3 * p * stride);
      const T* from = x + p * beside;
      T* to = y + 4 * p * beside;
      for (std::int64_t q = 0; q < s; ++q, from += 2 * W, to += 2 * W) {
#pragma GCC ivdep
        for (int j = 0; j < W; ++j) {
          const Pair<T> a = load<W>(from, j), b = load<W>(from + apart, j), c = load<W>(from + 2 * apart, j),
                        d = load<W>(from + 3 * apart, j);
          const Pair<T> sum = a + c, difference = a - c, odd = b + d, turned = b - d;
          const Pair<T> quarter = {-sign * turned.im, sign * turned.re};
          store<W>(to, j, sum + odd);
          store<W>(to + beside, j, (difference + quarter) * turn1);
          store<W>(to + 2 * beside, j, (sum - odd) * turn2);
          store<W>(to + 3 * beside, j, (difference - quarter) * turn3);
        }
      }
    }
  }

  template <int R>
  [[gnu::noinline]] void run_odd() const {
    const std::int64_t apart = 2 * W * m * s, beside = 2 * W * s;
    Pair<T> omega[R], turn[R];
    for (int i = 0; i < R; ++i) omega[i] = root(i * (n / R));
    for (std::int64_t p = 0; p < m; ++p) {
      for (int i = 0; i < R; ++i) turn[i] = root(p * i * stride);
      const T* from = x + p * beside;
      T* to = y + R * p * beside;
      for (std::int64_t q = 0; q < s; ++q, from += 2 * W, to += 2 * W) {
        for (int i = 0; i < R; ++i) {
          T re[W] = {}, im[W] = {};
          for (int t = 0; t < R; ++t) {
            const Pair<T> factor = omega[i * t % R];
            for (int j = 0; j < W; ++j) {
              const Pair<T> term = load<W>(from + t * apart, j) * factor;
              re[j] += term.re;
              im[j] += term.im;
            }
          }
          for (int j = 0; j < W; ++j) store<W>(to + i * beside, j, Pair<T>{re[j], im[j]} * turn[i]);
        }
      }
    }
  }

  // Passes of many columns by the factors that most lengths have are worth code for longer vectors.
  template <SimdLevel level>
  struct At {
    KEYWAY_INLINE static void run(const Pass* pass, int factor) { factor == 2 ? pass->run2() : pass->run4(); }
  };

  void run(int factor) const {
    switch (factor) {
      case 3: return run_odd<3>();
      case 5: return run_odd<5>();
      case 7: return run_odd<7>();
      case 11: return run_odd<11>();
      case 13: return run_odd<13>();
      default: break;
    }
    if constexpr (W == 1) {
      factor == 2 ? run2() : run4();
    } else {
      constexpr auto kRun = at_levels_to_avx2<At>();
      kRun[current_level()](this, factor);
    }
  }
};

// Each column times a number of each element, and conjugated then or before.
template <int W, typename T>
void multiply(T* data, const complex<T>* factors, std::int64_t n, bool conjugate_before, bool conjugate_then) {
  for (std::int64_t k = 0; k < n; ++k) {
    const Pair<T> factor = pair_of(factors[k]);
    T* const element = data + 2 * k * W;
    for (int j = 0; j < W; ++j) {
      const Pair<T> z = load<W>(element, j), product = (conjugate_before ? z.conjugate() : z) * factor;
      store<W>(element, j, conjugate_then ? product.conjugate() : product);
    }
  }
}

template <typename T>
T* parts_of(const ScratchArray<complex<T>>& array) {
  return reinterpret_cast<T*>(array.data());
}

}  // namespace

// Each is a product of two out of about sqrt(n).
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
    mirrored[k] = {chirp_[k].real(), -chirp_[k].imag()};
    if (k > 0) mirrored[length - k] = mirrored[k];
    square = (square + 2 * k + 1) % (2 * n_);
  }
  const auto* const kernel =
      reinterpret_cast<const complex<T>*>(inner_->template run<1>(parts_of(mirrored), parts_of(other)));
  const T scale = 1 / static_cast<T>(length);
  kernel_ = ScratchArray<complex<T>>(length);
  for (std::int64_t k = 0; k < length; ++k) kernel_[k] = kernel[k] * scale;
}

template <typename T>
template <int W>
T* FourierPlan<T>::run(T* data, T* other) const {
  return inner_ ? run_chirp<W>(data, other) : run_passes<W>(data, other);
}

template <typename T>
template <int W>
T* FourierPlan<T>::run_passes(T* data, T* other) const {
  std::int64_t left = n_, done = 1;
  for (const int factor : factors_) {
    left /= factor;
    Pass<T, W>{data, other, left, done, roots_.data(), n_, done}.run(factor);
    done *= factor;
    std::swap(data, other);
  }
  return data;
}

// The inverse transform is the conjugate of the transform of the conjugate.
template <typename T>
template <int W>
T* FourierPlan<T>::run_chirp(T* data, T* other) const {
  const std::int64_t length = inner_->n_;
  multiply<W>(data, chirp_.data(), n_, false, false);
  std::fill(data + 2 * W * n_, data + 2 * W * length, T(0));
  T* const there = inner_->template run<W>(data, other);
  multiply<W>(there, kernel_.data(), length, false, true);
  T* const back = inner_->template run<W>(there, there == data ? other : data);
  multiply<W>(back, chirp_.data(), n_, true, false);
  return back;
}

template class FourierPlan<float>;
template class FourierPlan<double>;
template float* FourierPlan<float>::run<1>(float*, float*) const;
template float* FourierPlan<float>::run<kFourierColumns>(float*, float*) const;
template double* FourierPlan<double>::run<1>(double*, double*) const;
template double* FourierPlan<double>::run<kFourierColumns>(double*, double*) const;
template ScratchArray<complex<float>> roots_of_unity(std::int64_t, bool);
template ScratchArray<complex<double>> roots_of_unity(std::int64_t, bool);

}  // namespace keyway::inline v1
