// Elements of a tensor by brackets.
#pragma once

#include <keyway/core/tensor/accessor.h>

#include <keyway_compat/namespaces.h>
