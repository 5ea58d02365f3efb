// Registration; custom classes are not there (docs/porting.md).
#pragma once

#include <torch/library.h>
