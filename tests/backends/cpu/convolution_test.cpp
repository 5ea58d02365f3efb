#include <keyway/backends/cpu/kernels_convolution.h>
#include <keyway/tests/backends/cpu/random_tensor.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

#include <functional>
#include <map>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct ConvolutionCase {
  Sizes in;                                                               // spatial sizes
  Sizes kernel;                                                           // as many
  std::int64_t batch = 1, groups = 1, in_channels = 1, out_channels = 1;  // channels of all groups
  Sizes stride{1}, padding{0}, dilation{1};
  bool transposed = false;
  Sizes output_padding{0};

  std::int64_t at(const Sizes& list, std::size_t d) const { return list[list.size() == 1 ? 0 : d]; }
  Sizes out() const {
    Sizes sizes;
    for (std::size_t d = 0; d < in.size(); ++d) {
      const std::int64_t reach = at(dilation, d) * (kernel[d] - 1) + 1, pad = 2 * at(padding, d);
      sizes.push_back(transposed ? (in[d] - 1) * at(stride, d) - pad + reach + at(output_padding, d)
                                 : (in[d] + pad - reach) / at(stride, d) + 1);
    }
    return sizes;
  }
  static Sizes joined(Sizes first, const Sizes& rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  }
  Sizes input_sizes() const { return joined({batch, in_channels}, in); }
  Sizes output_sizes() const { return joined({batch, out_channels}, out()); }
  Sizes weight_sizes() const {
    return transposed ? joined({in_channels, out_channels / groups}, kernel)
                      : joined({out_channels, in_channels / groups}, kernel);
  }
};

// Calls f(index in input, index in weight, index in output) for each product in the definition of a convolution.
template <typename F>
void each_term(const ConvolutionCase& c, const F& f) {
  const Sizes out = c.out();
  const Sizes& small = c.transposed ? c.in : out;  // where windows are counted
  const Sizes& large = c.transposed ? out : c.in;  // what they look at
  const std::int64_t gi = c.in_channels / c.groups, go = c.out_channels / c.groups;
  each_index(ConvolutionCase::joined({c.batch, c.groups, gi, go}, ConvolutionCase::joined(small, c.kernel)),
             [&](const Sizes& x) {
               const std::size_t rank = c.in.size();
               Sizes near(rank), far(rank), tap(rank);
               for (std::size_t d = 0; d < rank; ++d) {
                 near[d] = x[4 + d];
                 tap[d] = x[4 + rank + d];
                 far[d] = near[d] * c.at(c.stride, d) - c.at(c.padding, d) + tap[d] * c.at(c.dilation, d);
                 if (far[d] < 0 || far[d] >= large[d]) return;
               }
               const std::int64_t in = x[1] * gi + x[2], result = x[1] * go + x[3];
               f(ConvolutionCase::joined({x[0], in}, c.transposed ? near : far),
                 c.transposed ? ConvolutionCase::joined({in, x[3]}, tap) : ConvolutionCase::joined({result, x[2]}, tap),
                 ConvolutionCase::joined({x[0], result}, c.transposed ? far : near));
             });
}

template <typename T>
using Wide = std::conditional_t<kIsComplex<T>, complex<double>, double>;
template <typename T>
using Sums = std::map<Sizes, Wide<T>>;

template <typename T>
void check_sums(const TensorBase& got, const Sums<T>& sums) {
  each_index(Sizes(got.sizes().begin(), got.sizes().end()), [&](const Sizes& index) {
    const auto found = sums.find(index);
    const T expected = found == sums.end() ? T(0) : static_cast<T>(found->second);
    const T value = element<T>(got, index);
    if (value != expected) {
      CAPTURE(index, got.sizes(), got.strides());
      REQUIRE(value == expected);
    }
  });
}

enum class Memory { Rows, ChannelsLast, Any };

template <typename T>
TensorBase make(Rng& rng, const Sizes& sizes, Memory memory, Expand expand = Expand::No) {
  const ScalarType dtype = cpp_type_to_scalar_type<T>;
  const bool last = memory == Memory::ChannelsLast && (sizes.size() == 4 || sizes.size() == 5);
  const MemoryFormat format = sizes.size() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
  TensorBase tensor = memory == Memory::Any ? random_geometry(rng, sizes, dtype, expand)
                      : last ? make_tensor_strided(sizes, strides_for(sizes, format), dtype, DeviceType::CPU)
                             : make_tensor(sizes, dtype, DeviceType::CPU);
  fill_storage<T>(tensor, [&] { return small_value<T>(rng, -2, 2); });
  return tensor;
}

