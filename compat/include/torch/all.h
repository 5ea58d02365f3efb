// All of the C++ side.
#pragma once

#include <keyway/keyway.h>

#include <torch/script.h>
