#include <keyway/dispatch/call/boxed_arguments.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace keyway::inline v1 {

namespace {

[[noreturn]] void refuse(const OperatorEntry& op, std::string text, const char* file, int line) {
  Error error(ErrorKind::Type, std::move(text), file, line);
  error.leave_op(op.short_name());
  throw error;
}

// `before`: how many values were on the stack, with the arguments.
__attribute__((noinline)) void check_boxed_results(const OperatorEntry& op, const Stack& stack, std::size_t before) {
  const std::size_t arguments = op.info().boxed.arguments;
  try {
    detail::check_results(op, stack, before < arguments ? 0 : before - arguments);
  } catch (Error& error) {
    error.leave_op(op.short_name());
    throw;
  }
}

__attribute__((always_inline)) inline DispatchKeySet keys_on_stack(const OperatorEntry& op, const Stack& stack) {
  const BoxedCallInfo info = op.info().boxed;
  KEYWAY_CHECK_AS(Type, stack.size() >= info.arguments, "{} takes {} arguments, but {} are on the stack",
                  op.short_name(), info.arguments, stack.size());
  const IValue* arguments = stack.data() + (stack.size() - info.arguments);
  DispatchKeySet keys;
  for (std::uint64_t rest = info.tensors; rest != 0; rest &= rest - 1) {
    keys = keys | arguments[std::countr_zero(rest)].tensor_keys();
  }
  if (info.tensors == 0 && info.device >= 0) {
    const IValue& device = arguments[info.device];
    if (!device.is_none() && !device.is(ValueTag::Device)) {
      refuse(op, detail::wrong_argument(op, stack), __FILE__, __LINE__);
    }
    keys = detail::factory_keys(device.is_none() ? DeviceType::CPU : device.to_device().type());
  }
  return detail::with_thread_keys(keys);
}

// Requires: `found` is what the table gave.
__attribute__((always_inline)) inline void call_kernel(const OperatorEntry& op, const Table& table, Table::Found found,
                                                       Stack& stack) {
  const ErasedKernel& kernel = table.kernel(found.kernel);
  const bool has_typed_form = (kernel.flags & kBoxedOnly) == 0;
  const std::size_t before = stack.size();
  try {
    kernel.boxed(op, kernel, found.keys, stack);
  } catch (Error& error) {
    if (!error.op().empty()) throw;
    // Of the values on the stack, not of the operator's work.
    if (error.kind() == ErrorKind::Type && stack.size() >= op.info().boxed.arguments) {
      std::string text = detail::wrong_argument(op, stack);
      if (!text.empty()) refuse(op, std::move(text), error.file(), error.line());
    }
    error.leave_op(op.short_name());
    throw;
  }
  // Callers read as many results as the schema has. What has a typed form leaves these.
  if (!has_typed_form) {
    const BoxedCallInfo info = op.info().boxed;
    const bool right_without_results = !info.has_results && stack.size() + info.arguments == before;
    if (!right_without_results) check_boxed_results(op, stack, before);
  }
}

bool any_lacks_gradient(const IValue& value) { return any_tensor(value, lacks_gradient); }

// Of a kernel that may go, or past a mark of lost gradients.
__attribute__((noinline)) void call_slowly(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  const KernelUseGuard pinned(op, keys);
  const auto [table, found] = std::pair(&pinned.table(), pinned.found());
  const std::size_t arguments = op.info().boxed.arguments, before = stack.size();
  const bool loses = before >= arguments && loses_gradient(op, keys, stack.data() + (before - arguments));
  call_kernel(op, *table, found, stack);
  if (loses &&
      std::any_of(stack.begin() + static_cast<std::ptrdiff_t>(before - arguments), stack.end(), any_lacks_gradient))
    detail::warn_of_lost_gradient(op);
}

__attribute__((always_inline)) inline void run(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  const Table& table = op.table();
  const Table::Found found = table.find(keys);
  if ((table.kernel(found.kernel).flags & (kCounted | kLosesGradient)) != 0) [[unlikely]]
    return call_slowly(op, keys, stack);
  call_kernel(op, table, found, stack);
}

}  // namespace

DispatchKeySet boxed_call_keys(const OperatorEntry& op, const Stack& stack) { return keys_on_stack(op, stack); }
void redispatch_boxed(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) { run(op, keys, stack); }
void call_boxed(const OperatorEntry& op, Stack& stack) { run(op, keys_on_stack(op, stack), stack); }

}  // namespace keyway::inline v1
