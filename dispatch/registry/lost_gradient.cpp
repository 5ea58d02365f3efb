#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/warning.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/lost_gradient.h>
#include <keyway/dispatch/registry/registry.h>

#include <algorithm>
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

bool requires_grad(const TensorBase& tensor) { return tensor.defined() && tensor.requires_grad(); }
bool any_requires_grad(ArrayRef<TensorBase> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), requires_grad);
}
bool any_requires_grad(ArrayRef<std::vector<TensorBase>> lists) {
  return std::any_of(lists.begin(), lists.end(), [](const auto& list) { return any_requires_grad(list); });
}

// Of a typed call's argument of that schema type, a list or an optional one, at this address.
template <typename List>
bool any_requires_grad_at(const void* argument, bool optional) {
  if (!optional) return any_requires_grad(*static_cast<const List*>(argument));
  const auto& list = *static_cast<const std::optional<List>*>(argument);
  return list && any_requires_grad(*list);
}
bool requires_grad_at(const void* argument, SchemaType type) {
  const bool optional = type.is(TypeKind::Optional);
  if (optional) type = type.element();
  if (!type.is(TypeKind::List)) return requires_grad(*static_cast<const TensorBase*>(argument));
  if (type.element().is(TypeKind::List))
    return any_requires_grad_at<ArrayRef<std::vector<TensorBase>>>(argument, optional);
  return any_requires_grad_at<ArrayRef<TensorBase>>(argument, optional);
}

// Whether a call comes to a mark, where gradients are recorded.
bool meets_mark(const OperatorEntry& op, DispatchKeySet asked) {
  if (!grad_enabled() || !asked.has(Functionality::Autograd)) return false;
  const Table& table = op.table();
  return table.is_mark(table.find(asked).kernel);
}

}  // namespace

bool loses_gradient(const OperatorEntry& op, DispatchKeySet asked, const IValue* arguments) {
  if (!meets_mark(op, asked)) return false;
  for (std::uint64_t rest = op.info().boxed.tensors; rest != 0; rest &= rest - 1) {
    const IValue& value = arguments[std::countr_zero(rest)];
    if (any_tensor(value, [](const TensorBase& tensor) { return tensor.requires_grad(); })) return true;
  }
  return false;
}

bool detail::loses_gradient_at(const OperatorEntry& op, DispatchKeySet asked, const void* const* arguments) {
  if (!meets_mark(op, asked)) return false;
  const ArgumentList list = op.schema().arguments();
  for (std::uint64_t rest = op.info().boxed.tensors; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    if (requires_grad_at(arguments[i], list[static_cast<std::size_t>(i)].type())) return true;
  }
  return false;
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
