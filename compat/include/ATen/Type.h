// See docs/porting.md.
#pragma once

#include <ATen/ATen.h>
