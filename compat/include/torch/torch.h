// All of the C++ side.
#pragma once

#include <torch/all.h>
