// See docs/porting.md.
#pragma once

#include <keyway/core/base/half.h>

#include <keyway_compat/namespaces.h>
