// Attention and its gradients on CUDA, of each dtype, with masks, shared heads, and operands in any layout.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <limits>
#include <optional>
#include <vector>

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
      if (of.keys > 2048 && (dtype == kHalf || dtype == kBFloat16)) continue;  // no long rows of scores there
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

TEST_CASE("CUDA's attention by tensor cores is the CPU's for all widths, several tiles, and heads that share keys") {
  if (!has_products()) return;
  manual_seed(7);
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    for (const Sides& of :
         {Sides{1, 1, 1, 1, 1, 1, 1}, Sides{1, 2, 1, 17, 33, 3, 128}, Sides{2, 1, 1, 64, 64, 64, 64},
          Sides{1, 2, 1, 66, 150, 128, 7}, Sides{1, 1, 1, 130, 40, 72, 96}, Sides{1, 3, 1, 9, 70, 33, 64},
          Sides{1, 1, 1, 3, 2100, 130, 8}, Sides{1, 2, 1, 5, 9, 8, 130}, Sides{2, 4, 2, 1, 129, 64, 64}}) {
      for (const bool is_causal : {false, true}) {
        INFO(to_string(dtype) << ", " << of.heads << " heads on " << of.served << ", " << of.queries << " queries and "
                              << of.keys << " keys of " << of.width << ", " << of.values << ", causal " << is_causal);
        compare(make_operands(of, dtype), std::nullopt, is_causal, 0.2);
      }
    }
  }
}

TEST_CASE("CUDA's attention by tensor cores reads rows that are no pieces of 16 bytes, and elements that lie apart") {
  if (!has_products()) return;
  manual_seed(8);
  const Operands c = make_operands({2, 2, 1, 20, 70, 16, 24}, kHalf);
  const auto turned = [](const Tensor& tensor) { return tensor.transpose(2, 3).contiguous().transpose(2, 3); };
  compare({turned(c.query), turned(c.key), turned(c.value), turned(c.grad)}, std::nullopt, true, 0.3);
  // Rows of 17 and 25, of which the first element is not used.
  const auto behind_one = [](const Tensor& tensor) {
    return cat({tensor.narrow(3, 0, 1), tensor}, 3).narrow(3, 1, tensor.sizes()[3]);
  };
  compare({behind_one(c.query), behind_one(c.key), behind_one(c.value), behind_one(c.grad)}, std::nullopt, true, 0.3);
  // One key for all queries, over and over.
  const Tensor key = c.key.narrow(2, 0, 1), value = c.value.narrow(2, 0, 1);
  const auto repeated = [](const Tensor& row) { return row.expand({2, 1, 70, row.sizes()[3]}); };
  const auto [output, logsumexp] =
      _scaled_dot_product_attention_forward(c.query, repeated(key), repeated(value), std::nullopt, false, 0.3);
  const auto [output_there, logsumexp_there] = _scaled_dot_product_attention_forward(
      on_cuda(c.query), repeated(on_cuda(key)), repeated(on_cuda(value)), std::nullopt, false, 0.3);
  CHECK(is_close(output_there, output, tolerance_of(kHalf)));
  CHECK(is_close(logsumexp_there, logsumexp, tolerance_of(kHalf)));
}

TEST_CASE("CUDA's attention by tensor cores takes scales of any sign, and scores far from zero") {
  if (!has_products()) return;
  manual_seed(9);
  const Operands c = make_operands({1, 1, 1, 20, 40, 16, 16}, kBFloat16);
  for (const double scale : {0.0, -0.5, 8.0}) {
    INFO("scale " << scale);
    compare(c, std::nullopt, true, scale);
    compare(c, rand({20, 40}, TensorOptions()).gt(0.5).view({1, 1, 20, 40}), false, scale);
  }
}

TEST_CASE("CUDA's attention by tensor cores has the same bits each time") {
  if (!has_products()) return;
  manual_seed(10);
  const Operands c = make_operands({1, 2, 1, 70, 70, 24, 24}, kHalf);
  const Tensor query = on_cuda(c.query), key = on_cuda(c.key), value = on_cuda(c.value), grad = on_cuda(c.grad);
  const auto run = [&] {
    const auto [output, logsumexp] = _scaled_dot_product_attention_forward(query, key, value, std::nullopt, true, 0.2);
    const auto [for_query, for_key, for_value] =
        _scaled_dot_product_attention_backward(grad, query, key, value, std::nullopt, true, 0.2, output, logsumexp);
    std::vector<Tensor> all;
    for (const Tensor& one : {output, logsumexp, for_query, for_key, for_value})
      all.push_back(one.to(kCPU, one.dtype()));
    return all;
  };
  const std::vector<Tensor> once = run(), again = run();
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(same_bits(again[i], once[i]));
}

TEST_CASE("CUDA's attention adds masks of numbers, leaves out what masks of bools do, and gives zeros where all is") {
  if (!has_products()) return;
  manual_seed(6);
  for (const ScalarType dtype : {kFloat, kHalf}) {
    const Operands c = make_operands({2, 2, 1, 19, 70, 16, 16}, dtype);
    for (const Sizes& sizes :
         {Sizes{2, 2, 19, 70}, Sizes{1, 1, 19, 70}, Sizes{2, 1, 1, 70}, Sizes{1, 2, 19, 1}, Sizes{1, 1, 1, 1}}) {
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
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16}) {
    for (const double value : {inf, -inf, std::numeric_limits<double>::quiet_NaN()}) {
      INFO(to_string(dtype) << ", " << value);
      Operands c = make_operands({1, 1, 1, 3, 5, 1, 2}, dtype);
      c.query.fill_(1.0);
      c.key.select(2, 1).fill_(value);
      compare(c, std::nullopt, true, 1);
      Tensor added = zeros({1, 1, 3, 5}, TensorOptions().dtype(dtype));
      added.select(2, 1).select(2, 3).fill_(value);
      compare(make_operands({1, 1, 1, 3, 5, 1, 2}, dtype), added, false, 1);
    }
  }
  for (const Sides& of : {Sides{0, 2, 2, 3, 4, 5, 6}, Sides{1, 2, 2, 0, 4, 5, 6}, Sides{1, 2, 2, 3, 0, 5, 6},
                          Sides{1, 2, 2, 3, 4, 5, 0}, Sides{1, 0, 2, 3, 4, 5, 6}, Sides{1, 2, 2, 3, 4, 0, 6}}) {
    compare(make_operands(of, kFloat), std::nullopt, false, 1);
    compare(make_operands(of, kHalf), std::nullopt, false, 1);
  }
}
