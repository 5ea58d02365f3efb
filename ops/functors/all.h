// All functors: what generated loops include.
#pragma once

#include <keyway/ops/functors/activation.h>
#include <keyway/ops/functors/activation_backward.h>
#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/bitwise.h>
#include <keyway/ops/functors/comparison.h>
#include <keyway/ops/functors/copy.h>
#include <keyway/ops/functors/division.h>
#include <keyway/ops/functors/exponential.h>
#include <keyway/ops/functors/math.h>
#include <keyway/ops/functors/opmath.h>
#include <keyway/ops/functors/reduction.h>
#include <keyway/ops/functors/rounding.h>
#include <keyway/ops/functors/scan.h>
#include <keyway/ops/functors/select.h>
#include <keyway/ops/functors/signature.h>
#include <keyway/ops/functors/trigonometric.h>
#include <keyway/ops/functors/with_scalar.h>
