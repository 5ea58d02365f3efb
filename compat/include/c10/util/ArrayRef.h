// See docs/porting.md.
#pragma once

#include <keyway/core/base/array_ref.h>

#include <keyway_compat/namespaces.h>
