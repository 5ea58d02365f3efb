// Which operators a build is to have.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/model/build_model.h>

#include <set>
#include <string>

namespace keyway::inline v1 {

// The full names of the overloads that a file asks for: one a line, "add.Tensor" or "keyway::add.Tensor", where #
// begins a comment; or what a DispatchRecorder has written (JSON), of which operators of other namespaces do not count.
// Names that no family has are reported.
std::set<std::string> read_selection(const SourceFile& file, const std::vector<Family>& families,
                                     Diagnostics& diagnostics);

}  // namespace keyway::inline v1
