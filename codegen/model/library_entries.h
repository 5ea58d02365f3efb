// What entries of a library out of tree may not say, besides what no entry may.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/model/model.h>

#include <string>
#include <vector>

namespace keyway::inline v1 {

// The namespace of the library whose families these are: the one that all its operators have. Reports what cannot be
// generated out of tree.
std::string check_library(const std::vector<Family>& families, Diagnostics& diagnostics);

}  // namespace keyway::inline v1
