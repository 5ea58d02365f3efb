// The greatest elements of windows that kernels do not step through: adaptive and fractional pooling.
#include <keyway/ops/all.h>
#include <keyway/ops/pooling_composites.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace keyway::inline v1::composite {

namespace {

using Greatest = std::tuple<Tensor, Tensor>;

// Windows over the last dimensions, each as its indices there: [planes or 1, windows, length].
using Windows = std::vector<Tensor>;

Tensor counted(std::int64_t count, const Tensor& like) {
  return keyway::arange(count, TensorOptions(like.device()).dtype(kLong));
}

// Which elements of a flat plane the windows hold: [planes or 1, windows, length].
Tensor flat_indices(const Tensor& self, const Windows& windows) {
  std::int64_t dim = self.dim() - static_cast<std::int64_t>(windows.size());
  Tensor indices = keyway::zeros({1, 1, 1}, TensorOptions(self.device()).dtype(kLong));
  for (const Tensor& along : windows) {
    indices = indices.unsqueeze(2).unsqueeze(4) * self.size(dim++) + along.unsqueeze(1).unsqueeze(3);
    indices = indices.flatten(3, 4).flatten(1, 2);
  }
  return indices;
}

// The greatest elements, and where they are, counted over the dimensions of the windows.
Greatest greatest(const Tensor& self, const Windows& windows) {
  const std::size_t outer = self.sizes().size() - windows.size();
  DimVector sizes(self.sizes().slice(0, outer));
  for (const Tensor& along : windows) sizes.push_back(along.size(1));
  const std::int64_t planes = checked_numel(self.sizes().slice(0, outer));
  const Tensor flat = self.reshape({planes, checked_numel(self.sizes().slice(outer))});
  const Tensor indices = flat_indices(self, windows);
  const std::int64_t count = indices.size(1), length = indices.size(2);
  const Tensor all = indices.expand({planes, count, length});
  const Tensor elements = indices.size(0) == 1 ? flat.index_select(1, indices.reshape({count * length}))
                                               : flat.gather(1, all.reshape({planes, count * length}));
  const auto [values, chosen] = elements.reshape({planes, count, length}).max(2);
  return {values.reshape(sizes), all.gather(2, chosen.unsqueeze(2)).reshape(sizes)};
}

std::int64_t along(IntArrayRef list, std::size_t dim) { return list[list.size() == 1 ? 0 : dim]; }

// `count` windows that divide a dimension, the i-th from floor(i size / count) to ceil((i + 1) size / count). All are
// as long as the longest: a shorter one repeats its last index.
Tensor dividing(const Tensor& self, std::int64_t size, std::int64_t count) {
  const std::int64_t parts = std::max<std::int64_t>(count, 1), rest = size % parts;
  const std::int64_t longest = size / parts + (rest == 0 ? 0 : parts % rest == 0 ? 1 : 2);
  const Tensor i = counted(count, self);
  const Tensor begins = keyway::div(i * size, parts, "floor");
  const Tensor ends = keyway::div((i + 1) * size + (parts - 1), parts, "floor");
  return (begins.unsqueeze(1) + counted(longest, self)).minimum((ends - 1).unsqueeze(1)).unsqueeze(0);
}

Greatest adaptive(const Tensor& self, IntArrayRef output_size, std::size_t dims) {
  Windows windows;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t size = self.size(static_cast<std::int64_t>(d) - static_cast<std::int64_t>(dims));
    windows.push_back(dividing(self, size, along(output_size, d)));
  }
  return greatest(self, windows);
}

// `count` windows of `kernel` elements along a dimension, of which each plane's sample in [0, 1) says where they begin:
// the pseudorandom sequence of Graham, "Fractional Max-Pooling", 2014.
Tensor spread(const Tensor& samples, std::int64_t size, std::int64_t kernel, std::int64_t count) {
  const Tensor u = samples.unsqueeze(1);
  const Tensor last = keyway::full({u.size(0), 1}, size - kernel, TensorOptions(u.device()).dtype(kLong));
  const double step = static_cast<double>(size - kernel) / static_cast<double>(std::max<std::int64_t>(count - 1, 1));
  const Tensor i = keyway::arange(count - 1, u.options());
  const Tensor begins = keyway::cat({((i + u) * step).to(kLong) - (u * step).to(kLong), last}, 1);
  return begins.unsqueeze(2) + counted(kernel, samples);
}

// Samples are [batch, channels, dimensions].
Greatest fractional(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& samples) {
  const auto dims = static_cast<std::size_t>(samples.size(2));
  const std::size_t outer = self.sizes().size() - dims;
  const std::int64_t planes = checked_numel(self.sizes().slice(0, outer));
  const Tensor of_planes = samples.narrow(0, 0, outer == 2 ? self.size(0) : 1).reshape({planes, samples.size(2)});
  Windows windows;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t size = self.size(static_cast<std::int64_t>(outer + d));
    windows.push_back(
        spread(of_planes.select(1, static_cast<std::int64_t>(d)), size, along(kernel_size, d), along(output_size, d)));
  }
  return greatest(self, windows);
}

}  // namespace

Greatest adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) { return adaptive(self, output_size, 1); }
Greatest adaptive_max_pool2d(const Tensor& self, IntArrayRef output_size) { return adaptive(self, output_size, 2); }
Greatest adaptive_max_pool3d(const Tensor& self, IntArrayRef output_size) { return adaptive(self, output_size, 3); }

Greatest fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                               const Tensor& random_samples) {
  return fractional(self, kernel_size, output_size, random_samples.flip({2}));  // the width's sample is first
}
Greatest fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                               const Tensor& random_samples) {
  return fractional(self, kernel_size, output_size, random_samples);
}

}  // namespace keyway::inline v1::composite
