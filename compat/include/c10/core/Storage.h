// See docs/porting.md.
#pragma once

#include <keyway/core/tensor/storage.h>

#include <keyway_compat/namespaces.h>
