// Products of matrices on a device, larger than samples are, compared with the CPU's.
#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/backends/cuda/driver/emulated_calls.h>
#include <keyway/tests/catch.h>

#include <cstdlib>
#include <string_view>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Numbers of little size that are the same in each run, exact in every dtype.
Tensor factor(IntArrayRef sizes, ScalarType dtype, std::int64_t seed) {
  return testing::scattered(sizes, -3, 3, seed).to(kCPU, dtype);
}

}  // namespace

TEST_CASE("products of many tiles, of every dtype, however their matrices lie") {
  if (!has_products()) return;
  for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexHalf,
                                 kComplexFloat, kComplexDouble}) {
    INFO(to_string(dtype));
    const Tensor a = factor({70, 37}, dtype, 1), b = factor({37, 131}, dtype, 2);
    const Tensor a_there = a.to(kCUDA, dtype), b_there = b.to(kCUDA, dtype);
    CHECK(same_values(mm(a_there, b_there), mm(a, b)));
    CHECK(same_values(mm(b_there.transpose(0, 1), a_there.transpose(0, 1)), mm(b.transpose(0, 1), a.transpose(0, 1))));
    CHECK(same_values(mm(a_there.slice(1, 0, 37, 3), b_there.slice(0, 0, 37, 3)),
                      mm(a.slice(1, 0, 37, 3), b.slice(0, 0, 37, 3))));
    CHECK(same_values(mm(a_there.slice(1, 1, 36), b_there.slice(0, 1, 36)), mm(a.slice(1, 1, 36), b.slice(0, 1, 36))));
  }
}

TEST_CASE("a batch of more matrices than a kernel takes is multiplied in parts") {
  if (!has_products()) return;
  constexpr std::int64_t kBatch = 70'000;
  for (const ScalarType dtype : {kFloat, kHalf}) {
    const Tensor a = factor({kBatch, 1, 3}, dtype, 3), b = factor({kBatch, 3, 2}, dtype, 4);
    const Tensor one = b.slice(0, 0, 1).expand({kBatch, 3, 2}), add = factor({kBatch, 1, 2}, dtype, 5);
    check_calls({{"cublasLtMatmul", 3}},
                [&] { CHECK(same_values(baddbmm(on_cuda(add), on_cuda(a), on_cuda(b), 2), baddbmm(add, a, b, 2))); });
    const Tensor one_there = on_cuda(b.slice(0, 0, 1)).expand({kBatch, 3, 2});
    CHECK(same_values(bmm(on_cuda(a), one_there), bmm(a, one)));
  }
}

TEST_CASE("batches, with matrices that are all one") {
  if (!has_products()) return;
  for (const ScalarType dtype : {kInt, kHalf, kFloat, kComplexHalf}) {
    INFO(to_string(dtype));
    const Tensor a = factor({5, 3, 66}, dtype, 3), b = factor({5, 66, 4}, dtype, 4);
    const Tensor a_there = a.to(kCUDA, dtype), b_there = b.to(kCUDA, dtype);
    CHECK(same_values(bmm(a_there, b_there), bmm(a, b)));
    const Tensor one = a.slice(0, 0, 1).expand({5, 3, 66}), one_there = a_there.slice(0, 0, 1).expand({5, 3, 66});
    CHECK(same_values(bmm(one_there, b_there), bmm(one, b)));
    CHECK(same_values(bmm(a_there.slice(0, 0, 5, 2), b_there.slice(0, 0, 5, 2)),
                      bmm(a.slice(0, 0, 5, 2), b.slice(0, 0, 5, 2))));
    const Tensor column = factor({3, 1}, dtype, 5);
    CHECK(same_values(baddbmm(column.to(kCUDA, dtype), a_there, b_there, 2, 3), baddbmm(column, a, b, 2, 3)));
  }
}

