// See docs/porting.md.
#pragma once

#include <keyway/core/dtype/scalar.h>

#include <keyway_compat/namespaces.h>
