// Macros of c10's CUDA part that export symbols.
#pragma once

#include <c10/macros/Export.h>

#define C10_CUDA_API C10_EXPORT
#define TORCH_CUDA_CPP_API C10_EXPORT
#define TORCH_CUDA_CU_API C10_EXPORT