TEST_CASE("what is added may be broadcast, may lie another way, may be the result, and is not read where beta is 0") {
  if (!has_products()) return;
  for (const ScalarType dtype : {kLong, kFloat, kDouble, kComplexFloat}) {
    INFO(to_string(dtype));
    const Tensor a = factor({65, 9}, dtype, 1), b = factor({9, 67}, dtype, 2);
    const Tensor a_there = a.to(kCUDA, dtype), b_there = b.to(kCUDA, dtype);
    for (const Tensor& add : {factor({67}, dtype, 3), factor({65, 1}, dtype, 4), factor({65, 67}, dtype, 5),
                              factor({67, 65}, dtype, 6).transpose(0, 1)}) {
      const Tensor there = add.to(kCUDA, dtype);
      CHECK(same_values(addmm(there, a_there, b_there, 2, -1), addmm(add, a, b, 2, -1)));
    }
    Tensor sum = factor({65, 67}, dtype, 5), sum_there = sum.to(kCUDA, dtype);
    for (int i = 0; i < 2; ++i) {
      addmm_out(sum, sum, a, b, 2, 1);
      addmm_out(sum_there, sum_there, a_there, b_there, 2, 1);
    }
    CHECK(same_values(sum_there, sum));
    Tensor wide_there = zeros({67, 130}, TensorOptions().dtype(dtype).device(kCUDA));
    Tensor out_there = wide_there.slice(1, 0, 130, 2).transpose(0, 1);  // no stride is 1
    addmm_out(out_there, sum_there, a_there, b_there, 1, 2);
    CHECK(same_values(out_there, addmm(sum, a, b, 1, 2)));
    CHECK(same_values(wide_there.slice(1, 1, 130, 2), zeros({67, 65}, TensorOptions().dtype(dtype))));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ScalarType dtype : {kHalf, kFloat, kComplexHalf}) {
    const Tensor a = factor({3, 4}, dtype, 1), b = factor({4, 5}, dtype, 2);
    const Tensor bad = full({5}, nan, TensorOptions().dtype(dtype).device(kCUDA));
    CHECK(same_values(addmm(bad, a.to(kCUDA, dtype), b.to(kCUDA, dtype), 0, 1), mm(a, b)));
  }
}

TEST_CASE("a vector that is added to each row is added by the product itself, where cuBLASLt does so") {
  if (!has_products()) return;
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUBLAS_LT");
  const bool plain = wish != nullptr && std::string_view(wish) == "plain";
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}) {
    INFO(to_string(dtype));
    const bool biased = !plain && dtype != kComplexFloat;
    const Tensor a = factor({6, 10}, dtype, 1), b = factor({10, 8}, dtype, 2), wide = factor({9}, dtype, 3);
    const Tensor a_there = on_cuda(a), b_there = on_cuda(b), wide_there = on_cuda(wide);
    const auto compare = [&](const Tensor& bias, const Tensor& there, double alpha, bool in_call, bool is_new) {
      const std::int64_t asked = plain && dtype != kComplexFloat ? 2 : 1;
      check_calls({{"cublasLtMatmul with a bias", in_call ? 1 : 0},
                   {"cublasLtMatmul", in_call ? 0 : 1},
                   {"cublasLtMatmulAlgoGetHeuristic", is_new ? asked : 0}},
                  [&] { CHECK(same_values(addmm(there, a_there, b_there, 1, alpha), addmm(bias, a, b, 1, alpha))); });
    };
    const Tensor bias = wide.slice(0, 0, 8), there = wide_there.slice(0, 0, 8);
    compare(bias, there, 1, biased, true);
    compare(bias, there, -2, biased, false);
    compare(bias.unsqueeze(0), there.unsqueeze(0), 1, biased, false);
    // At another address: another plan for less alignment.
    const Tensor odd = wide.slice(0, 1, 9), odd_there = wide_there.slice(0, 1, 9);
    if (biased) compare(odd, odd_there, 1, true, true);
    // What is none: a number for each row, one for all, one that is scaled.
    check_calls({{"cublasLtMatmul with a bias", 0}, {"cublasLtMatmul", 3}}, [&] {
      for (const Tensor& other : {factor({6, 1}, dtype, 4), factor({1}, dtype, 5)}) {
        CHECK(same_values(addmm(on_cuda(other), a_there, b_there), addmm(other, a, b)));
      }
      CHECK(same_values(addmm(there, a_there, b_there, 2, 1), addmm(bias, a, b, 2, 1)));
    });
  }
}

