// Attention and its gradients on CUDA, of each dtype, with masks, shared heads, and operands in any layout. Once more
// with KEYWAY_CUDA_ATTENTION_BYTES=3000, so that scores are in memory in blocks
// (emulated_cuda/with_attention_in_blocks).
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/backends/cuda/driver/emulated_calls.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <tuple>
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

bool in_blocks() { return std::getenv("KEYWAY_CUDA_ATTENTION_BYTES") != nullptr; }

// Attention of one query, written out in float64: what its gradients add to is of its example, its head of queries, or
// the head of keys that this one has.
struct OneQuery {
  std::int64_t keys, width, values;
  double scale;
  const double* query;
  const double* key;
  const double* value;
  const double* grad;
  std::vector<double> added;  // to scores

  void run(double* output, double* logsumexp, double* grad_query, double* grad_key, double* grad_value) const {
    std::vector<double> weights(added), slopes(added.size());
    double sum = 0, expected = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      for (std::int64_t d = 0; d < width; ++d) weights[j] += scale * query[d] * row(key, j, width)[d];
      weights[j] = std::exp(weights[j]);
      sum += weights[j];
    }
    *logsumexp = sum == 0 ? std::numeric_limits<double>::infinity() : std::log(sum);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      weights[j] = sum == 0 ? 0 : weights[j] / sum;
      for (std::int64_t d = 0; d < values; ++d) {
        output[d] += weights[j] * row(value, j, values)[d];
        slopes[j] += grad[d] * row(value, j, values)[d];
        grad_value[static_cast<std::int64_t>(j) * values + d] += weights[j] * grad[d];
      }
      expected += weights[j] * slopes[j];
    }
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const double slope = scale * weights[j] * (slopes[j] - expected);
      for (std::int64_t d = 0; d < width; ++d) {
        grad_query[d] += slope * row(key, j, width)[d];
        grad_key[static_cast<std::int64_t>(j) * width + d] += slope * query[d];
      }
    }
  }

 private:
  static const double* row(const double* matrix, std::size_t j, std::int64_t columns) {
    return matrix + static_cast<std::int64_t>(j) * columns;
  }
};

struct Attended {
  Tensor output, logsumexp, grad_query, grad_key, grad_value;
};

// All of them, one after the other. `added` is of four dimensions, one for each score.
Attended attend_plainly(const Operands& of, const Tensor& added, double scale) {
  const auto plain = [](const Tensor& tensor) { return tensor.to(kCPU, kDouble).contiguous(); };
  const auto zeros_like_double = [](const Tensor& tensor) {
    return zeros(tensor.sizes(), TensorOptions().dtype(kDouble));
  };
  const Tensor query = plain(of.query), key = plain(of.key), value = plain(of.value), grad = plain(of.grad);
  const Tensor more = plain(added);
  Attended all{zeros_like_double(grad), zeros_like_double(grad.select(3, 0)), zeros_like_double(query),
               zeros_like_double(key), zeros_like_double(value)};
  const std::int64_t rows = all.logsumexp.numel(), queries = query.size(2), keys = key.size(2);
  const std::int64_t shared_by = query.size(1) / key.size(1), width = query.size(3), values = value.size(3);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t matrix = i / queries / shared_by;
    const double* const first = more.data_ptr<double>() + i * keys;
    const OneQuery one{keys,
                       width,
                       values,
                       scale,
                       query.data_ptr<double>() + i * width,
                       key.data_ptr<double>() + matrix * keys * width,
                       value.data_ptr<double>() + matrix * keys * values,
                       grad.data_ptr<double>() + i * values,
                       std::vector<double>(first, first + keys)};
    one.run(all.output.data_ptr<double>() + i * values, all.logsumexp.data_ptr<double>() + i,
            all.grad_query.data_ptr<double>() + i * width, all.grad_key.data_ptr<double>() + matrix * keys * width,
            all.grad_value.data_ptr<double>() + matrix * keys * values);
  }
  return all;
}

