#include <keyway/dispatch/call/boxed_arguments.h>
#include <keyway/tools/keyway/conform/judged.h>

namespace keyway::inline v1::tools {

std::optional<ConformState> state_without_calls(const OperatorHandle& op, DeviceType device, bool any_kernel) {
  const Table& table = op.entry().table();
  const DispatchKeySet keys = DispatchKeySet(device) | DispatchKeySet(Functionality::Dense);
  const std::size_t kernel = table.find(keys).kernel;
  if (kernel == 0 || takes_objects(op.schema())) return ConformState::Unsupported;
  if (any_kernel) return std::nullopt;
  if ((table.kernel(kernel).flags & kOfFallback) != 0) return ConformState::Fallback;
  const bool is_of_backend = table.info[kernel].key == keys.highest_priority_key();
  return is_of_backend ? std::nullopt : std::optional(ConformState::Composition);
}

}  // namespace keyway::inline v1::tools
