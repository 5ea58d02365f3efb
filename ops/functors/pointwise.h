// What the loops of the family pointwise call.
#pragma once

#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/division.h>
#include <keyway/ops/functors/select.h>
#include <keyway/ops/functors/with_scalar.h>