template <typename T>
void check(Rng& rng, const ConvolutionCase& c, Memory memory) {
  const TensorBase x = make<T>(rng, c.input_sizes(), memory, Expand::Yes);
  const TensorBase w = make<T>(rng, c.weight_sizes(), memory, Expand::Yes);
  const TensorBase grad = make<T>(rng, c.output_sizes(), memory, Expand::Yes);
  const bool with_bias = random_int(rng, 0, 1) == 1;
  const TensorBase bias = with_bias ? make<T>(rng, {c.out_channels}, Memory::Any) : TensorBase();
  TensorBase out = make<T>(rng, c.output_sizes(), memory);
  cpu::convolution(x, w, bias, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups, out);
  TensorBase gx = make<T>(rng, c.input_sizes(), memory), gw = make<T>(rng, c.weight_sizes(), memory);
  TensorBase gb = make<T>(rng, {c.out_channels}, Memory::Any);
  const bool mask[] = {true, true, true};
  cpu::convolution_backward(grad, x, w, {}, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups,
                            mask, gx, gw, gb);
  const auto wide = [](T value) { return static_cast<Wide<T>>(value); };
  Sums<T> y_sums, x_sums, w_sums, b_sums;
  each_term(c, [&](const Sizes& i, const Sizes& k, const Sizes& o) {
    const Wide<T> g = wide(element<T>(grad, o));
    y_sums[o] = y_sums[o] + wide(element<T>(x, i)) * wide(element<T>(w, k));
    x_sums[i] = x_sums[i] + g * wide(element<T>(w, k));
    w_sums[k] = w_sums[k] + g * wide(element<T>(x, i));
  });
  each_index(c.output_sizes(), [&](const Sizes& o) {
    b_sums[{o[1]}] = b_sums[{o[1]}] + wide(element<T>(grad, o));
    if (with_bias) y_sums[o] = y_sums[o] + wide(element<T>(bias, {o[1]}));
  });
  check_sums<T>(out, y_sums);
  check_sums<T>(gx, x_sums);
  check_sums<T>(gw, w_sums);
  check_sums<T>(gb, b_sums);
}

ConvolutionCase random_case(Rng& rng, std::size_t rank) {
  const auto list = [&](std::int64_t low, std::int64_t high) {
    Sizes sizes(random_int(rng, 0, 1) == 0 ? 1 : rank);
    for (std::int64_t& size : sizes) size = random_int(rng, low, high);
    return sizes;
  };
  for (;;) {
    ConvolutionCase c;
    c.batch = random_int(rng, 0, 9) == 0 ? 0 : random_int(rng, 1, 3);
    c.groups = random_int(rng, 1, 3);
    c.in_channels = c.groups * random_int(rng, 1, 3);
    c.out_channels = c.groups * random_int(rng, 1, 3);
    for (std::size_t d = 0; d < rank; ++d) {
      c.in.push_back(random_int(rng, 1, rank == 1 ? 33 : 7));
      c.kernel.push_back(random_int(rng, 1, 3));
    }
    c.stride = list(1, 3);
    c.padding = list(0, 2);
    c.dilation = list(1, 2);
    c.transposed = random_int(rng, 0, 1) == 1;
    bool fits = true;
    if (c.transposed) {
      c.output_padding = list(0, 1);
      for (std::size_t d = 0; d < rank; ++d) {
        fits = fits && c.at(c.output_padding, d) < std::max(c.at(c.stride, d), c.at(c.dilation, d));
      }
    }
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t room = c.in[d] + 2 * c.at(c.padding, d) - c.at(c.dilation, d) * (c.kernel[d] - 1) - 1;
      fits = fits && (c.transposed || room >= 0);
    }
    for (const std::int64_t size : c.out()) fits = fits && size > 0;
    if (fits) return c;
  }
}

}  // namespace

TEST_CASE("convolutions and their gradients are exact on small numbers, in every rank and layout") {
  Rng rng(1);
  for (int i = 0; i < 45; ++i) {
    const ConvolutionCase c = random_case(rng, static_cast<std::size_t>(i % 3) + 1);
    CAPTURE(c.in, c.kernel, c.batch, c.groups, c.in_channels, c.out_channels, c.stride, c.padding, c.dilation,
            c.transposed, c.output_padding);
    for (const Memory memory : {Memory::Rows, Memory::ChannelsLast, Memory::Any}) {
      check<float>(rng, c, memory);
      check<double>(rng, c, memory);
    }
    check<BFloat16>(rng, c, Memory::Rows);
    check<Half>(rng, c, Memory::ChannelsLast);
    check<complex<double>>(rng, c, Memory::Any);
    check<complex<float>>(rng, c, Memory::ChannelsLast);
  }
}

