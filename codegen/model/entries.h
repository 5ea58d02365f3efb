// The stage between the JSON of a schema file and its model: from entries as they are written to entries as they are
// meant. Macros are replaced, texts joined, and an entry template becomes one entry for each value of its words:
//
//   { "for": { "N": [2, 3], "what": ["plane", "volume"] },
//     "func": "pool{N}d(Tensor self) -> Tensor", "doc": "The mean of each {what}.", ... }
//
// Whatever comes of an entry keeps the place where it is written.
#pragma once

#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/json/json_value.h>

#include <cstddef>
#include <string>
#include <vector>

namespace keyway::inline v1 {

// Which entry of a file an operator comes from.
struct EntryOrigin {
  std::size_t written;  // its number among the entries, which all entries of a template share
  std::string words;    // "N = 2": which of them it is; empty without "for"
  bool whole = true;    // false: a macro in it is wrong, which has been reported
};

// The document of a schema file without macros and templates.
struct ExpandedFile {
  JsonValue json;
  std::vector<EntryOrigin> origins;  // of each of its "ops"
};

// Reports what is wrong with macros and templates. Other shapes than entry_shape.h wants stay as they are, to be found
// there.
ExpandedFile expand_entries(const JsonValue& file, const Report& report);

}  // namespace keyway::inline v1
