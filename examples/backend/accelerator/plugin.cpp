// The backend: what a plug-in registers to make a device type of an accelerator.
#include <keyway/core/device/device_backend.h>
#include <keyway/dispatch/plugin/plugin.h>

#include <accelerator/allocator.h>
#include <accelerator/compiler.h>
#include <accelerator/guard.h>
#include <accelerator/kernels.h>
#include <cstdlib>

namespace {

using namespace keyway;

// Of each device; ACCELERATOR_MEMORY says it in MiB.
std::size_t memory_of_a_device() {
  const char* const text = std::getenv("ACCELERATOR_MEMORY");
  const std::size_t mebibytes = text == nullptr ? 256 : std::strtoul(text, nullptr, 10);
  KEYWAY_CHECK(mebibytes >= 1 && mebibytes <= 65536, "ACCELERATOR_MEMORY is '{}', but must be 1 to 65536", text);
  return mebibytes << 20;
}

}  // namespace

KEYWAY_PLUGIN(accelerator, plugin) {
  const DeviceType type = register_device_type("accel");
  const auto hardware = std::make_shared<accelerator::Hardware>(memory_of_a_device());
  plugin.keep(
      register_device_backend(type, {.guard = std::make_shared<accelerator::AcceleratorGuard>(type, hardware),
                                     .allocator = std::make_shared<accelerator::CachingAllocator>(type, hardware)}));
  plugin.keep(keyway::graph::register_graph_backend(type, std::make_shared<accelerator::Compiler>()));
  const DispatchKey key = runtime_key(Functionality::Dense, type);
  Library& kernels = plugin.impl("keyway", key);
  accelerator::register_copies(kernels);
  accelerator::register_pointwise(kernels);
  accelerator::register_reductions(kernels);
  accelerator::register_rows(kernels);
  accelerator::register_losses(kernels);
  accelerator::register_products(kernels);
  accelerator::register_indexing(kernels);
  accelerator::register_optimizer(kernels);
  plugin.impl("_", key).fallback(cpu_fallback);
}
