#include <keyway/core/tensor/tensor_base.h>
#include <keyway/tests/catch.h>

#include <thread>

using namespace keyway;

namespace {
using F = Functionality;
}

TEST_CASE("a tensor has its backend's key and that of birth, and views have their base's but Autograd") {
  const TensorBase t = make_tensor({2}, kFloat, kCPU);
  CHECK(t.key_set() == DispatchKeySet{DispatchKey::CPU, DispatchKey::ADInplaceOrView});
  CHECK(make_tensor({2}, kFloat, kMeta).key_set() == DispatchKeySet{DispatchKey::Meta, DispatchKey::ADInplaceOrView});
  t.impl()->set_key_set(t.key_set().add(F::Autograd));
  const TensorBase view = make_view(t, {1}, {1}, 1);
  CHECK(view.key_set() == DispatchKeySet{DispatchKey::CPU, DispatchKey::ADInplaceOrView});
  CHECK(!t.is_inference());

  const InferenceMode inference;
  const TensorBase born = make_tensor({2}, kFloat, kCPU);
  CHECK(born.is_inference());
  CHECK(born.key_set() == DispatchKeySet(DispatchKey::CPU));
  CHECK(make_view(born, {1}, {1}, 0).is_inference());
  CHECK(!make_view(t, {1}, {1}, 0).is_inference());
}

TEST_CASE("the layout's flags follow the geometry") {
  const TensorBase t = make_tensor({2, 3, 4, 5}, kFloat, kCPU);
  CHECK(t.is_contiguous());
  CHECK(t.is_non_overlapping_and_dense());
  CHECK(!t.is_contiguous(MemoryFormat::ChannelsLast));
  const TensorBase last = make_view(t, {2, 5, 3, 4}, {60, 1, 20, 5}, 0);
  CHECK(!last.is_contiguous());
  CHECK(last.is_non_overlapping_and_dense());
  CHECK(last.is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(last.suggest_memory_format() == MemoryFormat::ChannelsLast);
  last.impl()->set_geometry({2, 2}, {7, 7}, 0, 4);
  CHECK(!last.is_non_overlapping_and_dense());
  CHECK(make_tensor({1, 1, 1, 1}, kFloat, kCPU).suggest_memory_format() == MemoryFormat::Contiguous);
  CHECK(make_tensor({}, kFloat, kCPU).is_contiguous());
}

TEST_CASE("threads may ask for the flags of one tensor at once") {
  const TensorBase t = make_tensor_strided({4, 5, 6, 7}, {210, 1, 35, 5}, kFloat, kCPU);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { right += t.is_contiguous(MemoryFormat::ChannelsLast) && !t.is_contiguous(); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4);
}

TEST_CASE("tensors of every rank up to 64 are made, and more are refused") {
  for (const std::size_t rank : {std::size_t{0}, std::size_t{4}, std::size_t{5}, std::size_t{6}, std::size_t{64}}) {
    const TensorBase t = make_tensor(std::vector<std::int64_t>(rank, 1), kByte, kCPU);
    CHECK(t.dim() == static_cast<std::int64_t>(rank));
    CHECK(make_view(t, t.sizes(), t.strides(), 0).sizes() == t.sizes());
  }
  CHECK_THROWS_AS(make_tensor(std::vector<std::int64_t>(65, 1), kByte, kCPU), Error);
}

TEST_CASE("sizes that no memory has are refused") {
  const std::int64_t big = std::int64_t{1} << 62;
  for (const auto& sizes : {std::vector<std::int64_t>{big, 4}, {big}, {INT64_MAX}, {-1}, {2, -1}, {big, big, big}}) {
    CHECK_THROWS_AS(make_tensor(sizes, kDouble, kCPU), Error);
    CHECK_THROWS_AS(make_tensor(sizes, kDouble, kMeta), Error);
  }
  CHECK(make_tensor({big, 0}, kDouble, kCPU).numel() == 0);
  CHECK(make_tensor({std::int64_t{1} << 40}, kDouble, kMeta).nbytes() == std::size_t{1} << 43);
  CHECK_THROWS_AS(make_tensor_strided({2}, {-1}, kFloat, kCPU), Error);
  CHECK_THROWS_AS(make_tensor_strided({2}, {INT64_MAX}, kFloat, kCPU), Error);
}

TEST_CASE("data is asked for as what it is") {
  const TensorBase t = make_tensor({2}, kFloat, kCPU);
  CHECK(testing::error_of([&] { (void)t.data_ptr<double>(); }) ==
        "data_ptr: the tensor is float32, but its data is asked for as float64");
  CHECK(t.const_data_ptr<float>() == t.data_ptr<float>());
  CHECK(describe(t) == "float32[2] on cpu");
  CHECK(describe(TensorBase()) == "undefined");
}
