// What the backend says where something is missing or goes wrong. What needs a device is skipped where there is none.
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <cstdlib>
#include <string>

using namespace keyway;
using testing::error_of;
using testing::keeps_memory;
using testing::lacks_device;

namespace {

void check_says(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Tensor numbers(std::int64_t value, std::int64_t count) {
  return full({count}, value, TensorOptions().dtype(kInt).device(kCUDA));
}

}  // namespace

TEST_CASE("a driver that is missing or too old is told from a machine without devices") {
  const std::string driver = variable("KEYWAY_EMULATED_CUDA_DRIVER");
  if (driver.empty()) return;
  REQUIRE(device_count(kCUDA) == 0);
  const std::string text = error_of([] { (void)empty({2}, kCUDA); });
  CHECK(text.starts_with("empty"));
  check_says(text, ": there is no cuda device: ");
  check_says(text, driver == "0" ? "no CUDA driver is installed"
                                 : "the driver is for CUDA 12.2, and this build for 13.0: the driver is too old");
}

TEST_CASE("a device that no kernel was compiled for is named, with what there is code for") {
  if (variable("KEYWAY_EMULATED_CUDA_ARCHITECTURE") != "old") return;
  const std::string text = error_of([] { (void)full({2}, 1, TensorOptions().dtype(kInt).device(kCUDA)); });
  CHECK(text.starts_with("fill_"));
  check_says(text, "cudaErrorNoKernelImageForDevice");
  check_says(text, "cuda:0 is of architecture 70, and this build has code for 80-real, 90");
}

TEST_CASE("a device that another process has for itself is not one without memory, however often it is asked") {
  if (variable("KEYWAY_EMULATED_CUDA_DEVICES") != "unavailable") return;
  for (int i = 0; i < 2; ++i) {
    const std::string text = error_of([] { (void)empty({2}, kCUDA); });
    check_says(text, "cudaErrorDevicesUnavailable");
    check_says(text, "another process may have the device for itself");
  }
}

TEST_CASE("out of memory names the operator, what was asked, and who has the rest") {
  if (lacks_device() || !keeps_memory()) return;
  const Tensor one = zeros({1}, TensorOptions().dtype(kDouble).device(kCUDA));
  const Tensor many = one.expand({std::int64_t{1} << 50});
  const std::string text = error_of([&] { (void)(many + many); });
  check_says(text, "add.Tensor: out of memory on cuda:0: 8192.00 TiB asked for stream 0; of ");
  for (const char* part : {" the device has ", " free. Held here: ", " in use and ", " cached", "; the limit is "}) {
    check_says(text, part);
  }
  CHECK((one + 1).item().to<double>() == 1);  // and others go on
}

TEST_CASE("what a kernel refused is an error of the next wait for an event of its stream, once, with the operator") {
  if (lacks_device() || variable("KEYWAY_EMULATED_CUDA_ARCHITECTURE") == "old") return;
  const Stream stream = new_stream(Device("cuda:0")), other = new_stream(Device("cuda:0"));
  const StreamGuard guard(stream);
  (void)floor_divide(numbers(1, 5000), numbers(0, 5000));
  Event of_other(kCUDA), event(kCUDA);
  of_other.record(other);
  event.record(stream);
  of_other.synchronize();  // of a stream where nothing was refused
  check_says(error_of([&] { event.synchronize(); }), "floor_divide: integer division by zero");
  event.synchronize();
  synchronize(Device("cuda:0"));

  const Tensor rows = zeros({3, 2}, TensorOptions().dtype(kFloat).device(kCUDA));
  (void)rows.index_select(0, numbers(3, 1).to(kLong));
  event.record(stream);
  check_says(error_of([&] { event.synchronize(); }), "index_select");
  event.synchronize();
}

TEST_CASE("tensors on two devices are refused though they are empty, or of shapes that end the matter") {
  if (lacks_device() || device_count(kCUDA) < 2) return;
  const auto on = [](IntArrayRef sizes, const char* device, ScalarType dtype = kFloat) {
    return ones(sizes, TensorOptions().dtype(dtype).device(Device(device)));
  };
  const Tensor none = on({0}, "cuda:0"), there = on({0}, "cuda:1");
  const auto refused = [](const auto& call) {
    check_says(error_of(call), "cuda:0");
    check_says(error_of(call), "cuda:1");
  };
  refused([&] { (void)equal(on({2}, "cuda:0"), on({3}, "cuda:1")); });
  refused([&] { (void)isin(none, there); });
  refused([&] { (void)searchsorted(none, there); });
  refused([&] { (void)masked_scatter(none, on({0}, "cuda:1", kBool), none); });
  refused([&] { (void)linalg_matrix_rank(on({0, 0}, "cuda:0"), std::nullopt, on({}, "cuda:1")); });
  refused([&] { (void)lu_unpack(on({1, 1}, "cuda:0"), on({1}, "cuda:1", kInt), true, false); });
}
