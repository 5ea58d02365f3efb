// DLPack's structures, under their names.
#pragma once

#include <keyway/core/tensor/dlpack.h>

#ifdef DLPACK_DLPACK_H_
#error "DLPack's own header is included already, with structures of the same names: include <ATen/dlpack.h> alone"
#endif
#define DLPACK_DLPACK_H_

using namespace keyway::dlpack;  // NOLINT(google-build-using-namespace): a C header's names are global
