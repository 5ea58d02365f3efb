// Registered before main, maybe before the operators are: a fallback and a kernel of theirs.
#include <keyway/dispatch/library.h>

KEYWAY_LIBRARY_IMPL(_, Tracer, m) { m.fallback(keyway::Fallthrough{}); }
KEYWAY_LIBRARY_IMPL(myops, AutocastCPU, m) { m.impl("cube", keyway::Fallthrough{}); }
