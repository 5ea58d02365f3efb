#include <keyway/core/schema/schema.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/registry/copy_on_write_kernel.h>
#include <keyway/dispatch/registry/library.h>

namespace keyway::inline v1 {

namespace {

void call_with_own_bytes(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  const ArgumentList arguments = op.schema().arguments();
  const std::size_t first = stack.size() - arguments.size();
  // What gives a tensor another geometry or another history alone writes no bytes.
  const bool writes_bytes = !op.has_tag("history") && (!op.has_tag("inplace_view") || op.has_tag("nondeterministic"));
  for (std::size_t i = 0; i < arguments.size() && writes_bytes; ++i) {
    if (arguments[i].is_write())
      for_each_tensor({&stack[first + i], 1}, [](const TensorBase& tensor) { own_bytes(tensor); });
  }
  redispatch_boxed(op, keys.remove(Functionality::CopyOnWrite), stack);
}

}  // namespace

void register_copy_on_write() {
  static const bool registered = [] {
    Library library(Library::Kind::Impl, "_", DispatchKey::CopyOnWrite);
    library.fallback(&call_with_own_bytes);
    library.commit().release();
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace keyway::inline v1
