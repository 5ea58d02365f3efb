#include <keyway/core/device/device_guard.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>

#include <optional>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::FakeAllocator;
using keyway::testing::FakeDevices;
using Asked = std::vector<std::string>;

TEST_CASE("guards nest, and leave the current device as it was, also by an exception") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  try {
    const DeviceGuard outer(npu.device(1));
    CHECK(current_device(npu.type()) == npu.device(1));
    CHECK(outer.original_device() == npu.device(0));
    {
      const DeviceGuard inner(npu.device(0));
      CHECK(current_device(npu.type()) == npu.device(0));
      set_device(npu.device(1));  // what is set inside does not outlive the guard either
    }
    CHECK(current_device(npu.type()) == npu.device(1));
    set_device(npu.device(0));
    const DeviceGuard here(npu.type());
    CHECK(here.current_device() == npu.device(0));
    throw 1;
  } catch (int) {
  }
  CHECK(current_device(npu.type()) == npu.device(0));
}

TEST_CASE("a guard of the CPU asks nobody") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  DeviceGuard guard(kCPU);
  const OptionalDeviceGuard none, cpu(kCPU);
  CHECK(guard.current_device() == kCPU);
  CHECK(!none.current_device());
  CHECK(cpu.original_device() == kCPU);
  CHECK(npu.asked().empty());
  CHECK(current_device(kCPU) == kCPU);
  CHECK(device_count(kCPU) == 1);
  CHECK(error_of([] { DeviceGuard("cpu:1"); }) == "device cpu:1 is out of range: the number of cpu devices is 1");
  const DeviceGuard meta(kMeta);
  synchronize(kCPU);
}

TEST_CASE("a moved guard restores nothing, the one that it was moved to does") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  std::optional<DeviceGuard> last;
  {
    DeviceGuard first(npu.device(1));
    last.emplace(std::move(first));
  }
  CHECK(current_device(npu.type()) == npu.device(1));
  last.reset();
  CHECK(current_device(npu.type()) == npu.device(0));

  OptionalDeviceGuard some(npu.device(1));
  {
    const OptionalDeviceGuard taken(std::move(some));
    CHECK(!some.current_device());  // NOLINT: what a moved one is, is said
    CHECK(taken.current_device() == npu.device(1));
  }
  CHECK(current_device(npu.type()) == npu.device(0));
}

TEST_CASE("a guard that is reset restores what was current first") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  {
    DeviceGuard guard(npu.device(0));
    guard.set_index(1);
    CHECK(current_device(npu.type()) == npu.device(1));
    CHECK_THROWS_AS(guard.set_index(2), Error);
    npu.fail_next();
    CHECK_THROWS_AS(guard.set_index(0), Error);
    CHECK(guard.current_device() == npu.device(1));
    CHECK(guard.original_device() == npu.device(0));
  }
  CHECK(current_device(npu.type()) == npu.device(0));
  {
    OptionalDeviceGuard guard;
    guard.reset_device(kCPU);
    guard.reset_device(npu.device(1));
    CHECK(guard.original_device() == npu.device(0));
    guard.reset_device(kCPU);
    CHECK(current_device(npu.type()) == npu.device(0));
    guard.reset_device(npu.device(1));
    guard.reset();
    CHECK(current_device(npu.type()) == npu.device(0));
  }
}

TEST_CASE("an index out of range is refused with the number of devices, and changes nothing") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  const std::string text = "device npu:2 is out of range: the number of npu devices is 2";
  CHECK(error_of([&] { DeviceGuard{npu.device(2)}; }) == text);
  CHECK(error_of([&] { set_device(npu.device(2)); }) == text);
  CHECK(error_of([&] { synchronize(npu.device(2)); }) == text);
  CHECK(npu.asked().empty());

  npu.remove_all();
  const std::string none = "there is no npu device";
  CHECK(error_of([&] { DeviceGuard{npu.type()}; }) == none);
  CHECK(error_of([&] { current_device(npu.type()); }) == none);
  CHECK(error_of([&] { current_stream(npu.type()); }) == none);
}

