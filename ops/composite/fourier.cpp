#include <keyway/ops/all.h>
#include <keyway/ops/fourier_composites.h>

namespace keyway::inline v1::composite {

namespace {

// The transform of a whole dimension of real numbers out of its first half: element n - k is the conjugate of k.
Tensor with_second_half(const Tensor& half, std::int64_t dim, std::int64_t n) {
  const Tensor others = half.narrow(dim, 1, (n - 1) / 2).flip({dim});
  return others.numel() == 0 ? half : keyway::cat({half, others.conj_physical()}, dim);
}

}  // namespace

Tensor fft_c2r(const Tensor& self, IntArrayRef dim, std::int64_t normalization, std::int64_t last_dim_size) {
  const std::int64_t last = wrap_dim(dim[dim.size() - 1], self.dim()), kept = last_dim_size / 2 + 1;
  KEYWAY_CHECK(self.size(last) >= kept, "dimension {} has size {}, but {} real numbers need {} of their transform",
               last, self.size(last), last_dim_size, kept);
  Tensor half = self.narrow(last, 0, kept);
  if (dim.size() > 1) half = keyway::_fft_c2c(half, dim.slice(0, dim.size() - 1), normalization, false);
  const Tensor whole = with_second_half(half, last, last_dim_size);
  return keyway::real(keyway::_fft_c2c(whole, {last}, normalization, false)).contiguous();
}

Tensor fft_r2c(const Tensor& self, IntArrayRef dim, std::int64_t normalization, bool onesided) {
  const std::int64_t last = dim[dim.size() - 1];
  if (onesided && ops::_fft_half.has_kernel_for(self.device().type())) {
    const Tensor half = keyway::_fft_half(self.transpose(last, -1), normalization).transpose(last, -1);
    return (dim.size() > 1 ? keyway::_fft_c2c(half, dim.slice(0, dim.size() - 1), normalization, true) : half)
        .contiguous();
  }
  const Tensor numbers = self.to(self.dtype() == kDouble ? kComplexDouble : kComplexFloat);
  Tensor result = keyway::_fft_c2c(numbers, {last}, normalization, true);
  if (onesided) result = result.narrow(last, 0, self.size(last) / 2 + 1);
  if (dim.size() > 1) return keyway::_fft_c2c(result, dim.slice(0, dim.size() - 1), normalization, true);
  return onesided ? result.contiguous() : result;
}

}  // namespace keyway::inline v1::composite
