// See docs/porting.md.
#pragma once

#include <keyway/core/keys/dispatch_key.h>

#include <keyway_compat/namespaces.h>
