#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/warning.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/box_by_schema.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/lost_gradient.h>
#include <keyway/dispatch/registry/registry.h>

#include <bit>
#include <map>
#include <new>

namespace keyway::inline v1 {

namespace {

// The operators that a warning is given out for, or is about to be.
struct LostGradientWarnings {
  ForkSafeMutex mutex{LockOrder::Warnings};
  std::map<const OperatorEntry*, bool> given;  // false: claimed, and about to be given

  static LostGradientWarnings& get() {
    static LostGradientWarnings& warnings = *new LostGradientWarnings;
    return warnings;
  }
};

// Whether a call comes to a mark, where gradients are recorded, with an argument that requires one. `value` gives the
// argument of a number.
template <typename Value>
bool meets_mark(const OperatorEntry& op, DispatchKeySet asked, const Value& value) {
  if (!grad_enabled() || !asked.has(Functionality::Autograd)) return false;
  const Table& table = op.table();
  if (!table.is_mark(table.find(asked).kernel)) return false;
  for (std::uint64_t rest = op.info().boxed.tensors; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    if (any_tensor(value(i), [](const TensorBase& tensor) { return tensor.requires_grad(); })) return true;
  }
  return false;
}

}  // namespace

bool loses_gradient(const OperatorEntry& op, DispatchKeySet asked, const IValue* arguments) {
  return meets_mark(op, asked, [&](std::size_t i) -> const IValue& { return arguments[i]; });
}

bool detail::loses_gradient_at(const OperatorEntry& op, DispatchKeySet asked, const void* const* arguments) {
  return meets_mark(op, asked,
                    [&](std::size_t i) { return box_by_schema(op.schema().arguments()[i].type(), arguments[i]); });
}

bool lacks_gradient(const TensorBase& result) {
  return result.defined() && !result.requires_grad() && (result.is_floating_point() || result.is_complex());
}

bool claim_lost_gradient(const OperatorEntry& op) {
  LostGradientWarnings& warnings = LostGradientWarnings::get();
  const std::lock_guard lock(warnings.mutex);
  return warnings.given.emplace(&op, false).second;
}

void unclaim_lost_gradient(const OperatorEntry& op) noexcept {
  LostGradientWarnings& warnings = LostGradientWarnings::get();
  const std::lock_guard lock(warnings.mutex);
  warnings.given.erase(&op);
}

bool is_lost_gradient_settled(const OperatorEntry& op) {
  LostGradientWarnings& warnings = LostGradientWarnings::get();
  const std::lock_guard lock(warnings.mutex);
  const auto at = warnings.given.find(&op);
  return at != warnings.given.end() && at->second;
}

void settle_lost_gradient(const OperatorEntry& op) noexcept {
  Registry& registry = Registry::get();
  const std::lock_guard no_change(registry.mutex);
  {
    LostGradientWarnings& warnings = LostGradientWarnings::get();
    const std::lock_guard lock(warnings.mutex);
    warnings.given.at(&op) = true;  // it is claimed
  }
  try {
    registry.publish(op);
  } catch (const std::bad_alloc&) {
  }
}

std::string lost_gradient_text(const OperatorEntry& op) {
  return op.full_name() +
         " has no kernel at Autograd, so that its result has no gradient, though an argument requires one: register a "
         "kernel for Autograd, or in Python a gradient by keyway.library.register_autograd";
}

void detail::warn_of_lost_gradient(const OperatorEntry& op) {
  if (!claim_lost_gradient(op)) return;
  settle_lost_gradient(op);
  warn(lost_gradient_text(op));
}

}  // namespace keyway::inline v1