// On the device, from there.
Attended attend_there(const Operands& of, const std::optional<Tensor>& mask, bool is_causal, double scale) {
  const std::optional<Tensor> mask_there = mask ? std::optional<Tensor>(on_cuda(*mask)) : std::nullopt;
  const Tensor query = on_cuda(of.query), key = on_cuda(of.key), value = on_cuda(of.value);
  Attended all;
  std::tie(all.output, all.logsumexp) =
      _scaled_dot_product_attention_forward(query, key, value, mask_there, is_causal, scale);
  std::tie(all.grad_query, all.grad_key, all.grad_value) = _scaled_dot_product_attention_backward(
      on_cuda(of.grad), query, key, value, mask_there, is_causal, scale, all.output, all.logsumexp);
  return all;
}

void compare_plainly(const Operands& of, const std::optional<Tensor>& mask, bool is_causal, double scale) {
  const Sizes sizes{of.query.size(0), of.query.size(1), of.query.size(2), of.key.size(2)};
  const double unseen = -std::numeric_limits<double>::infinity();
  Tensor added = zeros(sizes, TensorOptions().dtype(kDouble));
  if (mask && mask->dtype() == kBool) added = added.masked_fill(mask->logical_not(), unseen);
  if (mask && mask->dtype() != kBool) added = added + mask->to(kCPU, kDouble);
  if (is_causal) {
    const Tensor seen = ones({sizes[2], sizes[3]}, TensorOptions().dtype(kBool)).tril();
    added = added.masked_fill(seen.logical_not(), unseen);
  }
  const Attended expected = attend_plainly(of, added, scale), all = attend_there(of, mask, is_causal, scale);
  const double tolerance = 4 * tolerance_of(of.query.dtype());
  const auto close = [&](const Tensor& there, const Tensor& here, double within) {
    return is_close(there.to(kCPU, kDouble), here, within);
  };
  CHECK(close(all.output, expected.output, tolerance));
  CHECK(close(all.logsumexp, expected.logsumexp, tolerance));
  CHECK(close(all.grad_query, expected.grad_query, 2 * tolerance));
  CHECK(close(all.grad_key, expected.grad_key, 2 * tolerance));
  CHECK(close(all.grad_value, expected.grad_value, 2 * tolerance));
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

TEST_CASE("CUDA's attention without tensor cores is the formula's, whatever is in a block") {
  if (!has_products()) return;
  manual_seed(11);
  for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
    // In blocks of 3000 bytes: of queries; of heads that share keys; of heads of keys; of examples; of one query.
    for (Sides of : {Sides{1, 2, 1, 40, 30, 5, 6}, Sides{2, 6, 2, 11, 23, 5, 7}, Sides{3, 5, 5, 4, 30, 6, 5},
                     Sides{5, 2, 2, 2, 60, 4, 4}, Sides{1, 4, 2, 5, 800, 3, 2}}) {
      if (dtype == kHalf && of.queries < 10) continue;  // emulated products of such rows take their time
      if (dtype == kHalf) of.width = 130;               // more than tensor cores take
      INFO(to_string(dtype) << ", " << of.examples << " examples, " << of.heads << " heads on " << of.served << ", "
                            << of.queries << " queries and " << of.keys << " keys");
      const Operands c = make_operands(of, dtype);
      const double scale = 1 / std::sqrt(static_cast<double>(of.width));
      compare_plainly(c, std::nullopt, false, scale);
      compare_plainly(c, std::nullopt, true, scale);
      for (const Sizes& sizes : {Sizes{of.examples, of.heads, of.queries, of.keys}, Sizes{1, 1, of.queries, of.keys},
                                 Sizes{of.examples, 1, 1, of.keys}, Sizes{1, of.heads, of.queries, 1}}) {
        compare_plainly(c, randn(sizes, TensorOptions()).to(kCPU, dtype), false, scale);
        const Tensor seen = rand(sizes, TensorOptions()) > 0.4;
        seen.select(0, 0).select(0, 0).select(0, 0).fill_(false);
        compare_plainly(c, seen.transpose(2, 3).contiguous().transpose(2, 3), false, scale);
      }
    }
  }
}

