#include <keyway/backends/cpu/kernels_pooling.h>
#include <keyway/tests/backends/cpu/random_tensor.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <limits>
#include <map>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Windows over the last dimensions of a tensor; the lists have an item for each of them.
struct PoolingCase {
  Sizes sizes;  // of the input
  Sizes kernel, stride, padding, dilation;
  bool ceil = false;

  std::size_t rank() const { return kernel.size(); }
  std::size_t lead() const { return sizes.size() - rank(); }
  Sizes out() const {
    Sizes result(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(lead()));
    for (std::size_t d = 0; d < rank(); ++d) {
      const std::int64_t in = sizes[lead() + d];
      const double room =
          static_cast<double>(in + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / static_cast<double>(stride[d]);
      std::int64_t size = static_cast<std::int64_t>(ceil ? std::ceil(room) : std::floor(room)) + 1;
      if (ceil && (size - 1) * stride[d] >= in + padding[d]) --size;
      result.push_back(size);
    }
    return result;
  }
};

PoolingCase random_case(Rng& rng, std::size_t rank, bool dilated) {
  for (;;) {
    PoolingCase c;
    if (random_int(rng, 0, 1) == 0) c.sizes.push_back(random_int(rng, 0, 3));
    c.sizes.push_back(random_int(rng, 1, 5));
    for (std::size_t d = 0; d < rank; ++d) {
      c.sizes.push_back(random_int(rng, 1, rank == 2 ? 11 : 6));
      c.kernel.push_back(random_int(rng, 1, 4));
      c.stride.push_back(random_int(rng, 1, 3));
      c.padding.push_back(random_int(rng, 0, c.kernel[d] / 2));
      c.dilation.push_back(dilated ? random_int(rng, 1, 2) : 1);
    }
    c.ceil = random_int(rng, 0, 1) == 1;
    bool fits = true;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t in = c.sizes[c.lead() + d];
      fits = fits && in + 2 * c.padding[d] >= c.dilation[d] * (c.kernel[d] - 1) + 1 && c.dilation[d] <= in;
    }
    for (const std::int64_t size : c.out()) fits = fits && (size > 0 || c.sizes[0] == 0);
    if (fits) return c;
  }
}

// Calls f(index in the input) for each element that the window at `o` sees.
template <typename F>
void each_seen(const PoolingCase& c, const Sizes& o, const F& f) {
  each_index(c.kernel, [&](const Sizes& k) {
    Sizes index = o;
    for (std::size_t d = 0; d < c.rank(); ++d) {
      const std::size_t at = c.lead() + d;
      index[at] = o[at] * c.stride[d] - c.padding[d] + k[d] * c.dilation[d];
      if (index[at] < 0 || index[at] >= c.sizes[at]) return;
    }
    f(index);
  });
}

template <typename T>
TensorBase make(Rng& rng, const Sizes& sizes, int layout, Expand expand = Expand::No) {
  const ScalarType dtype = cpp_type_to_scalar_type<T>;
  TensorBase tensor =
      layout == 0 ? make_tensor(sizes, dtype, DeviceType::CPU)
      : layout == 1 && sizes.size() == 4
          ? make_tensor_strided(sizes, strides_for(sizes, MemoryFormat::ChannelsLast), dtype, DeviceType::CPU)
          : random_geometry(rng, sizes, dtype, expand);
  fill_storage<T>(tensor, [&] { return small_value<T>(rng); });
  return tensor;
}

template <typename T>
void check_max(Rng& rng, const PoolingCase& c, int layout) {
  const TensorBase self = make<T>(rng, c.sizes, layout, Expand::Yes);
  if constexpr (!std::integral<T>) {
    fill_storage<T>(
        self, [&] { return random_int(rng, 0, 20) == 0 ? std::numeric_limits<T>::quiet_NaN() : small_value<T>(rng); });
  }
  TensorBase out = make<T>(rng, c.out(), layout), indices = make<std::int64_t>(rng, c.out(), layout);
  (c.rank() == 2 ? cpu::max_pool2d_with_indices : cpu::max_pool3d_with_indices)(self, c.kernel, c.stride, c.padding,
                                                                                c.dilation, c.ceil, out, indices);
  each_index(c.out(), [&](const Sizes& o) {
    bool any = false;
    double best = 0;
    std::int64_t index = -1;
    each_seen(c, o, [&](const Sizes& i) {
      const auto value = static_cast<double>(element<T>(self, i));
      if (any && !(value > best) && value == value) return;
      if (any && best != best && value == value) return;
      any = true;
      best = value;
      index = 0;
      for (std::size_t d = c.lead(); d < i.size(); ++d) index = index * c.sizes[d] + i[d];
    });
    const auto got = static_cast<double>(element<T>(out, o));
    REQUIRE(any);
    REQUIRE((got == best || (got != got && best != best)));
    REQUIRE(element<std::int64_t>(indices, o) == index);
  });
  if constexpr (!std::integral<T>) {
    const TensorBase grad = make<T>(rng, c.out(), layout, Expand::Yes);
    TensorBase grad_input = make<T>(rng, c.sizes, layout);
    (c.rank() == 2 ? cpu::max_pool2d_with_indices_backward : cpu::max_pool3d_with_indices_backward)(
        grad, self, c.kernel, c.stride, c.padding, c.dilation, c.ceil, indices, grad_input);
    std::map<Sizes, double> sums;
    each_index(c.out(), [&](const Sizes& o) {
      Sizes at(o.begin(), o.begin() + static_cast<std::ptrdiff_t>(c.lead()));
      at.push_back(element<std::int64_t>(indices, o));
      sums[at] += static_cast<double>(element<T>(grad, o));
    });
    each_index(c.sizes, [&](const Sizes& i) {
      Sizes at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(c.lead()));
      at.push_back(0);
      for (std::size_t d = c.lead(); d < i.size(); ++d) at.back() = at.back() * c.sizes[d] + i[d];
      REQUIRE(element<T>(grad_input, i) == static_cast<T>(sums[at]));
    });
  }
}

