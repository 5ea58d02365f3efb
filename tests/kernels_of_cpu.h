// Every kernel of the CPU, for another key: the wrappers are those of devices, and what they call is the CPU's.
#pragma once

#include <keyway/dispatch/call/backend_kernel.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/dispatch/registry/observer.h>

#include <utility>

namespace keyway::inline v1::testing {

// Of the operators that `takes` is true of. nonzero is not among them: the CPU's makes its result, on the CPU.
template <typename F>
BlockRequest kernels_of_cpu(DispatchKey key, F&& takes) {
  BlockRequest request;
  request.site = {"kernels_of_cpu.h", 1};
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const OpInfo& info = op.entry().info();
    const Table& table = unobserved(op.entry().table());
    const std::uint8_t number = table.slots[static_cast<std::size_t>(DispatchKey::CPU)];
    const bool makes_result = op.name().starts_with("keyway::nonzero");
    if (info.wrapper == nullptr || table.info[number].key != DispatchKey::CPU || makes_result || !takes(op)) continue;
    AnyKernel kernel{info.wrapper->kernel(), info.wrapper->code, {}};
    kernel.kernel.context = table.kernel(number).context;
    request.impls.push_back({op.name(), key, std::move(kernel), "", request.site});
  }
  return request;
}

}  // namespace keyway::inline v1::testing
