// Values of boxed calls, and of what a Function saves.
#pragma once

#include <keyway/dispatch/call/ivalue.h>

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
