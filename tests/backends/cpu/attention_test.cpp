#include <keyway/backends/cpu/kernels_attention.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/tests/backends/cpu/kernel_data.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Problem {
  std::int64_t examples, heads, served, queries, keys, width, values;
  Sizes query_sizes() const { return {examples, heads, queries, width}; }
  Sizes key_sizes() const { return {examples, served, keys, width}; }
  Sizes value_sizes() const { return {examples, served, keys, values}; }
  Sizes output_sizes() const { return {examples, heads, queries, values}; }
  Sizes log_sizes() const { return {examples, heads, queries}; }
};

// Offsets of a tensor of four dimensions in the order of values_of.
struct At {
  Sizes sizes;
  std::size_t operator()(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) const {
    return static_cast<std::size_t>(((a * sizes[1] + b) * sizes[2] + c) * sizes[3] + d);
  }
};

struct Expected {
  std::vector<double> output, logsumexp, grad_query, grad_key, grad_value;
};

// By loops over doubles, a query after the other.
Expected by_loops(const Problem& of, const TensorBase& query, const TensorBase& key, const TensorBase& value,
                  const TensorBase& mask, bool is_causal, double scale, const TensorBase& grad) {
  const std::vector<double> q = values_of(query), k = values_of(key), v = values_of(value), g = values_of(grad);
  const At at_q{of.query_sizes()}, at_k{of.key_sizes()}, at_v{of.value_sizes()}, at_o{of.output_sizes()};
  Expected result{std::vector<double>(g.size()),
                  {},
                  std::vector<double>(q.size()),
                  std::vector<double>(k.size()),
                  std::vector<double>(v.size())};
  each_index(of.log_sizes(), [&](const Sizes& index) {
    const std::int64_t n = index[0], h = index[1], i = index[2], s = h / (of.heads / of.served);
    std::vector<double> p;
    for (std::int64_t j = 0; j < of.keys; ++j) {
      double score = 0;
      for (std::int64_t e = 0; e < of.width; ++e) score += q[at_q(n, h, i, e)] * k[at_k(n, s, j, e)];
      score *= scale;
      if (mask.defined()) {
        Sizes of_mask{n, h, i, j};
        for (std::size_t d = 0; d < 4; ++d) of_mask[d] = mask.sizes()[d] == 1 ? 0 : of_mask[d];
        if (mask.dtype() != kBool) score += value_at(mask, of_mask);
        if (mask.dtype() == kBool && !element<bool>(mask, of_mask)) score = -kInfinity;
      }
      p.push_back(is_causal && j > i ? -kInfinity : score);
    }
    const double top = p.empty() ? -kInfinity : *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& x : p) sum += x = top == -kInfinity ? 0 : std::exp(x - top);
    result.logsumexp.push_back(sum == 0 ? kInfinity : top + std::log(sum));
    std::vector<double> slopes;
    double expected = 0;
    for (std::int64_t j = 0; j < of.keys; ++j) {
      double& weight = p[static_cast<std::size_t>(j)];
      weight = sum == 0 ? 0 : weight / sum;
      double slope = 0;
      for (std::int64_t x = 0; x < of.values; ++x) {
        const double go = g[at_o(n, h, i, x)];
        result.output[at_o(n, h, i, x)] += weight * v[at_v(n, s, j, x)];
        result.grad_value[at_v(n, s, j, x)] += weight * go;
        slope += go * v[at_v(n, s, j, x)];
      }
      slopes.push_back(slope);
      expected += weight * slope;
    }
    for (std::int64_t j = 0; j < of.keys; ++j) {
      const auto x = static_cast<std::size_t>(j);
      const double ds = scale * p[x] * (slopes[x] - expected);
      for (std::int64_t e = 0; e < of.width; ++e) {
        result.grad_query[at_q(n, h, i, e)] += ds * k[at_k(n, s, j, e)];
        result.grad_key[at_k(n, s, j, e)] += ds * q[at_q(n, h, i, e)];
      }
    }
  });
  return result;
}

Problem random_problem(Rng& rng, bool is_long) {
  const std::int64_t served = random_int(rng, 1, 3);
  return {random_int(rng, 1, 2),
          served * random_int(rng, 1, 2),
          served,
          is_long ? random_int(rng, 100, 300) : random_int(rng, 0, 20),
          is_long ? random_int(rng, 400, 1100) : random_int(rng, 0, 40),
          random_int(rng, 1, 20),
          random_int(rng, 1, 20)};
}

TensorBase random_mask(Rng& rng, const Problem& of, ScalarType dtype) {
  Sizes sizes{of.examples, of.heads, of.queries, of.keys};
  for (std::int64_t& size : sizes) size = random_int(rng, 0, 2) == 0 ? 1 : size;
  if (dtype != kBool) return random_reals(rng, sizes, dtype);
  const TensorBase mask = random_geometry(rng, sizes, kBool);
  fill_storage<bool>(mask, [&] { return random_int(rng, 0, 3) != 0; });
  return mask;
}

}  // namespace