TEST_CASE("CUDA's attention without tensor cores is two products of a block, or five, and the same bits each time") {
  if (!has_products()) return;
  manual_seed(12);
  const Operands c = make_operands({1, 2, 1, 40, 30, 5, 6}, kFloat);
  const Tensor query = on_cuda(c.query), key = on_cuda(c.key), value = on_cuda(c.value), grad = on_cuda(c.grad);
  Tensor output, logsumexp;
  // Scores of 25 queries have 3000 bytes; those of 12, with their gradients, 2880.
  check_calls({{"cublasLtMatmul", 2 * (in_blocks() ? 4 : 1)}}, [&] {
    std::tie(output, logsumexp) = _scaled_dot_product_attention_forward(query, key, value, std::nullopt, true, 0.3);
  });
  check_calls({{"cublasLtMatmul", 5 * (in_blocks() ? 8 : 1)}}, [&] {
    (void)_scaled_dot_product_attention_backward(grad, query, key, value, std::nullopt, true, 0.3, output, logsumexp);
  });
  const Attended once = attend_there(c, std::nullopt, true, 0.3), again = attend_there(c, std::nullopt, true, 0.3);
  CHECK(same_bits(again.output, once.output.to(kCPU, kFloat)));
  CHECK(same_bits(again.grad_query, once.grad_query.to(kCPU, kFloat)));
  CHECK(same_bits(again.grad_key, once.grad_key.to(kCPU, kFloat)));
  CHECK(same_bits(again.grad_value, once.grad_value.to(kCPU, kFloat)));
}

TEST_CASE("CUDA's attention without tensor cores adds up what blocks give 16-bit gradients before it rounds") {
  if (!has_products()) return;
  // Each query, a block of its own in 3000 bytes, gives 1 to each of 128 keys: in bfloat16 sums would end at 256.
  const TensorOptions options = TensorOptions().dtype(kBFloat16);
  const Operands c{zeros({1, 1, 320, 130}, options), zeros({1, 1, 128, 130}, options), ones({1, 1, 128, 1}, options),
                   full({1, 1, 320, 1}, 128.0, options)};
  const Attended all = attend_there(c, std::nullopt, false, 1);
  CHECK(same_values(all.grad_value, full({1, 1, 128, 1}, 320.0, options)));
  CHECK(same_values(all.output, ones({1, 1, 320, 1}, options)));
}

TEST_CASE("CUDA's attention without tensor cores has no more in memory than it may, and its results") {
  // Real libraries ask for memory of their own, emulated ones for matrices that are larger than these.
  if (!has_products() || is_fast() || !in_blocks() || !keeps_memory()) return;
  const Operands c = make_operands({1, 1, 1, 400, 40, 8, 8}, kFloat);  // 64,000 bytes of scores
  const Tensor query = on_cuda(c.query), key = on_cuda(c.key), value = on_cuda(c.value), grad = on_cuda(c.grad);
  const auto peak_of = [](const auto& work) {
    work();  // what libraries keep is there afterwards
    reset_peak_memory_stats(Device("cuda:0"));
    const std::size_t before = memory_stats(Device("cuda:0")).requested.current;
    work();
    return static_cast<std::int64_t>(memory_stats(Device("cuda:0")).requested.peak - before);
  };
  const auto forward = [&] {
    return _scaled_dot_product_attention_forward(query, key, value, std::nullopt, false, 0.3);
  };
  const std::int64_t of_results = 4 * (400 * 8 + 400);
  const std::int64_t bytes = peak_of(forward);
  CHECK((bytes > of_results && bytes <= of_results + 3000));
  const auto [output, logsumexp] = forward();
  const std::int64_t of_gradients = 4 * (400 * 8 + 2 * 40 * 8 + 400);  // and of one number of each query
  const std::int64_t of_backward = peak_of([&, &of_output = output, &of_logsumexp = logsumexp] {
    return _scaled_dot_product_attention_backward(grad, query, key, value, std::nullopt, false, 0.3, of_output,
                                                  of_logsumexp);
  });
  CHECK((of_backward > of_gradients && of_backward <= of_gradients + 3000));
}

