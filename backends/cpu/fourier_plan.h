// FourierPlan: Fourier transforms of one length, each in O(n log n) whatever the length.
//
// A length whose prime factors are small is done factor by factor (Stockham: each pass reads one buffer and writes the
// other, in order). Any other is a convolution with a chirp (Bluestein), which transforms of a power of two do.
#pragma once

#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/base/complex.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace keyway::inline v1 {

// A vector of float.
inline constexpr int kFourierColumns = 8;

// Instantiated for float and double. Immutable: any number of threads may use one.
template <typename T>
class FourierPlan {
 public:
  // Requires: n > 0.
  FourierPlan(std::int64_t n, bool forward);

  // How many elements each of the two buffers of a transform has, for each of its columns.
  std::int64_t buffer_length() const { return inner_ ? inner_->n_ : n_; }

  // Transforms W columns side by side, 1 or kFourierColumns. Element i of column j stands in two parts at
  // data[2 * i * W + j] and data[(2 * i + 1) * W + j], so that vectors have one part of many columns, and one column is
  // an array of complex numbers. Both buffers are overwritten; the one that has the result is returned. Not scaled.
  template <int W>
  T* run(T* data, T* other) const;

 private:
  void make_chirp();
  template <int W>
  T* run_passes(T* data, T* other) const;
  template <int W>
  T* run_chirp(T* data, T* other) const;

  std::int64_t n_;
  bool forward_;
  std::vector<int> factors_;            // whose product n is; empty if it has a large one
  ScratchArray<complex<T>> roots_;      // exp(-+2 pi i k / n)
  std::unique_ptr<FourierPlan> inner_;  // of a convolution, else null
  ScratchArray<complex<T>> chirp_;      // exp(-+pi i k^2 / n)
  ScratchArray<complex<T>> kernel_;     // the transform of its conjugate, divided by the length
};

// exp(2 pi i k / n) for 0 <= k < n, or their conjugates.
template <typename T>
ScratchArray<complex<T>> roots_of_unity(std::int64_t n, bool conjugate);

extern template class FourierPlan<float>;
extern template class FourierPlan<double>;

}  // namespace keyway::inline v1
