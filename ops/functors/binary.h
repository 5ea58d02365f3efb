// What the loops of the family binary call.
#pragma once

#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/bitwise.h>
#include <keyway/ops/functors/comparison.h>
#include <keyway/ops/functors/division.h>
#include <keyway/ops/functors/exponential.h>
#include <keyway/ops/functors/extrema.h>
#include <keyway/ops/functors/gamma.h>
#include <keyway/ops/functors/incomplete_gamma.h>
#include <keyway/ops/functors/sign.h>
#include <keyway/ops/functors/trigonometric.h>
