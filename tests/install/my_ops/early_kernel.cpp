// Registered before main, in the library that has the operators: a fallback and kernels of theirs.
#include <keyway/dispatch/registry/library.h>

namespace {

// Of no device: that it is registered is what counts.
void flip_rows(const keyway::TensorBase&, keyway::TensorBase&) {}

}  // namespace

KEYWAY_LIBRARY_IMPL(_, BackendSelect, m) { m.fallback(keyway::Fallthrough{}); }
KEYWAY_LIBRARY_IMPL(myops, AutocastCPU, m) { m.impl("cube", keyway::Fallthrough{}); }
KEYWAY_LIBRARY_IMPL(myops, CUDA, m) { m.kernel("flip_rows", flip_rows); }
