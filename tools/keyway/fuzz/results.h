// What is checked of results.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/kernel.h>

#include <string>
#include <vector>

namespace keyway::inline v1::tools {

// All tensors among the results, those of lists too; undefined ones left out.
std::vector<TensorBase> tensors_of(const Stack& results);
// What is wrong with the metadata of a result; empty if nothing is.
std::string inconsistency(const Stack& results);
// Where the metadata of results on Meta differs from that elsewhere.
std::string metadata_difference(const Stack& meta, const Stack& cpu);

}  // namespace keyway::inline v1::tools
