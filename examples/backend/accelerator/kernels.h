// Where the accelerator's kernels are registered; each function stands in the file of its name.
#pragma once

#include <accelerator/kernel.h>

namespace accelerator {

void register_copies(Library& m);
void register_pointwise(Library& m);
void register_reductions(Library& m);
void register_rows(Library& m);
void register_losses(Library& m);
void register_products(Library& m);
void register_indexing(Library& m);
void register_optimizer(Library& m);

}  // namespace accelerator
