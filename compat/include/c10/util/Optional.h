// std::optional under its names in c10.
#pragma once

#include <keyway_compat/namespaces.h>
