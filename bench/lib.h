// The library under test, as `lib`: the rows are one text, compiled against PyTorch and against Keyway,
// which has PyTorch's names. So both do the same work.
#pragma once

#if defined(KEYWAY_BENCH_TORCH)
#include <torch/torch.h>
namespace lib = torch;
#else
#include <keyway/keyway.h>
namespace lib = keyway;
#endif
