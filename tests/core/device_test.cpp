#include <keyway/core/device/device.h>
#include <keyway/tests/catch.h>

#include <string>
#include <thread>
#include <vector>

using namespace keyway;
using keyway::testing::error_of;

TEST_CASE("a device's text and its parts agree") {
  static_assert(sizeof(Device) == 2);
  for (const char* text : {"cpu", "cpu:0", "cuda", "cuda:1", "cuda:127", "meta"})
    CHECK(to_string(Device(text)) == text);
  CHECK(Device("cuda:1") == Device(kCUDA, 1));
  CHECK(Device("cuda") == Device(kCUDA));
  CHECK(Device("cuda") != Device("cuda:0"));
  CHECK(Device("cuda").index() == -1);
  CHECK(!Device("cuda").has_index());
  CHECK(Device("cuda:3").is_cuda());
  CHECK(Device(std::string("meta")).is_meta());
}

TEST_CASE("text that is no device is refused with the reason") {
  CHECK(error_of([] { Device("gpu"); })
            .find("'gpu' is not a device: there is no device type 'gpu'. The types are cpu, "
                  "cuda, meta") == 0);
  for (const char* text : {"", ":", ":1", "CUDA", " cuda", "cuda ", "cud", "cudaa"}) {
    CAPTURE(text);
    CHECK(error_of([&] { Device{text}; }).find("there is no device type") != std::string::npos);
  }
  for (const char* text : {"cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda:01", "cuda:128", "cuda:1:2", "cuda: 1",
                           "cuda:99999999999999999999"}) {
    CAPTURE(text);
    CHECK(error_of([&] { Device{text}; }) ==
          "'" + std::string(text) +
              "' is not a device: after 'cuda:' comes a number from 0 to 127 without leading zeros.");
  }
  CHECK(error_of([] { Device(kCUDA, -2); }) ==
        "-2 is not an index of a cuda device; indices are 0 to 127, and -1 for the current one.");
}

// The registry lasts as long as the program, so one test walks it from empty to full.
TEST_CASE("device types are named at load time, once each, up to 21") {
  std::vector<DeviceType> of_threads(4);
  std::vector<std::thread> threads;
  for (auto& mine : of_threads) threads.emplace_back([&mine] { mine = register_device_type("npu"); });
  for (auto& thread : threads) thread.join();
  for (const DeviceType type : of_threads) CHECK(type == static_cast<DeviceType>(3));
  CHECK(to_string(static_cast<DeviceType>(3)) == "npu");
  CHECK(find_device_type("npu") == static_cast<DeviceType>(3));
  CHECK(to_string(Device("npu:2")) == "npu:2");
  CHECK(to_string(static_cast<DeviceType>(4)) == "unknown");
  CHECK(to_string(static_cast<DeviceType>(200)) == "unknown");

  for (const char* name : {"", "Npu", "1npu", "_npu", "n-pu", "n pu", "npu:1", "a123456789012345678901234567890x"}) {
    CAPTURE(name);
    CHECK(error_of([&] { register_device_type(name); }).find("cannot name a device type") != std::string::npos);
  }
  CHECK(error_of([] { register_device_type("cuda"); }) ==
        "'cuda' is a built-in device type; register a device under a name of its own.");

  for (int i = 4; i < kNumDeviceTypes; ++i) {
    CHECK(register_device_type("x_" + std::to_string(i)) == static_cast<DeviceType>(i));
  }
  CHECK(register_device_type("npu") == static_cast<DeviceType>(3));
  CHECK(error_of([] {
          register_device_type("one_more");
        }).find("There is no room for device type 'one_more': all 24 are taken (cpu, cuda, meta, npu, x_4") == 0);
}
