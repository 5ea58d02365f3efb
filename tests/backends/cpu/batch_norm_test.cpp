#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/kernels_normalization.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct Reference {
  std::vector<double> out, mean, var;
};

// Of row-major [N, C, positions].
Reference batch_norm(const std::vector<double>& x, std::size_t channels, std::size_t positions,
                     const std::vector<double>& weight, const std::vector<double>& bias, double eps) {
  Reference r{std::vector<double>(x.size()), std::vector<double>(channels), std::vector<double>(channels)};
  const double n = static_cast<double>(x.size() / std::max<std::size_t>(1, channels));
  const auto channel = [&](std::size_t i) { return i / positions % channels; };
  for (std::size_t i = 0; i < x.size(); ++i) r.mean[channel(i)] += x[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = x[i] - r.mean[channel(i)];
    r.var[channel(i)] += d * d / n;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = channel(i);
    const double normal = (x[i] - r.mean[c]) / std::sqrt(r.var[c] + eps);
    r.out[i] = normal * (weight.empty() ? 1 : weight[c]) + (bias.empty() ? 0 : bias[c]);
  }
  return r;
}

ScalarType wide(ScalarType dtype) { return dtype == kDouble ? kDouble : kFloat; }

std::vector<double> values_or_none(const TensorBase& tensor) {
  return tensor.defined() ? values_of(tensor) : std::vector<double>();
}

std::size_t spatial_numel(const Sizes& sizes) {
  std::size_t positions = 1;
  for (std::size_t d = 2; d < sizes.size(); ++d) positions *= static_cast<std::size_t>(sizes[d]);
  return positions;
}

// The same elements with the channels last in memory.
TensorBase channels_last(const TensorBase& x) {
  const DimVector sizes(x.sizes());
  const TensorBase copy =
      make_tensor_strided(sizes, strides_for(sizes, MemoryFormat::ChannelsLast), x.dtype(), x.device());
  copy_elements(x, copy);
  return copy;
}

}  // namespace

TEST_CASE("_batch_norm_forward is right for any strides, dtypes and sizes") {
  Rng rng(1);
  for (int round = 0; round < 120; ++round) {
    const ScalarType dtype = kFloatings[round % 4];
    Sizes sizes = random_sizes(rng, random_int(rng, 2, 5), 600);
    if (round % 6 == 0) sizes = {3, 70, 5, 2};
    const std::int64_t channels = sizes[1];
    const bool last = round % 6 == 0 && round % 12 == 0;
    TensorBase x = random_reals(rng, sizes, dtype);
    TensorBase out = random_out(rng, sizes, dtype);
    if (last) {
      x = channels_last(x);
      out = channels_last(out);
    }
    const TensorBase weight = round % 3 == 0 ? TensorBase() : random_reals(rng, {channels}, dtype);
    const TensorBase bias = round % 5 == 0 ? TensorBase() : random_reals(rng, {channels}, kFloat);
    TensorBase mean = random_out(rng, {channels}, wide(dtype)), var = random_out(rng, {channels}, wide(dtype));
    cpu::_batch_norm_forward(x, weight, bias, 1e-3, out, mean, var);
    if (x.numel() == 0) continue;
    const Reference expected = batch_norm(values_of(x), static_cast<std::size_t>(channels), spatial_numel(sizes),
                                          values_or_none(weight), values_or_none(bias), 1e-3);
    INFO("round " << round);
    REQUIRE(all_close(out, expected.out, 8 * tolerance_of(dtype)));
    REQUIRE(all_close(mean, expected.mean, 4 * tolerance_of(wide(dtype))));
    REQUIRE(all_close(var, expected.var, 4 * tolerance_of(wide(dtype))));
  }
}

TEST_CASE("_batch_norm_backward is the difference quotient of the forward call") {
  Rng rng(2);
  for (const Sizes& sizes : {Sizes{3, 2, 4}, Sizes{5, 3}, Sizes{2, 2, 2, 2}, Sizes{2, 17, 2, 2}, Sizes{4, 18}}) {
    const std::int64_t channels = sizes[1];
    const std::size_t c = static_cast<std::size_t>(channels), positions = spatial_numel(sizes);
    TensorBase x = random_reals(rng, sizes, kDouble), g = random_reals(rng, sizes, kDouble);
    const TensorBase weight = random_reals(rng, {channels}, kDouble);
    const std::vector<double> xs = values_of(x), gs = values_of(g), ws = values_of(weight), bs(c, 0.25);
    const Reference forward = batch_norm(xs, c, positions, ws, bs, 1e-3);
    const TensorBase mean = tensor_of<double>({channels}, forward.mean),
                     var = tensor_of<double>({channels}, forward.var);
    TensorBase dx = random_out(rng, sizes, kDouble), dw = random_out(rng, {channels}, kDouble),
               db = random_out(rng, {channels}, kDouble);
    if (sizes.size() == 4) {
      x = channels_last(x);
      g = channels_last(g);
      dx = channels_last(dx);
    }
    const bool mask[] = {true, true, true};
    cpu::_batch_norm_backward(g, x, mean, var, weight, 1e-3, mask, dx, dw, db);

    const auto loss = [&](const std::vector<double>& a, const std::vector<double>& w, const std::vector<double>& b) {
      const Reference r = batch_norm(a, c, positions, w, b, 1e-3);
      double sum = 0;
      for (std::size_t i = 0; i < r.out.size(); ++i) sum += r.out[i] * gs[i];
      return sum;
    };
    const auto slopes = [&](std::vector<double> at, const auto& of) {
      std::vector<double> out;
      for (double& v : at) {
        const double kept = v;
        v = kept + 1e-6;
        const double up = of(at);
        v = kept - 1e-6;
        out.push_back((up - of(at)) / 2e-6);
        v = kept;
      }
      return out;
    };
    CHECK(all_close(dx, slopes(xs, [&](const auto& v) { return loss(v, ws, bs); }), 1e-6));
    CHECK(all_close(dw, slopes(ws, [&](const auto& v) { return loss(xs, v, bs); }), 1e-6));
    CHECK(all_close(db, slopes(bs, [&](const auto& v) { return loss(xs, ws, v); }), 1e-6));
  }
}

TEST_CASE("_batch_norm_backward leaves out what the mask leaves out, and depends neither on threads nor on the level") {
  Rng rng(3);
  for (const Sizes& sizes : {Sizes{7, 130, 9}, Sizes{300, 130}}) {
    const TensorBase x = random_reals(rng, sizes, kFloat), g = random_reals(rng, sizes, kFloat);
    const TensorBase mean = random_reals(rng, {130}, kFloat), var = random_reals(rng, {130}, kFloat, 0.5, 2);
    std::vector<char> first;
    for (const int threads : {1, 2, 5}) {
      const WithThreads with(threads);
      at_each_loop_level([&] {
        TensorBase none, dw = make_tensor({130}, kFloat, DeviceType::CPU), other;
        const bool mask[] = {false, true, false};
        cpu::_batch_norm_backward(g, x, mean, var, {}, 1e-5, mask, none, dw, other);
        if (first.empty()) first = storage_bytes(dw);
        CHECK(storage_bytes(dw) == first);
      });
    }
  }
}