TEST_CASE("a linear layer is one call of cuBLASLt") {
  if (!has_products()) return;
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUBLAS_LT");
  if (wish != nullptr) return;
  const Tensor x = factor({3, 4, 10}, kFloat, 1), w = factor({8, 10}, kFloat, 2), b = factor({8}, kFloat, 3);
  check_calls({{"cublasLtMatmul with a bias", 1}, {"cublasLtMatmul", 0}},
              [&] { CHECK(same_values(linear(on_cuda(x), on_cuda(w), on_cuda(b)), linear(x, w, b))); });
  // A batch of products with one bias for all.
  const Tensor batch = factor({3, 10, 8}, kFloat, 4);
  check_calls({{"cublasLtMatmul with a bias", 1}, {"cublasLtMatmul", 0}},
              [&] { CHECK(same_values(baddbmm(on_cuda(b), on_cuda(x), on_cuda(batch)), baddbmm(b, x, batch))); });
}

TEST_CASE("products of nothing are zeros, or what is added") {
  if (!has_products()) return;
  const TensorOptions there = TensorOptions().dtype(kFloat).device(kCUDA);
  CHECK(same_values(mm(zeros({3, 0}, there), zeros({0, 70}, there)), zeros({3, 70}, kFloat)));
  CHECK(mm(zeros({0, 3}, there), zeros({3, 4}, there)).numel() == 0);
  CHECK(bmm(zeros({0, 3, 2}, there), zeros({0, 2, 4}, there)).numel() == 0);
  const Tensor add = factor({70}, kFloat, 1);
  CHECK(same_values(addmm(add.to(kCUDA, kFloat), zeros({3, 0}, there), zeros({0, 70}, there), 2, 1),
                    add.mul(2).expand({3, 70})));
}

TEST_CASE("16-bit floats are summed in float32") {
  if (!has_products()) return;
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    const Tensor one = full({1, 5000}, 1, TensorOptions().dtype(dtype).device(kCUDA));
    const double sum = mm(one, one.transpose(0, 1)).item().to<double>();
    CHECK(sum == full({}, 5000, dtype).item().to<double>());
  }
}

TEST_CASE("products in streams, and on the second device, follow what is computed before them") {
  if (!has_products()) return;
  const Tensor a = factor({40, 40}, kFloat, 1);
  const Tensor expected = mm(mm(a, a), a);
  for (int device = 0; device < device_count(kCUDA) && device < 2; ++device) {
    const Device on(kCUDA, static_cast<std::int8_t>(device));
    const DeviceGuard guard(on);
    const StreamGuard stream(new_stream(kCUDA));
    const Tensor there = a.to(on, kFloat);
    CHECK(same_values(mm(mm(there, there), there), expected));
  }
}

TEST_CASE("a product without cuBLASLt says what is missing") {
  if (lacks_device() || has_products()) return;
  const Tensor floats = full({2, 2}, 1, TensorOptions().dtype(kFloat).device(kCUDA));
  for (int i = 0; i < 2; ++i) {
    const std::string text = error_of([&] { (void)mm(floats, floats); });
    INFO(text);
    CHECK(text.find("mm: products of floating and complex matrices on CUDA need cuBLASLt") != std::string::npos);
    CHECK(text.find("libcublasLt.so.") != std::string::npos);
    CHECK(text.find("install cuBLAS") != std::string::npos);
  }
  CHECK_THROWS_AS(mm(floats, floats), Error);
  const Tensor integers = factor({2, 2}, kLong, 1);
  CHECK(same_values(mm(integers.to(kCUDA, kLong), integers.to(kCUDA, kLong)), mm(integers, integers)));
}

