// Kernels for devices that another library serves, and operators whose calls go on until they are told to end.
#include <keyway/dispatch/plugin/plugin.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace keyway;

std::atomic<bool> may_end{false};
std::atomic<std::int64_t> waiting{0};

std::int64_t wait(const TensorBase&) {
  ++waiting;
  while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return --waiting;
}

}  // namespace

KEYWAY_PLUGIN(waits, plugin) {
  const DeviceType npu = register_device_type("npu");
  Library& own = plugin.library("waits");
  own.def("wait(Tensor self) -> int", wait);
  own.def("waiting(Tensor self) -> int", [](const TensorBase&) { return waiting.load(); });
  own.def("end(Tensor self) -> int", [](const TensorBase&) {
    may_end = true;
    return std::int64_t{0};
  });
  for (const Functionality functionality : {Functionality::Dense, Functionality::Autograd}) {
    plugin.impl("keyway", runtime_key(functionality, npu)).impl("relu", [](const TensorBase& self) { return self; });
  }
  plugin.impl("_", DispatchKey::CUDA).fallback(Fallthrough{});
}
