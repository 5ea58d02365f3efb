// See docs/porting.md.
#pragma once

#include <keyway/core/base/complex.h>

#include <keyway_compat/namespaces.h>
