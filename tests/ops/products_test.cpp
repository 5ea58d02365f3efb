// Products, convolutions and pooling as users call them; what the kernels compute is tested beside them.
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <vector>

using namespace keyway;
using testing::error_alone;
using testing::error_of;

namespace {

// Small integers, different at each index.
Tensor numbers(IntArrayRef sizes, std::int64_t salt) {
  Tensor tensor = empty(sizes, kDouble);
  double* const data = static_cast<double*>(tensor.data_ptr());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    data[i] = static_cast<double>((i * 7 + salt * 13 + i * i % 5) % 11 - 5);
  }
  return tensor;
}

double at(const Tensor& tensor, const std::vector<std::int64_t>& index) {
  std::int64_t offset = 0;
  const std::size_t lead = index.size() - tensor.sizes().size();
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
    if (tensor.sizes()[d] != 1) offset += index[lead + d] * tensor.strides()[d];
  }
  return static_cast<const double*>(tensor.data_ptr())[offset];
}

// The definition of matmul for tensors of two dimensions or more.
void check_matmul(const Tensor& a, const Tensor& b, const Tensor& result) {
  std::vector<std::int64_t> index(result.sizes().size(), 0);
  for (std::int64_t n = 0; n < result.numel(); ++n) {
    std::int64_t rest = n;
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = rest % result.sizes()[d];
      rest /= result.sizes()[d];
    }
    double sum = 0;
    for (std::int64_t k = 0; k < a.size(-1); ++k) {
      std::vector<std::int64_t> left = index, right = index;
      left.back() = k;
      right[right.size() - 2] = k;
      sum += at(a, left) * at(b, right);
    }
    REQUIRE(at(result, index) == sum);
  }
}

}  // namespace

TEST_CASE("matmul takes vectors, matrices and batches that broadcast") {
  const std::vector<std::vector<std::int64_t>> batches = {{}, {3}, {1}, {2, 3}, {2, 1}, {0}};
  for (const auto& left : batches) {
    for (const auto& right : batches) {
      if ((left == std::vector<std::int64_t>{0}) != (right == std::vector<std::int64_t>{0}) && !left.empty() &&
          !right.empty()) {
        continue;
      }
      std::vector<std::int64_t> a = left, b = right;
      a.insert(a.end(), {2, 5});
      b.insert(b.end(), {5, 4});
      const Tensor x = numbers(a, 1), y = numbers(b, 2);
      check_matmul(x, y, x.matmul(y));
      check_matmul(x, y, x.matmul(y.transpose(-1, -2).contiguous().transpose(-1, -2)));
    }
  }
  const Tensor v = numbers({5}, 3), m = numbers({5, 4}, 4), stack = numbers({2, 3, 5}, 5);
  CHECK(v.matmul(v).dim() == 0);
  CHECK(v.matmul(v).item().to<double>() == (v * v).sum().item().to<double>());
  CHECK(v.matmul(m).sizes() == IntArrayRef({4}));
  check_matmul(v.unsqueeze(0), m, v.matmul(m).unsqueeze(0));
  CHECK(stack.matmul(v).sizes() == IntArrayRef({2, 3}));
  check_matmul(stack, v.unsqueeze(1), stack.matmul(v).unsqueeze(-1));
  CHECK(v.matmul(stack.transpose(1, 2)).sizes() == IntArrayRef({2, 3}));
}

TEST_CASE("matmul says which sizes do not fit") {
  CHECK(error_of([] { ones({2, 3}).matmul(ones({4, 5})); }).find("self.size(-1)") != std::string::npos);
  CHECK(error_of([] { ones({2, 2, 3}).matmul(ones({3, 3, 5})); }).find("broadcast") != std::string::npos);
  CHECK(error_alone([] {
          mm(ones({2, 3}), ones({4, 5}));
        }) == "mm: requires self.size(1) == mat2.size(0), but self.size(1) is 3 and mat2.size(0) is 4");
}

TEST_CASE("linear multiplies the last dimension, whatever stands before it") {
  const Tensor w = numbers({4, 5}, 1), bias = numbers({4}, 2);
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{5}, {3, 5}, {2, 3, 5}, {2, 1, 3, 5}, {0, 5}, {2, 0, 5}}) {
    const Tensor x = numbers(sizes, 3);
    const Tensor expected = x.unsqueeze(-2).matmul(w.t()).squeeze(-2);
    CHECK((linear(x, w) - expected).abs().sum().item().to<double>() == 0);
    CHECK((linear(x, w, bias) - expected - bias).abs().sum().item().to<double>() == 0);
    CHECK(linear(x, w, bias).sizes() == expected.sizes());
  }
  const Tensor turned = numbers({3, 2, 5}, 4).transpose(0, 1);
  CHECK((linear(turned, w, bias) - linear(turned.contiguous(), w, bias)).abs().sum().item().to<double>() == 0);
}

TEST_CASE("convolutions refuse geometry that does not fit, and name the rule") {
  const Tensor x = ones({1, 2, 5, 5}), w = ones({3, 2, 3, 3});
  const std::int64_t huge = INT64_MAX;
  CHECK(error_of([&] { conv2d(x, w, {}, 0); }).find("all(stride > 0)") != std::string::npos);
  CHECK(error_of([&] { conv2d(x, w, {}, 1, -1); }).find("all(padding >= 0)") != std::string::npos);
  CHECK(error_of([&] { conv2d(x, w, {}, 1, huge); }).find("an integer overflows") != std::string::npos);
  CHECK(error_of([&] { conv2d(x, w, {}, 1, 0, huge); }).find("an integer overflows") != std::string::npos);
  CHECK(error_of([&] { conv2d(x, w, {}, 1, 0, 3); }).find("conv_sizes") != std::string::npos);
  CHECK(error_of([&] { conv2d(x, w, {}, 1, 0, 1, 2); }).find("groups") != std::string::npos);
  CHECK(error_of([&] { conv2d(x, w, {}, 1, 0, 1, 0); }).find("groups > 0") != std::string::npos);
  CHECK(error_of([&] { conv2d(x, w, ones({2})); }).find("bias") != std::string::npos);
  CHECK(error_of([&] {
          conv_transpose2d(ones({1, 3, 5, 5}), w, {}, 1, 0, 1);
        }).find("output_padding") != std::string::npos);
  CHECK(error_of([&] { max_pool2d(x, {0, 0}); }).find("kernel_size > 0") != std::string::npos);
  CHECK(error_of([&] { max_pool2d(x, {2, 2}, {1, 1}, {2, 2}); }).find("padding") != std::string::npos);
  CHECK(error_of([&] { avg_pool2d(x, {7, 7}); }).find("pool_sizes") != std::string::npos);
}

TEST_CASE("convolution and pooling keep channels last") {
  const Tensor x = rand({2, 8, 6, 6}).contiguous(MemoryFormat::ChannelsLast), w = rand({4, 8, 3, 3});
  CHECK(conv2d(x, w).is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(max_pool2d(x, {2, 2}).is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(avg_pool2d(x, {2, 2}).is_contiguous(MemoryFormat::ChannelsLast));
  const Tensor rows = x.contiguous();
  CHECK((conv2d(x, w) - conv2d(rows, w)).abs().amax().item().to<double>() < 1e-5);
  CHECK((max_pool2d(x, {2, 2}) - max_pool2d(rows, {2, 2})).abs().amax().item().to<double>() == 0);
}
