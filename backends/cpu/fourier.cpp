// Fourier transforms of complex numbers, one dimension after the other.
#include <keyway/backends/cpu/contiguous.h>
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/fourier_plan.h>
#include <keyway/backends/cpu/kernels_fourier.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1 {

namespace {

// Columns that are transformed at a time: a line of the cache of complex64.
constexpr std::int64_t kColumns = 8;

// Transforms the middle one of three dimensions of `data`, [outer, n, inner], in place.
template <typename T>
void transform_lines(complex<T>* data, std::int64_t outer, std::int64_t n, std::int64_t inner, bool forward, T scale) {
  const FourierPlan<T> plan(n, forward);
  const std::int64_t blocks = (inner + kColumns - 1) / kColumns, columns = std::min(inner, kColumns);
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / (plan.buffer_length() * columns));
  parallel_for(0, outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    using Buffer = Scratch<4096>;
    const std::int64_t size = plan.buffer_length() * columns;
    Buffer buffer(2 * scratch_bytes<complex<T>>(size));
    complex<T>* const one = buffer.template take<complex<T>>(size);
    complex<T>* const other = buffer.template take<complex<T>>(size);
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block % blocks * kColumns, width = std::min(kColumns, inner - first);
      complex<T>* const lines = data + block / blocks * n * inner + first;
      for (std::int64_t i = 0; i < n; ++i) std::copy_n(lines + i * inner, width, one + i * width);
      const complex<T>* const result = plan.run(one, other, width);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < width; ++j) lines[i * inner + j] = result[i * width + j] * scale;
      }
    }
  });
}

template <typename T>
void transform(const TensorBase& tensor, IntArrayRef dim, std::int64_t normalization, bool forward) {
  const IntArrayRef sizes = tensor.sizes();
  const auto size_of = [&](std::int64_t d) {
    return sizes.empty() ? 1 : sizes[static_cast<std::size_t>(wrap_dim(d, tensor.dim()))];
  };
  double count = 1;
  for (const std::int64_t d : dim) count *= static_cast<double>(size_of(d));
  const double scale = normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(count) : 1 / count;
  for (std::size_t i = 0; i < dim.size(); ++i) {
    const std::int64_t n = size_of(dim[i]);
    std::int64_t inner = 1;
    for (std::size_t d = static_cast<std::size_t>(wrap_dim(dim[i], tensor.dim())) + 1; d < sizes.size(); ++d)
      inner *= sizes[d];
    const T factor = i + 1 == dim.size() ? static_cast<T>(scale) : 1;
    transform_lines(tensor.data_ptr<complex<T>>(), tensor.numel() / (n * inner), n, inner, forward, factor);
  }
}

}  // namespace

namespace cpu {

void _fft_c2c(const TensorBase& self, IntArrayRef dim, std::int64_t normalization, bool forward, TensorBase& out) {
  const ContiguousOut place(out);
  copy_elements(self, place.tensor());
  if (out.numel() == 0) return;
  if (out.dtype() == kComplexDouble) {
    transform<double>(place.tensor(), dim, normalization, forward);
  } else {
    transform<float>(place.tensor(), dim, normalization, forward);
  }
  place.finish();
}

}  // namespace cpu

}  // namespace keyway::inline v1
