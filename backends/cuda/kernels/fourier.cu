// Fourier transforms of complex numbers: cuFFT's, of up to three dimensions at a time, which lie last for it.
#include <keyway/backends/cuda/driver/cufft.h>
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/kernels_fourier.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1::cuda {

namespace {

// Operands: out, and what it is a multiple of.
template <typename T>
struct Scaled {
  T by;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    element.at<complex<T>>(0) = element.at<const complex<T>>(1) * by;
  }
};

template <typename T>
void scale_elements(const TensorBase& from, double by, const TensorBase& out) {
  each<2>(ElementSpace(out.sizes()).tensor(out).tensor(from).space(), Scaled<T>{static_cast<T>(by)}, out.device());
}

// Whether the library takes it as it is.
bool is_row_major(const TensorBase& tensor) {
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  return tensor.is_contiguous() && address % static_cast<std::uintptr_t>(tensor.itemsize()) == 0;
}

// The transform of `from` over `dims`, not scaled: in the memory of `out` if that is row-major with them last.
TensorBase transformed(const TensorBase& from, IntArrayRef dims, bool forward, const TensorBase& out) {
  const TensorBase source = with_last(from, dims);
  TensorBase to = with_last(out, dims);
  if (!is_row_major(to)) to = make_tensor(to.sizes(), to.dtype(), to.device());
  const bool is_read_there = is_row_major(source);
  if (!is_read_there) copy_elements(source, to);
  cufft_transform(fourier_problem(to, dims.size()), (is_read_there ? source : to).data_ptr(), to.data_ptr(), forward,
                  out.device());
  return without_last(to, dims);
}

}  // namespace

void _fft_c2c(const TensorBase& self, IntArrayRef dim, std::int64_t normalization, bool forward, TensorBase& out) {
  if (out.numel() == 0) return;
  const DimVector dims = transformed_dims(self, dim);
  double count = 1;
  TensorBase result = self;
  for (std::size_t end = dims.size(); end > 0;) {
    const std::size_t begin = end - std::min(end, kMostFourierDims);
    const IntArrayRef some = IntArrayRef(dims).slice(begin, end - begin);
    for (const std::int64_t d : some) count *= static_cast<double>(self.sizes()[static_cast<std::size_t>(d)]);
    result = transformed(result, some, forward, out);
    end = begin;
  }
  const double scale = normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(count) : 1 / count;
  if (scale == 1) {
    if (result.data_ptr() != out.data_ptr()) copy_elements(result, out);
  } else if (out.dtype() == kComplexDouble) {
    scale_elements<double>(result, scale, out);
  } else {
    scale_elements<float>(result, scale, out);
  }
}

// Of complex numbers, as it is of those whose second half nobody wants.
void _fft_half(const TensorBase& self, std::int64_t normalization, TensorBase& out) {
  if (out.numel() == 0) return;
  const TensorBase numbers = contiguous_as(self, out.dtype());
  TensorBase all = make_tensor(self.sizes(), out.dtype(), out.device());
  _fft_c2c(numbers, {-1}, normalization, true, all);
  copy_elements(make_view(all, out.sizes(), all.strides(), all.storage_offset()), out);
}

}  // namespace keyway::inline v1::cuda
