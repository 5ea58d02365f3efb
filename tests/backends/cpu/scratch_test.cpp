// Memory of kernels.
#include <keyway/backends/cpu/kernels_indexing.h>
#include <keyway/backends/cpu/kernels_random.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/random/generator.h>
#include <keyway/tests/catch.h>

#include <numeric>

using namespace keyway;

namespace {

// While it lives, `bytes` more than are in use can be had.
class Limit {
 public:
  explicit Limit(std::size_t bytes) : before_(set_host_memory_limit(host_memory_stats().allocated + bytes)) {}
  ~Limit() { set_host_memory_limit(before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  std::size_t before_;
};

bool is_out_of_memory(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::OutOfMemory;
  }
  return false;
}

}  // namespace

TEST_CASE("an array of a kernel has its elements, and hands them on") {
  ScratchArray<double> array(1000, 0.5);
  CHECK(array.size() == 1000);
  CHECK(std::accumulate(array.begin(), array.end(), 0.0) == 500);
  CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % 64 == 0);
  array[999] = 2;
  const ScratchArray<double> moved = std::move(array);
  CHECK(moved[0] == 0.5);
  CHECK(moved[999] == 2);
  CHECK(ScratchArray<int>(0).data() == nullptr);
  CHECK(ScratchArray<int>().size() == 0);
  CHECK(is_out_of_memory([] { const ScratchArray<double> most(INT64_MAX); }));
}

TEST_CASE("memory that kernels need beside their results counts for the limit") {
  constexpr std::int64_t n = 1 << 16;
  TensorBase order = make_tensor({n}, kLong, DeviceType::CPU);
  const Generator generator;
  TensorBase weight = make_tensor({3, 0}, kFloat, DeviceType::CPU), rows = make_tensor({n, 0}, kFloat, DeviceType::CPU);
  const TensorBase index = make_tensor({n}, kLong, DeviceType::CPU);
  std::fill_n(static_cast<std::int64_t*>(index.data_ptr()), n, 2);
  {
    const Limit limit(4 * n);
    CHECK(is_out_of_memory([&] { cpu::randperm_generator(n, generator, order); }));
    CHECK(is_out_of_memory([&] { cpu::embedding(weight, index, -1, false, false, rows); }));
  }
  const Limit limit(64 * n);
  CHECK_NOTHROW(cpu::randperm_generator(n, generator, order));
  CHECK_NOTHROW(cpu::embedding(weight, index, -1, false, false, rows));
}