TEST_CASE("what a query does not see reaches nothing, nor does it reach that, on the CPU and on CUDA") {
  if (!has_products()) return;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ScalarType dtype : {kFloat, kDouble}) {
    Operands c = make_operands({2, 4, 2, 3, 5, 6, 7}, dtype);  // keys 3 and 4 are seen by no query
    const Operands plain{c.query.clone(), c.key.clone(), c.value.clone(), c.grad.clone()};
    c.key.narrow(2, 3, 2).fill_(nan);
    c.value.narrow(2, 3, 2).fill_(nan);
    compare(c, std::nullopt, true, 0.5);
    const Tensor seen = std::get<0>(
        _scaled_dot_product_attention_forward(plain.query, plain.key, plain.value, std::nullopt, true, 0.5));
    CHECK(is_close(std::get<0>(_scaled_dot_product_attention_forward(on_cuda(c.query), on_cuda(c.key), on_cuda(c.value),
                                                                     std::nullopt, true, 0.5)),
                   seen, 4 * tolerance_of(dtype)));
    // A query that is no number: so are the gradients of the keys that it sees, and zeros those of the others.
    c = plain;
    c.query.fill_(nan);
    compare(c, std::nullopt, true, 0.5);
    const auto [output, logsumexp] = _scaled_dot_product_attention_forward(on_cuda(c.query), on_cuda(c.key),
                                                                           on_cuda(c.value), std::nullopt, true, 1);
    const Tensor for_key = std::get<1>(_scaled_dot_product_attention_backward(
        on_cuda(c.grad), on_cuda(c.query), on_cuda(c.key), on_cuda(c.value), std::nullopt, true, 1, output, logsumexp));
    CHECK(same_values(for_key.narrow(2, 3, 2), zeros({2, 2, 2, 6}, TensorOptions().dtype(dtype))));
    CHECK(same_values(for_key.narrow(2, 0, 3), full({2, 2, 3, 6}, nan, TensorOptions().dtype(dtype))));
  }
}

TEST_CASE("attention takes scales that are zero, infinite, or beyond the dtype, alike on the CPU and on CUDA") {
  if (!has_products()) return;
  const double inf = std::numeric_limits<double>::infinity();
  for (const double scale : {0.0, -0.0, inf, -inf, 1e308}) {
    INFO(scale);
    Operands c = make_operands({1, 2, 2, 3, 2, 2, 2}, kFloat);
    compare(c, std::nullopt, false, scale);
    compare(c, std::nullopt, true, scale);
    c.key.select(2, 0).fill_(std::numeric_limits<double>::quiet_NaN());
    compare(c, std::nullopt, false, scale);
  }
  // Of a logarithm that is finite all the same: a product of 2, scaled, and exp of that.
  const Tensor ones = full({1, 1, 1, 2}, 1, TensorOptions().dtype(kFloat));
  const Tensor key = arange(0, 3, 2, TensorOptions().dtype(kFloat)).view({1, 1, 1, 2});
  const Tensor logarithm = zeros({1, 1, 1}, TensorOptions().dtype(kFloat));
  for (const bool there : {false, true}) {
    const auto at = [&](const Tensor& tensor) { return there ? on_cuda(tensor) : tensor; };
    const Tensor for_value = std::get<2>(_scaled_dot_product_attention_backward(
        at(ones), at(ones), at(key), at(ones), std::nullopt, false, inf, at(ones), at(logarithm)));
    CHECK(same_values(for_value, full({1, 1, 1, 2}, inf, TensorOptions().dtype(kFloat))));
  }
}