namespace {

// Result and gradients, all row-major, of small numbers that do not depend on the dtype.
template <typename T>
std::vector<std::vector<double>> compute(const ConvolutionCase& c, Memory memory) {
  Rng rng(7);
  const TensorBase x = make<T>(rng, c.input_sizes(), memory), w = make<T>(rng, c.weight_sizes(), memory);
  const TensorBase grad = make<T>(rng, c.output_sizes(), memory), bias = make<T>(rng, {c.out_channels}, memory);
  TensorBase out = make<T>(rng, c.output_sizes(), memory), gx = make<T>(rng, c.input_sizes(), memory);
  TensorBase gw = make<T>(rng, c.weight_sizes(), memory), gb = make<T>(rng, {c.out_channels}, memory);
  const bool mask[] = {true, true, true};
  cpu::convolution(x, w, bias, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups, out);
  cpu::convolution_backward(grad, x, w, {}, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups,
                            mask, gx, gw, gb);
  std::vector<std::vector<double>> results;
  for (const TensorBase& tensor : {out, gx, gw, gb}) {
    std::vector<double> values;
    each_index(Sizes(tensor.sizes().begin(), tensor.sizes().end()),
               [&](const Sizes& index) { values.push_back(static_cast<double>(element<T>(tensor, index))); });
    results.push_back(std::move(values));
  }
  return results;
}

}  // namespace

// The oracle is the double path, which other tests hold against the definition and which shares no loop with float's.
TEST_CASE("convolutions are cut into parts by image, group or channel") {
  const WithThreads threads(3);
  ConvolutionCase images{
      .in = {20, 21}, .kernel = {3, 3}, .batch = 11, .in_channels = 16, .out_channels = 24, .padding = {1}};
  ConvolutionCase channels{
      .in = {20, 21}, .kernel = {3, 3}, .batch = 1, .in_channels = 40, .out_channels = 72, .padding = {1}};
  ConvolutionCase groups{.in = {30, 31},
                         .kernel = {3, 3},
                         .batch = 2,
                         .groups = 36,
                         .in_channels = 72,
                         .out_channels = 36,
                         .padding = {1}};
  for (ConvolutionCase& c : {std::ref(images), std::ref(channels), std::ref(groups)}) {
    for (const bool transposed : {false, true}) {
      c.transposed = transposed;
      for (const Memory memory : {Memory::Rows, Memory::ChannelsLast}) {
        REQUIRE((compute<float>(c, memory) == compute<double>(c, memory)));
      }
    }
  }
}

TEST_CASE("convolutions without channels are zero, or the bias") {
  Rng rng(3);
  const TensorBase x = make<float>(rng, {2, 0, 4}, Memory::Rows), w = make<float>(rng, {3, 0, 2}, Memory::Rows);
  const TensorBase bias = make<float>(rng, {3}, Memory::Rows);
  TensorBase out = make<float>(rng, {2, 3, 3}, Memory::Rows);
  cpu::convolution(x, w, bias, {1}, {0}, {1}, false, {0}, 1, out);
  each_index({2, 3, 3}, [&](const Sizes& i) { REQUIRE(element<float>(out, i) == element<float>(bias, {i[1]})); });
}

TEST_CASE("convolutions are equal for any number of threads") {
  Rng rng(4);
  std::normal_distribution<float> normal;
  const Sizes sizes{4, 32, 28, 28}, kernel{32, 32, 3, 3};
  const TensorBase x = make_tensor(sizes, kFloat, DeviceType::CPU), w = make_tensor(kernel, kFloat, DeviceType::CPU);
  fill_storage<float>(x, [&] { return normal(rng); });
  fill_storage<float>(w, [&] { return normal(rng); });
  std::vector<TensorBase> results[2];
  for (const int threads : {1, 5}) {
    const WithThreads with(threads);
    TensorBase out = make_tensor(sizes, kFloat, DeviceType::CPU), gx = make_tensor(sizes, kFloat, DeviceType::CPU);
    TensorBase gw = make_tensor(kernel, kFloat, DeviceType::CPU), gb = make_tensor(Sizes{32}, kFloat, DeviceType::CPU);
    cpu::convolution(x, w, {}, {1}, {1}, {1}, false, {0}, 1, out);
    const bool mask[] = {true, true, true};
    cpu::convolution_backward(x, x, w, {}, {1}, {1}, {1}, false, {0}, 1, mask, gx, gw, gb);
    results[threads == 1 ? 0 : 1] = {out, gx, gw, gb};
  }
  for (std::size_t i = 0; i < 4; ++i) REQUIRE(storage_bytes(results[0][i]) == storage_bytes(results[1][i]));
}
