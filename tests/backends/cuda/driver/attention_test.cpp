// Attention and its gradients on CUDA, of each dtype, with masks, shared heads, and operands in any layout.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <limits>
#include <optional>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct Sides {
  std::int64_t examples, heads, served, queries, keys, width, values;
};

struct Operands {
  Tensor query, key, value, grad;
};

Operands make_operands(const Sides& of, ScalarType dtype) {
  const auto drawn = [&](std::int64_t heads, std::int64_t rows, std::int64_t columns) {
    return randn({of.examples, heads, rows, columns}, TensorOptions()).to(kCPU, dtype);
  };
  return {drawn(of.heads, of.queries, of.width), drawn(of.served, of.keys, of.width),
          drawn(of.served, of.keys, of.values), drawn(of.heads, of.queries, of.values)};
}

// As heads lie that are parts of a layer's results.
Tensor side_by_side(const Tensor& tensor) { return tensor.transpose(1, 2).contiguous().transpose(1, 2); }

void compare(const Operands& of, const std::optional<Tensor>& mask, bool is_causal, double scale) {
  const double tolerance = 4 * tolerance_of(of.query.dtype());
  const std::optional<Tensor> mask_there = mask ? std::optional<Tensor>(on_cuda(*mask)) : std::nullopt;
  const auto [output, logsumexp] =
      _scaled_dot_product_attention_forward(of.query, of.key, of.value, mask, is_causal, scale);
  const Tensor query = on_cuda(of.query), key = on_cuda(of.key), value = on_cuda(of.value);
  const auto [output_there, logsumexp_there] =
      _scaled_dot_product_attention_forward(query, key, value, mask_there, is_causal, scale);
  CHECK(is_close(output_there, output, tolerance));
  CHECK(is_close(logsumexp_there, logsumexp, tolerance));
  CHECK(output_there.strides() == output.strides());
  const auto [for_query, for_key, for_value] = _scaled_dot_product_attention_backward(
      of.grad, of.query, of.key, of.value, mask, is_causal, scale, output, logsumexp);
  const auto [query_there, key_there, value_there] = _scaled_dot_product_attention_backward(
      on_cuda(of.grad), query, key, value, mask_there, is_causal, scale, on_cuda(output), on_cuda(logsumexp));
  CHECK(is_close(query_there, for_query, 2 * tolerance));
  CHECK(is_close(key_there, for_key, 2 * tolerance));
  CHECK(is_close(value_there, for_value, 2 * tolerance));
}

}  // namespace

TEST_CASE("CUDA's attention is the CPU's, of each dtype, causal or not, with heads that share keys, in any layout") {
  if (!has_products()) return;
  manual_seed(5);
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (const Sides& of : {Sides{2, 4, 2, 7, 9, 5, 6}, Sides{1, 2, 1, 70, 130, 32, 32}, Sides{1, 1, 1, 3, 2100, 8, 8},
                            Sides{1, 3, 3, 1, 64, 64, 48}, Sides{1, 2, 2, 65, 65, 16, 80}}) {
      for (const bool is_causal : {false, true}) {
        INFO(to_string(dtype) << ", " << of.heads << " heads on " << of.served << ", " << of.queries << " queries and "
                              << of.keys << " keys of " << of.width << ", " << of.values << ", causal " << is_causal);
        const Operands c = make_operands(of, dtype);
        compare(c, std::nullopt, is_causal, 0.25);
        compare({side_by_side(c.query), side_by_side(c.key), side_by_side(c.value), side_by_side(c.grad)}, std::nullopt,
                is_causal, 0.25);
      }
    }
  }
}

TEST_CASE("CUDA's attention adds masks of numbers, leaves out what masks of bools do, and gives zeros where all is") {
  if (!has_products()) return;
  manual_seed(6);
  for (const ScalarType dtype : {kFloat, kHalf}) {
    const Operands c = make_operands({2, 4, 2, 33, 70, 16, 16}, dtype);
    for (const Sizes& sizes : {Sizes{2, 4, 33, 70}, Sizes{1, 1, 33, 70}, Sizes{2, 1, 1, 70}, Sizes{1, 4, 33, 1}}) {
      INFO(to_string(dtype) << ", " << sizes[0] << " x " << sizes[1] << " x " << sizes[2] << " x " << sizes[3]);
      compare(c, randn(sizes, TensorOptions()).to(kCPU, dtype), false, 0.3);
      const Tensor seen = rand(sizes, TensorOptions()) > 0.4;
      seen.select(0, 0).select(0, 0).select(0, 0).fill_(false);
      compare(c, seen, false, 0.3);
      compare(c, seen.transpose(2, 3).contiguous().transpose(2, 3), false, 0.3);
    }
  }
}

TEST_CASE("CUDA's attention of scores that are infinite or no numbers is the CPU's, and of nothing too") {
  if (!has_products()) return;
  const double inf = std::numeric_limits<double>::infinity();
  for (const double value : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
    Operands c = make_operands({1, 1, 1, 3, 5, 1, 2}, kFloat);
    c.query.fill_(1.0);
    c.key.select(2, 1).fill_(value);
    compare(c, std::nullopt, true, 1);
  }
  for (const Sides& of : {Sides{0, 2, 2, 3, 4, 5, 6}, Sides{1, 2, 2, 0, 4, 5, 6}, Sides{1, 2, 2, 3, 0, 5, 6},
                          Sides{1, 2, 2, 3, 4, 5, 0}, Sides{1, 0, 2, 3, 4, 5, 6}}) {
    compare(make_operands(of, kFloat), std::nullopt, false, 1);
  }
}
