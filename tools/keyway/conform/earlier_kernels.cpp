#include <keyway/tools/keyway/conform/earlier_kernels.h>

namespace keyway::inline v1::tools {

void EarlierKernels::call(const ObservedCall& call) {
  const Table* const before = scopes_ > 0 ? before_.table_of(call.op) : nullptr;
  if (before == nullptr) {
    call.proceed();
    return;
  }
  const Table::Found found = before->find_past_mark(call.keys);
  const ErasedKernel& kernel = before->kernel(found.kernel);
  kernel.boxed(call.op, kernel, found.keys, call.stack);
}

}  // namespace keyway::inline v1::tools
