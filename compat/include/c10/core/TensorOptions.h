// See docs/porting.md.
#pragma once

#include <keyway/core/tensor/tensor_options.h>

#include <keyway_compat/namespaces.h>
