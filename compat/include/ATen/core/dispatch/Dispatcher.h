// Operators by name.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

#include <ATen/core/ivalue.h>