template <typename T>
bool close(T got, double expected) {
  const double error = std::numeric_limits<T>::epsilon() * 8;
  return std::abs(static_cast<double>(got) - expected) <= error * (1 + std::abs(expected));
}

// The mean of what a window sees, or of the window within the padded input.
double divisor(const PoolingCase& c, const Sizes& o, bool count_padding, std::optional<std::int64_t> override_) {
  if (override_) return static_cast<double>(*override_);
  double length = 1;
  for (std::size_t d = 0; d < c.rank(); ++d) {
    const std::int64_t size = c.sizes[c.lead() + d], begin = o[c.lead() + d] * c.stride[d] - c.padding[d];
    const std::int64_t end = std::min(begin + c.kernel[d], size + c.padding[d]);
    length *= static_cast<double>(count_padding ? end - begin : std::min(end, size) - std::max<std::int64_t>(begin, 0));
  }
  return length;
}

template <typename T>
void check_average(Rng& rng, const PoolingCase& c, int layout) {
  const TensorBase self = make<T>(rng, c.sizes, layout, Expand::Yes), grad = make<T>(rng, c.out(), layout, Expand::Yes);
  const bool count = random_int(rng, 0, 1) == 1;
  const std::optional<std::int64_t> given = random_int(rng, 0, 3) == 0 ? std::optional<std::int64_t>(-3) : std::nullopt;
  TensorBase out = make<T>(rng, c.out(), layout), grad_input = make<T>(rng, c.sizes, layout);
  (c.rank() == 2 ? cpu::avg_pool2d : cpu::avg_pool3d)(self, c.kernel, c.stride, c.padding, c.ceil, count, given, out);
  (c.rank() == 2 ? cpu::avg_pool2d_backward : cpu::avg_pool3d_backward)(grad, self, c.kernel, c.stride, c.padding,
                                                                        c.ceil, count, given, grad_input);
  std::map<Sizes, double> sums;
  each_index(c.out(), [&](const Sizes& o) {
    double sum = 0;
    const double by = divisor(c, o, count, given);
    each_seen(c, o, [&](const Sizes& i) {
      sum += static_cast<double>(element<T>(self, i));
      sums[i] += static_cast<double>(element<T>(grad, o)) / by;
    });
    REQUIRE(close(element<T>(out, o), sum / by));
  });
  each_index(c.sizes, [&](const Sizes& i) { REQUIRE(close(element<T>(grad_input, i), sums[i])); });
}

}  // namespace

TEST_CASE("max pooling finds the greatest value and its index, and NaN before all") {
  Rng rng(1);
  for (int i = 0; i < 60; ++i) {
    const PoolingCase c = random_case(rng, i % 3 == 0 ? 3 : 2, true);
    CAPTURE(c.sizes, c.kernel, c.stride, c.padding, c.dilation, c.ceil);
    for (int layout = 0; layout < 3; ++layout) {
      check_max<float>(rng, c, layout);
      check_max<Half>(rng, c, layout);
      check_max<std::int32_t>(rng, c, layout);
    }
    check_max<double>(rng, c, 2);
    check_max<std::uint8_t>(rng, c, 1);
  }
}

TEST_CASE("a window of the least values has an index in the input") {
  const TensorBase self = make_tensor(Sizes{1, 2, 2}, kFloat, DeviceType::CPU);
  fill_storage<float>(self, [] { return -std::numeric_limits<float>::infinity(); });
  TensorBase out = make_tensor(Sizes{1, 2, 2}, kFloat, DeviceType::CPU);
  TensorBase indices = make_tensor(Sizes{1, 2, 2}, kLong, DeviceType::CPU);
  cpu::max_pool2d_with_indices(self, {2, 2}, {2, 2}, {1, 1}, {1, 1}, false, out, indices);
  each_index({1, 2, 2}, [&](const Sizes& i) {
    REQUIRE(element<std::int64_t>(indices, i) == 2 * i[1] + i[2]);
    REQUIRE(std::isinf(element<float>(out, i)));
  });
}