TEST_CASE("attention and its gradients are those of loops over doubles, of every dtype, geometry and mask") {
  Rng rng(7);
  for (int round = 0; round < 150; ++round) {
    const ScalarType dtype = kFloatings[round % 4];
    const Problem of = random_problem(rng, round % 15 == 14);
    const bool is_causal = round % 3 == 0;
    const double scale = round % 2 == 0 ? 0.3 : 0.125;
    TensorBase mask;
    if (round % 3 == 1) mask = random_mask(rng, of, round % 2 == 0 ? kBool : dtype);
    INFO(to_string(dtype) << ", " << of.examples << " of " << of.heads << " heads on " << of.served << ", "
                          << of.queries << " queries and " << of.keys << " keys of " << of.width << ", " << of.values
                          << ", round " << round);
    const TensorBase query = random_reals(rng, of.query_sizes(), dtype), key = random_reals(rng, of.key_sizes(), dtype);
    const TensorBase value = random_reals(rng, of.value_sizes(), dtype),
                     grad = random_reals(rng, of.output_sizes(), dtype, -1, 1);
    const Expected expected = by_loops(of, query, key, value, mask, is_causal, scale, grad);

    const ScalarType wide = dtype == kDouble ? kDouble : kFloat;
    TensorBase output = random_out(rng, of.output_sizes(), dtype), logsumexp = random_out(rng, of.log_sizes(), wide);
    cpu::_scaled_dot_product_attention_forward(query, key, value, mask, is_causal, scale, output, logsumexp);
    const double tolerance = 4 * tolerance_of(dtype);
    REQUIRE(all_close(output, expected.output, tolerance));
    REQUIRE(all_close(logsumexp, expected.logsumexp, 10 * tolerance_of(wide)));

    TensorBase grads[] = {random_out(rng, of.query_sizes(), dtype), random_out(rng, of.key_sizes(), dtype),
                          random_out(rng, of.value_sizes(), dtype)};
    cpu::_scaled_dot_product_attention_backward(grad, query, key, value, mask, is_causal, scale, output, logsumexp,
                                                grads[0], grads[1], grads[2]);
    // Of 16 bits the result that the gradient is told is rounded.
    REQUIRE(all_close(grads[0], expected.grad_query, 10 * tolerance));
    REQUIRE(all_close(grads[1], expected.grad_key, 10 * tolerance));
    REQUIRE(all_close(grads[2], expected.grad_value, 10 * tolerance));
  }
}

TEST_CASE("attention does not depend on how many threads there are") {
  Rng rng(8);
  const Problem of{1, 2, 1, 700, 900, 16, 24};
  const TensorBase query = random_reals(rng, of.query_sizes(), kFloat), key = random_reals(rng, of.key_sizes(), kFloat);
  const TensorBase value = random_reals(rng, of.value_sizes(), kFloat),
                   grad = random_reals(rng, of.output_sizes(), kFloat);
  std::vector<std::vector<double>> results;
  const int before = get_num_threads();
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    TensorBase output = random_out(rng, of.output_sizes(), kFloat), logsumexp = random_out(rng, of.log_sizes(), kFloat);
    TensorBase grads[] = {random_out(rng, of.query_sizes(), kFloat), random_out(rng, of.key_sizes(), kFloat),
                          random_out(rng, of.value_sizes(), kFloat)};
    cpu::_scaled_dot_product_attention_forward(query, key, value, {}, true, 0.25, output, logsumexp);
    cpu::_scaled_dot_product_attention_backward(grad, query, key, value, {}, true, 0.25, output, logsumexp, grads[0],
                                                grads[1], grads[2]);
    std::vector<double> all = values_of(output);
    for (const TensorBase& more : grads) {
      const std::vector<double> values = values_of(more);
      all.insert(all.end(), values.begin(), values.end());
    }
    results.push_back(std::move(all));
  }
  set_num_threads(before);
  CHECK(results[1] == results[0]);
  CHECK(results[2] == results[0]);
}

TEST_CASE("attention of scores that are infinite or no numbers is what softmax says") {
  const auto infinity = static_cast<float>(kInfinity);
  const TensorBase query = tensor_of<float>({1, 1, 1, 1}, {1}), value = tensor_of<float>({1, 1, 3, 1}, {1, 2, 4});
  const auto of_keys = [&](std::initializer_list<float> keys) {
    TensorBase output = tensor_of<float>({1, 1, 1, 1}, {7}), logsumexp = tensor_of<float>({1, 1, 1}, {7});
    cpu::_scaled_dot_product_attention_forward(query, tensor_of<float>({1, 1, 3, 1}, keys), value, {}, false, 1, output,
                                               logsumexp);
    return value_at(output, {0, 0, 0, 0});
  };
  CHECK(close(of_keys({1000, 1000, -1000}), 1.5, 1e-6));
  CHECK(close(of_keys({-infinity, 0, 0}), 3, 1e-6));
  CHECK(of_keys({-infinity, -infinity, -infinity}) == 0);
  CHECK(std::isnan(of_keys({0, infinity, 0})));
  CHECK(std::isnan(of_keys({0, std::numeric_limits<float>::quiet_NaN(), 0})));
}
