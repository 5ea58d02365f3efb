// The command line of keyway-codegen, as a function.
#pragma once

#include <string>
#include <vector>

namespace keyway::inline v1 {

struct DriverResult {
  int exit_code;         // 0: done; 1: the schema files have errors; 2: wrong usage, or a file cannot be read or
                         // written
  std::string out = {};  // for standard output
  std::string err = {};  // for standard error
};

// keyway-codegen [--list-to FILE] [--expect FILE] [--base FILE]... --out DIR FILE...
// keyway-codegen --select FILE --out DIR FILE...
// keyway-codegen --show OP [--base FILE]... FILE...
// Writes nothing unless all files are right. Does not throw.
DriverResult run_codegen(const std::vector<std::string>& arguments);

}  // namespace keyway::inline v1