TEST_CASE("max pooling's gradient refuses indices outside the plane and leaves its result alone") {
  const TensorBase grad = make_tensor(Sizes{1, 1, 1}, kFloat, DeviceType::CPU);
  const TensorBase indices = make_tensor(Sizes{1, 1, 1}, kLong, DeviceType::CPU);
  TensorBase grad_input = make_tensor(Sizes{1, 2, 2}, kFloat, DeviceType::CPU);
  fill_storage<float>(grad_input, [] { return 7.0f; });
  for (const std::int64_t bad : {std::int64_t{4}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    *indices.data_ptr<std::int64_t>() = bad;
    const std::string text = error_of([&] {
      cpu::max_pool2d_with_indices_backward(grad, grad_input, {2}, {}, {0}, {1}, false, indices, grad_input);
    });
    REQUIRE(text.find("indices") != std::string::npos);
    each_index({1, 2, 2}, [&](const Sizes& i) { REQUIRE(element<float>(grad_input, i) == 7.0f); });
  }
}

TEST_CASE("average pooling divides by what it is told to") {
  Rng rng(2);
  for (int i = 0; i < 60; ++i) {
    const PoolingCase c = random_case(rng, i % 3 == 0 ? 3 : 2, false);
    CAPTURE(c.sizes, c.kernel, c.stride, c.padding, c.ceil);
    for (int layout = 0; layout < 3; ++layout) {
      check_average<float>(rng, c, layout);
      check_average<Half>(rng, c, layout);
    }
    check_average<double>(rng, c, 2);
  }
}

TEST_CASE("adaptive average pooling covers the input evenly") {
  Rng rng(3);
  for (const auto& [in, out] : {std::pair{7, 3}, {3, 7}, {12, 4}, {5, 1}, {1, 5}, {4, 0}}) {
    for (int layout = 0; layout < 2; ++layout) {
      const Sizes sizes{2, 70, in, 2}, results{2, 70, out, 3};
      const TensorBase self = make<float>(rng, sizes, layout), grad = make<float>(rng, results, layout);
      TensorBase result = make<float>(rng, results, layout), grad_input = make<float>(rng, sizes, layout);
      cpu::_adaptive_avg_pool2d(self, Sizes{out, 3}, result);
      cpu::_adaptive_avg_pool2d_backward(grad, self, grad_input);
      const auto span = [](std::int64_t o, std::int64_t from, std::int64_t to) {
        return std::pair{o * from / to, ((o + 1) * from + to - 1) / to};
      };
      std::map<Sizes, double> sums;
      each_index(results, [&](const Sizes& o) {
        const auto [a, b] = span(o[2], in, out);
        const auto [x, y] = span(o[3], 2, 3);
        const auto count = static_cast<double>((b - a) * (y - x));
        double sum = 0;
        for (std::int64_t i = a; i < b; ++i) {
          for (std::int64_t j = x; j < y; ++j) {
            sum += static_cast<double>(element<float>(self, {o[0], o[1], i, j}));
            sums[{o[0], o[1], i, j}] += static_cast<double>(element<float>(grad, o)) / count;
          }
        }
        REQUIRE(close(element<float>(result, o), sum / count));
      });
      each_index(sizes, [&](const Sizes& i) { REQUIRE(close(element<float>(grad_input, i), sums[i])); });
    }
  }
}

TEST_CASE("pooling of nothing takes no time, however many windows there are") {
  const TensorBase self = make_tensor({0, 1, 3, 3}, kFloat, DeviceType::CPU);
  const std::int64_t many = std::int64_t{1} << 40;
  TensorBase out = make_tensor({0, 1, many, 1}, kFloat, DeviceType::CPU);
  cpu::_adaptive_avg_pool2d(self, {many, 1}, out);
  cpu::avg_pool2d(self, {1}, {}, {0}, false, true, {}, out);
  // The gradient of no windows is zero.
  const TensorBase none = make_tensor({1, 1, many, 0}, kFloat, DeviceType::CPU);
  TensorBase gradient = make_tensor({1, 1, 2, 1}, kFloat, DeviceType::CPU);
  gradient.data_ptr<float>()[0] = gradient.data_ptr<float>()[1] = 7;
  cpu::_adaptive_avg_pool2d_backward(none, gradient, gradient);
  CHECK(gradient.data_ptr<float>()[0] == 0);
  CHECK(gradient.data_ptr<float>()[1] == 0);
}
