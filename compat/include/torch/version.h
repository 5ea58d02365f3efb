// The version whose C++ interface these headers spell.
#pragma once

#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 7
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION "2.7.0"
