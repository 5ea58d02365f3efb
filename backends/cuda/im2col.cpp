#include <keyway/backends/cuda/im2col.h>
#include <keyway/core/base/error.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

namespace {

// So that the sum of two is a number of 31 bits, as divisors take them.
constexpr std::int64_t kNumberLimit = std::int64_t{1} << 30;

std::int64_t small(std::int64_t number) {
  KEYWAY_CHECK_AS(NotImplemented, number < kNumberLimit,
                  "convolutions in numbers of {} and more are not implemented on CUDA", kNumberLimit);
  return number;
}
Divisor divisor(std::int64_t number) { return Divisor(static_cast<std::uint32_t>(small(number))); }

}  // namespace

Im2col::Im2col(const TensorBase& x, const TensorBase& w, const TensorBase& y, IntArrayRef strides, IntArrayRef paddings,
               IntArrayRef dilations, std::int64_t group_count)
    : batch(x.sizes()[0]), groups(group_count), in_channels(w.sizes()[1]), out_channels(w.sizes()[0] / group_count) {
  const std::size_t rank = x.sizes().size() - 2, lead = 3 - rank;
  const auto item = [](IntArrayRef list, std::size_t d) { return list[list.size() == 1 ? 0 : d]; };
  for (std::size_t d = 0; d < rank; ++d) {
    in[lead + d] = divisor(x.sizes()[2 + d]);
    out[lead + d] = divisor(y.sizes()[2 + d]);
    kernel[lead + d] = divisor(w.sizes()[2 + d]);
    stride[lead + d] = divisor(item(strides, d));
    padding[lead + d] = small(item(paddings, d));
    dilation[lead + d] = small(item(dilations, d));
  }
  const auto product = [](const Divisor(&sizes)[3]) {
    return divisor(small(std::int64_t{sizes[0].value} * sizes[1].value) * sizes[2].value);
  };
  taps = product(kernel);
  positions = product(out);
  small(groups * in_channels * product(in).value);
  small(rows());
  small(groups * out_channels);
}

Im2colColumns Im2col::chunk(std::int64_t first, std::int64_t most) const {
  return {first / positions.value, static_cast<std::uint32_t>(first % positions.value),
          divisor(std::min(most, columns() - first))};
}

ConvImages::ConvImages(const TensorBase& tensor)
    : data(tensor.data_ptr()), image_stride(tensor.strides()[0]), channel_stride(tensor.strides()[1]) {
  const std::size_t rank = tensor.sizes().size() - 2;
  for (std::size_t d = 0; d < rank; ++d) stride[3 - rank + d] = tensor.strides()[2 + d];
}

}  // namespace keyway::inline v1::cuda
