// What the loops of the family indexing call.
#pragma once

#include <keyway/ops/functors/select.h>
