// Copies between devices and the host, and how they are ordered by streams. What needs a device is skipped where there
// is none.
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <cstdlib>

using namespace keyway;
using testing::error_of;
using testing::has_device;
using testing::lacks_device;
using testing::normal_numbers;
using testing::same_bits;
using testing::same_values;

namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 22;  // elements whose copy takes a device longer than a question

// A checker of kernels, such as compute-sanitizer, makes the host wait for each; it runs without the cache, so that it
// sees where each tensor ends.
bool is_watched() { return !keeps_memory() && std::getenv("KEYWAY_EMULATED_CUDA") == nullptr; }

// Whether the current stream of a device has work that is not done.
bool is_busy(Device device) { return !current_stream(device).query(); }
bool goes_on(Device device) { return is_watched() || is_busy(device); }

// Numbers that the device computes when somebody waits for it.
Tensor numbers_on(Device device, IntArrayRef sizes) {
  const std::int64_t count = checked_numel(sizes);
  return (arange(count, TensorOptions(device).dtype(kFloat)) * 2 + 1).view(sizes);
}
Tensor numbers_here(IntArrayRef sizes) { return numbers_on(kCPU, sizes); }

}  // namespace

TEST_CASE("copies between devices come after the work of both, and before their later work") {
  if (device_count(kCUDA) < 2) return;
  const Device first("cuda:0"), second("cuda:1");
  for (const Device current : {first, second}) {
    for (const auto& [from, to] : {std::pair(first, second), std::pair(second, first)}) {
      INFO("with " << to_string(current) << " current, from " << to_string(from));
      const StreamGuard of_from(new_stream(from)), of_to(new_stream(to));
      const DeviceGuard guard(current);
      const Tensor x = numbers_on(from, {30, 40});
      Tensor y = zeros({30, 40}, TensorOptions(to).dtype(kFloat));
      y.copy_(x);
      x.fill_(-1);  // after the copy has read it
      CHECK(same_values(y.to(kCPU, kFloat), numbers_here({30, 40})));
      CHECK(current_device(kCUDA) == current);
    }
  }
}

TEST_CASE("copies between devices convert and change strides, where one reaches the other's memory and where not") {
  if (device_count(kCUDA) < 2) return;
  const Device first("cuda:0"), second("cuda:1");
  for (const auto& [from, to] : {std::pair(first, second), std::pair(second, first)}) {
    const Tensor x = numbers_on(from, {4, 6}), here = numbers_here({4, 6});
    CHECK(same_values(x.to(to, kDouble).to(kCPU, kDouble), here.to(kDouble)));
    CHECK(same_values(x.transpose(0, 1).to(to, kFloat).to(kCPU, kFloat), here.transpose(0, 1)));
    Tensor y = zeros({4, 12}, TensorOptions(to).dtype(kLong));
    y.slice(1, 0, 12, 2).copy_(x);
    CHECK(same_values(y.slice(1, 0, 12, 2).to(kCPU, kLong), here.to(kLong)));
    y.slice(1, 0, 6).copy_(x.select(0, 1));  // broadcast
    CHECK(same_values(y.select(0, 3).slice(0, 0, 6).to(kCPU, kLong), here.select(0, 1).to(kLong)));
    CHECK(x.slice(0, 0, 0).to(to, kFloat).numel() == 0);
  }
}

TEST_CASE("floats of 8 bits are converted, filled and moved as on the CPU") {
  if (lacks_device()) return;
  const Device device("cuda:0");
  const Tensor bits = arange(256, TensorOptions().dtype(kByte));
  const Tensor numbers = normal_numbers({777}, kDouble).mul(2).exp().sub(1);
  for (const ScalarType narrow : {kFloat8_e5m2, kFloat8_e4m3fn, kFloat8_e5m2fnuz, kFloat8_e4m3fnuz, kFloat8_e8m0fnu}) {
    const Tensor every = bits.view(narrow);
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kBool, kComplexFloat, kFloat8_e5m2}) {
      INFO(to_string(narrow) << " and " << to_string(dtype));
      if (dtype == narrow) continue;
      const auto wide = [](const Tensor& x) { return is_float8(x.dtype()) ? x.view(kByte) : x; };
      CHECK(same_values(wide(every.to(device, narrow).to(dtype)), wide(every.to(dtype))));
      const Tensor given = numbers.to(dtype);
      CHECK(same_bits(given.to(device, dtype).to(narrow).view(kByte), given.to(narrow).view(kByte)));
    }
    const Tensor one = full({3, 2}, 1.5, TensorOptions().dtype(narrow));
    CHECK(same_bits(full({3, 2}, 1.5, TensorOptions(device).dtype(narrow)), one));
    CHECK(same_bits(cat({one, one.slice(0, 1)}),
                    cat({one.to(device, narrow), one.to(device, narrow).slice(0, 1)}).to(kCPU, narrow)));
    CHECK(every.to(device, narrow).select(0, 77).item().to<double>() == every.select(0, 77).item().to<double>());
  }
}

