// Uses lists of devices in kernels, typed calls, boxed calls and errors.
#include <keyway/keyway.h>

#include <cstdio>
#include <string>
#include <vector>

using namespace keyway;

KEYWAY_LIBRARY(my, m) {
  m.def<"count(Device[] devices) -> int">(
      [](ArrayRef<Device> devices) { return static_cast<std::int64_t>(devices.size()); });
  m.def("twice(Device[] devices) -> Device[]", [](std::vector<Device> devices) {
    devices.insert(devices.end(), devices.begin(), devices.end());
    return devices;
  });
}

int main() {
  const Dispatcher& dispatcher = Dispatcher::singleton();
  const std::vector<Device> devices{Device(kCPU), Device(kMeta)};
  const auto count = dispatcher.op("my::count").typed<std::int64_t(ArrayRef<Device>)>().call(devices);
  Stack stack{IValue(devices)};
  dispatcher.op("my::twice").call_boxed(stack);
  std::printf("typed %lld, boxed %zu\n", static_cast<long long>(count), stack[0].to_list_of<Device>().size());
  std::puts(to_string(stack[0]).c_str());
  std::puts(std::string(to_string(stack[0].tag())).c_str());
  try {
    Stack wrong{IValue(1)};
    dispatcher.op("my::count").call_boxed(wrong);
  } catch (const Error& error) {
    std::puts(error.what());
  }
}