TEST_CASE(
    "a product that cuBLASLt refuses late, or calls invalid, is computed all the same, and it is not asked again") {
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUBLAS_LT");
  const bool late = wish != nullptr && std::string_view(wish) == "late";
  if (lacks_device() || wish == nullptr || (!late && std::string_view(wish) != "picky")) return;
  const Tensor a = factor({3, 6, 10}, kFloat, 1), b = factor({3, 10, 8}, kFloat, 2), bias = factor({8}, kFloat, 3);
  const auto plain = [&] { CHECK(same_values(mm(on_cuda(a[0]), on_cuda(b[0])), mm(a[0], b[0]))); };
  const auto biased = [&] {
    CHECK(same_values(addmm(on_cuda(bias), on_cuda(a[0]), on_cuda(b[0])), addmm(bias, a[0], b[0])));
  };
  const auto batch = [&] { CHECK(same_values(bmm(on_cuda(a), on_cuda(b)), bmm(a, b))); };
  for (const bool is_new : {true, false}) {
    const int refused = is_new && late ? 1 : 0, asked = is_new ? 1 : 0;
    check_calls({{"cublasLtMatmul", late ? refused : 1}, {"cublasLtMatmulAlgoGetHeuristic", asked}}, plain);
    check_calls({{"cublasLtMatmul with a bias", refused}, {"cublasLtMatmulAlgoGetHeuristic", asked}}, biased);
    check_calls({{"cublasLtMatmul", refused}, {"cublasLtMatmulAlgoGetHeuristic", asked}}, batch);
  }
}

TEST_CASE("a product times 0 is not read on a device, whoever computes it") {
  if (!has_products()) return;
  for (const ScalarType dtype : {kHalf, kFloat, kDouble, kComplexHalf, kComplexFloat}) {
    const TensorOptions there = TensorOptions().dtype(dtype).device(kCUDA);
    const Tensor nan = full({2, 5, 7}, std::nan(""), there), ones = full({7, 3}, 1, there),
                 add = full({5, 3}, 1, there);
    CHECK(same_values(addmm(add, nan.select(0, 0), ones, 2, 0), full({5, 3}, 2, TensorOptions().dtype(dtype))));
    CHECK(
        same_values(baddbmm(add, nan, ones.expand({2, 7, 3}), 2, 0), full({2, 5, 3}, 2, TensorOptions().dtype(dtype))));
  }
}

TEST_CASE("libraries get memory of their own where the cache has all that there is") {
  if (lacks_device() || std::getenv("KEYWAY_EMULATED_CUDA_BYTES") == nullptr || !keeps_memory()) return;
  // All but what is no whole segment.
  const auto fill_cache = [](std::int64_t mib) {
    (void)empty({mib << 20}, TensorOptions().dtype(kByte).device(kCUDA));
    const MemoryStats stats = memory_stats(Device("cuda:0"));
    CHECK(stats.reserved.current - stats.allocated.current >= static_cast<std::size_t>(mib) << 20);
  };
  const Tensor a = factor({6, 10}, kFloat, 1), b = factor({10, 8}, kFloat, 2);
  const Tensor a_there = on_cuda(a), b_there = on_cuda(b);
  fill_cache(62);
  CHECK(same_values(mm(a_there, b_there), mm(a, b)));
  const Tensor z = factor({9}, kComplexFloat, 3), z_there = on_cuda(z);
  fill_cache(60);
  CHECK(is_close(view_as_real(_fft_c2c(z_there, {0}, 0, true)), view_as_real(_fft_c2c(z, {0}, 0, true)), 1e-5));
  const Tensor x = factor({1, 2, 5, 5}, kFloat, 4), w = factor({2, 2, 3, 3}, kFloat, 5);
  const Tensor x_there = on_cuda(x), w_there = on_cuda(w);
  fill_cache(58);
  CHECK(same_values(conv2d(x_there, w_there), conv2d(x, w)));
}
