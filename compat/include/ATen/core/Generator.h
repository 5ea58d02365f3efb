// Generators of random numbers.
#pragma once

#include <keyway/core/random/generator.h>

#include <keyway_compat/namespaces.h>