TEST_CASE("a device type that nobody serves is named, and has no devices") {
  const std::string text =
      "no device guard for device type cuda: its backend is not loaded, or has not called register_device_guard()";
  CHECK(error_of([] { DeviceGuard("cuda:0"); }) == text);
  CHECK(error_of([] { DeviceGuard{kCUDA}; }) == text);
  CHECK(error_of([] { current_device(kCUDA); }) == text);
  CHECK(error_of([] { set_device(kCUDA); }) == text);
  CHECK(error_of([] { synchronize(kCUDA); }) == text);
  CHECK(error_of([] { current_stream(kCUDA); }) == text);
  CHECK(device_count(kCUDA) == 0);
  CHECK(device_count(static_cast<DeviceType>(200)) == 0);
}

TEST_CASE("a second registration is an error that names both, and the type can be served again") {
  FakeDevices npu, other;
  {
    const auto first = register_device_guard(npu, "first.cpp", 3);
    CHECK(error_of([&] { (void)register_device_guard(other, "second.cpp", 5); }) ==
          "device guard at second.cpp:5: device type npu has one already, registered at first.cpp:3");
    CHECK(find_device_guard_impl(npu.type()) == &npu);
  }
  CHECK(find_device_guard_impl(npu.type()) == nullptr);
  auto second = register_device_guard(other);
  CHECK(error_of([&] { (void)register_device_guard(npu); }).find("device_guard_test.cpp:") != std::string::npos);
  CHECK(find_device_guard_impl(npu.type()) == &other);
  DeviceGuardRegistration moved(std::move(second));
  second.undo();
  CHECK(find_device_guard_impl(npu.type()) == &other);
  moved.undo();
  CHECK(find_device_guard_impl(npu.type()) == nullptr);
}

TEST_CASE("built-in device types and unknown ones cannot be registered") {
  FakeDevices cpu(kCPU), unknown(static_cast<DeviceType>(200));
  CHECK(error_of([&] { (void)register_device_guard(cpu, "a.cpp", 7); }) ==
        "device guard at a.cpp:7: device type cpu has one already, which is built in");
  CHECK(error_of([&] { (void)register_device_guard(unknown, "a.cpp", 7); }) ==
        "device guard at a.cpp:7: there is no device type 200; register_device_type() makes one");
}

TEST_CASE("a guard that outlives its implementation restores nothing, nor on the next one") {
  FakeDevices npu, next;
  auto registration = register_device_guard(npu);
  std::optional<DeviceGuard> gone(npu.device(1)), replaced(npu.device(0));
  registration.undo();
  npu.asked();
  replaced.reset();
  CHECK(npu.asked().empty());
  const auto second = register_device_guard(next);
  CHECK(error_of([&] { gone->set_index(5); }) == "device npu:5 is out of range: the number of npu devices is 2");
  gone.reset();
  CHECK(npu.asked().empty());
  CHECK(next.asked().empty());
}

TEST_CASE("a tensor's memory is made under the guard of its device") {
  FakeDevices npu;
  const auto registration = register_device_guard(npu);
  FakeAllocator allocator(npu);
  Allocator* const before = set_allocator(npu.type(), &allocator);
  const TensorBase tensor = make_tensor({2}, kFloat, npu.device(1));
  CHECK(tensor.device() == npu.device(1));
  CHECK(current_device(npu.type()) == npu.device(0));
  CHECK(make_tensor({2}, kFloat, npu.type()).device() == npu.device(0));
  CHECK_THROWS_AS(make_tensor({2}, kFloat, npu.device(2)), Error);
  allocator.device = Device(kCPU);
  CHECK(error_of([&] { make_tensor({2}, kFloat, npu.device(1)); }) ==
        "memory of npu:1 was asked for, but its allocator gave memory of cpu");
  set_allocator(npu.type(), before);
}
