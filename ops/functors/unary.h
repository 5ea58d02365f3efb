// What the loops of the family unary call.
#pragma once

#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/bitwise.h>
#include <keyway/ops/functors/comparison.h>
#include <keyway/ops/functors/division.h>
#include <keyway/ops/functors/exponential.h>
#include <keyway/ops/functors/rounding.h>
#include <keyway/ops/functors/sigmoid.h>
#include <keyway/ops/functors/sign.h>
#include <keyway/ops/functors/special.h>
#include <keyway/ops/functors/trigonometric.h>
