// What the loops of the family unary call.
#pragma once

#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/bessel.h>
#include <keyway/ops/functors/bitwise.h>
#include <keyway/ops/functors/comparison.h>
#include <keyway/ops/functors/division.h>
#include <keyway/ops/functors/error_function.h>
#include <keyway/ops/functors/exponential.h>
#include <keyway/ops/functors/gamma.h>
#include <keyway/ops/functors/rounding.h>
#include <keyway/ops/functors/select.h>
#include <keyway/ops/functors/sigmoid.h>
#include <keyway/ops/functors/sign.h>
#include <keyway/ops/functors/trigonometric.h>
