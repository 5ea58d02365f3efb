// Reference counts inside the object.
#pragma once

#include <keyway/core/base/intrusive_ptr.h>

#include <keyway_compat/namespaces.h>
