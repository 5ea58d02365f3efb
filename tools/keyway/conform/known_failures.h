// KnownFailures: what is known to fail on a device, from a file that is kept with its backend.
#pragma once

#include <keyway/core/dtype/scalar_type.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::inline v1::tools {

// One line for an operator and a dtype, or for all of its dtypes; what stands behind # is a comment:
//
//   mm float64      # the matrix unit has no float64
//   erfinv *
//
// It is strict both ways: what is not listed must pass, and what is listed must fail.
class KnownFailures {
 public:
  KnownFailures() = default;
  // Throws keyway::Error(Parse) with the line that is none of the above.
  explicit KnownFailures(std::string_view text);

  // Whether a failure is listed, which is then used.
  bool has(const std::string& op, ScalarType dtype);
  // The lines that no failure used.
  std::vector<std::string> unused() const;

 private:
  std::set<std::pair<std::string, std::string>> lines_, used_;
};

}  // namespace keyway::inline v1::tools