TEST_CASE("memory of the CPU is pinned where that is asked for") {
  if (lacks_device()) return;
  const Tensor plain = numbers_here({3, 4});
  CHECK_FALSE(plain.is_pinned());
  CHECK(plain.is_pinned(Device(kCPU)));
  const Tensor pinned = plain.pin_memory();
  CHECK(pinned.is_pinned());
  CHECK(pinned.is_cpu());
  CHECK(same_values(pinned, plain));
  CHECK(pinned.pin_memory().is_same(pinned));
  CHECK(pinned.slice(0, 1, 3).is_pinned());
  CHECK_FALSE((pinned + 1).is_pinned());
  CHECK(plain.transpose(0, 1).pin_memory().strides() == plain.transpose(0, 1).strides());
  CHECK_FALSE(pinned.slice(0, 0, 0).contiguous().clone().pin_memory().is_pinned());  // no element, no memory

  const TensorOptions options = TensorOptions().dtype(kFloat).pinned_memory(true);
  for (const Tensor& made :
       {empty({5}, options), zeros({5}, options), full({5}, 2, options), ones_like(plain, options), arange(5, options),
        randn({5}, options), randperm(5, options.dtype(kLong)), empty_strided({2, 2}, {1, 2}, options),
        plain.new_zeros({5}, options), plain.to(TensorOptions().pinned_memory(true)), plain.clone().pin_memory()}) {
    CHECK(made.is_pinned());
  }
  CHECK(same_values(arange(5, options), arange(5, TensorOptions().dtype(kFloat))));
  Tensor grows = empty({5}, options);
  add_out(grows, ones({5000}, kFloat), ones({5000}, kFloat));
  CHECK(grows.is_pinned());

  const Tensor there = plain.to(kCUDA, kFloat);
  CHECK_FALSE(there.is_pinned());
  CHECK(error_of([&] { (void)there.pin_memory(); }).find("only the CPU's can") != std::string::npos);
  CHECK(error_of([&] { (void)empty({5}, options.device(kCUDA)); }).find("only the CPU's can") != std::string::npos);
  CHECK(error_of([&] { (void)arange(5, options.device(kCUDA)); }).find("only the CPU's can") != std::string::npos);
  CHECK(error_of([&] { (void)plain.pin_memory(Device(kMeta)); }).find("pin_memory") != std::string::npos);
}

TEST_CASE("without a device, memory cannot be pinned, and the error says why") {
  if (has_device()) return;
  const Tensor plain = numbers_here({3, 4});
  CHECK_FALSE(plain.is_pinned());
  CHECK(error_of([&] { (void)plain.pin_memory(); }).find("pin_memory: there is no cuda device: ") == 0);
  CHECK(error_of([&] { (void)empty({5}, TensorOptions().pinned_memory(true)); }).find("there is no cuda device: ") !=
        std::string::npos);
}

TEST_CASE("a copy from pinned memory goes on while the host does, and one from other memory does not") {
  if (lacks_device()) return;
  const Device device("cuda:0");
  const StreamGuard guard(new_stream(device));
  const Tensor plain = numbers_here({kMany}), pinned = plain.pin_memory();
  Tensor there = empty({kMany}, TensorOptions(device).dtype(kFloat));
  there.copy_(pinned, true);
  CHECK(goes_on(device));
  synchronize(device);
  CHECK(same_values(there.to(kCPU, kFloat), plain));
  for (const Tensor& from : {plain, pinned}) {
    there.fill_(0);
    there.copy_(from, from.is_same(plain));
    CHECK_FALSE(is_busy(device));
  }
  const Tensor sent = pinned.to(device, kFloat, /*non_blocking=*/true);
  CHECK(goes_on(device));
  CHECK(same_values(sent.to(kCPU, kFloat), plain));
  // What is put together first travels from pinned memory, too; nothing keeps that but the cache.
  const Tensor turned = pinned.view({2, kMany / 2}).transpose(0, 1).to(device, kFloat, true);
  if (!is_watched()) CHECK(is_busy(device) == keeps_memory());
  CHECK(same_values(turned.to(kCPU, kFloat), plain.view({2, kMany / 2}).transpose(0, 1)));
}

TEST_CASE("pinned memory is not given out again before the copy that reads it is done") {
  if (lacks_device()) return;
  const Device device("cuda:0");
  const StreamGuard guard(new_stream(device));
  Tensor there = zeros({kMany}, TensorOptions(device).dtype(kFloat));
  synchronize(device);
  const void* first = nullptr;
  {
    const Tensor gone = numbers_here({kMany}).pin_memory();
    first = gone.data_ptr();
    there.copy_(gone, true);
  }
  const TensorOptions options = TensorOptions().dtype(kFloat).pinned_memory(true);
  const Tensor next = full({kMany}, -1, options);
  if (keeps_memory()) CHECK(next.data_ptr() != first);
  CHECK(same_values(there.to(kCPU, kFloat), numbers_here({kMany})));
  if (keeps_memory()) CHECK(empty({kMany}, options).data_ptr() == first);
}

TEST_CASE("a copy to the host that does not block arrives in pinned memory, behind what the stream has before") {
  if (lacks_device()) return;
  const Device device("cuda:0");
  const Stream stream = new_stream(device);
  const StreamGuard guard(stream);
  const Tensor there = numbers_on(device, {kMany});
  const Tensor here = there.to(kCPU, kFloat, /*non_blocking=*/true);
  CHECK(here.is_pinned());
  CHECK(goes_on(device));
  there.fill_(-1);  // later work of the stream
  Event arrived(kCUDA);
  arrived.record(stream);
  arrived.synchronize();
  CHECK(same_values(here, numbers_here({kMany})));
  Tensor plain = zeros({kMany}, TensorOptions().dtype(kFloat));
  plain.copy_(there, true);
  CHECK(same_values(plain, full({kMany}, -1, TensorOptions().dtype(kFloat))));
  // The host puts it in place itself: it has arrived.
  Tensor strided = zeros({kMany, 2}, TensorOptions().dtype(kFloat).pinned_memory(true));
  strided.select(1, 1).copy_(there, true);
  CHECK(same_values(strided.select(1, 1).contiguous(), plain));
}
