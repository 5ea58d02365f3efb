// See docs/porting.md.
#pragma once

#include <keyway/core/keys/dispatch_key_set.h>

#include <keyway_compat/namespaces.h>
