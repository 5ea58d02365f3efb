// Tensors and their operators.
#pragma once

#include <ATen/AccumulateType.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <c10/core/Storage.h>
#include <c10/util/irange.h>
#include <keyway_compat/standard.h>
