#include <keyway/core/base/error.h>
#include <keyway/tools/keyway/conform/known_failures.h>

#include <sstream>

namespace keyway::inline v1::tools {

KnownFailures::KnownFailures(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string op, dtype, more;
    if (!(words >> op)) continue;
    KEYWAY_CHECK_AS(Parse, (words >> dtype) && !(words >> more),
                    "line {} of the known failures is '{}', but must be 'operator dtype' or 'operator *'", number,
                    line);
    lines_.emplace(op, dtype);
  }
}

bool KnownFailures::has(const std::string& op, ScalarType dtype) {
  for (const std::string& each : {std::string(to_string(dtype)), std::string("*")}) {
    if (lines_.count({op, each}) == 0) continue;
    used_.emplace(op, each);
    return true;
  }
  return false;
}

std::vector<std::string> KnownFailures::unused() const {
  std::vector<std::string> unused;
  for (const auto& line : lines_) {
    if (used_.count(line) == 0) unused.push_back(line.first + " " + line.second);
  }
  return unused;
}

}  // namespace keyway::inline v1::tools
