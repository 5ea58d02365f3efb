// serve: registers a kernel of this backend. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/named_kernel.h>
#include <keyway/dispatch/registry/library.h>

namespace keyway::inline v1::cuda {

// Every kernel that the backend has; generated from the schema files.
void register_kernels(Library& m);

// Of an operator and its overloads, unless the library was built without it. It is registered where its entry stands.
template <FixedString op, auto* function>
void serve(Library& m, const char* name) {
  const auto known = Dispatcher::singleton().find_op(op.view());
  if (!known) return;
  const OpInfo& info = known->entry().info();
  m.kernel(op.view(), &NamedKernel<op, function>::call, {info.file, info.line}).debug(name);
}

}  // namespace keyway::inline v1::cuda
