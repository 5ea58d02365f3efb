// build_model: schema files to the model. All errors of all files are reported in one run.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/model/model.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1 {

struct SourceFile {
  std::string path;  // as errors name it; its stem is the family's name
  std::string text;
};

// The families in the order of the files, or nothing if there is any error. Operators and helpers of one file may be
// called in another.
//
// With `base`, Keyway's schema files, the families are those of a library out of tree, whose operators all stand in one
// namespace; its formulas may call Keyway's operators and helpers, and mean their own where both have one of a name.
std::optional<std::vector<Family>> build_model(const std::vector<SourceFile>& files, Diagnostics& diagnostics,
                                               const std::vector<SourceFile>& base = {});

}  // namespace keyway::inline v1
