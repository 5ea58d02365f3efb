#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/box_by_schema.h>
#include <keyway/dispatch/call/boxed_arguments.h>
#include <keyway/dispatch/call/kernel_adapter.h>
#include <keyway/dispatch/call/operator_entry.h>

#include <algorithm>

namespace keyway::inline v1::detail {

void fail_arguments(std::size_t wanted, std::size_t have) {
  KEYWAY_FAIL(Type, "the call takes {} arguments, but {} are on the stack", wanted, have);
}

Stack call_boxed_kernel(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys,
                        const void* const* arguments) {
  const ArgumentList wanted = op.schema().arguments();
  const std::size_t results = op.schema().returns().size();
  Stack stack;
  stack.reserve(std::max(wanted.size(), results));
  for (std::size_t i = 0; i < wanted.size(); ++i) stack.push_back(box_by_schema(wanted[i].type(), arguments[i]));
  kernel.boxed(op, kernel, keys, stack);
  check_results(op, stack, 0);
  return stack;
}

TensorBase& written_argument(const OperatorEntry& op, const void* const* arguments, const IValue& result) {
  const TensorBase tensor = result.to_tensor();
  const ArgumentList schema = op.schema().arguments();
  for (std::size_t i = 0; i < schema.size(); ++i) {
    if (!schema[i].type().is(TypeKind::Tensor) || !schema[i].type().is_write()) continue;
    auto* const written = static_cast<TensorBase*>(const_cast<void*>(arguments[i]));
    if (written->is_same(tensor)) return *written;
  }
  KEYWAY_FAIL(Type, "a boxed kernel returned a tensor that is none of the arguments its schema writes to");
}

}  // namespace keyway::inline v1::detail
