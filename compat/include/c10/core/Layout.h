// See docs/porting.md.
#pragma once

#include <keyway/core/tensor/layout.h>

#include <keyway_compat/namespaces.h>
