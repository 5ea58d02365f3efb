// The generated suite of a library out of tree (keyway_test_ops): runs the tests that are named, or all, and prints
// what is wrong.
#include <keyway/core/base/error.h>
#include <keyway/dispatch/plugin/load_library.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/gradient_exceptions.h>
#include <keyway/tests/ops/op_cases.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace keyway::inline v1::testing::framework {

namespace {

// Of one test; what is wrong is mostly wrong in many calls.
constexpr std::size_t kShown = 20;

}  // namespace

void report(std::string_view claim, std::string_view values, const char* file, int line) {
  if (++failures > kShown) return;
  std::string text;
  for (const std::string& about : context) text += "  " + about + "\n";
  text += "    does not hold: " + std::string(claim) + "\n";
  if (!values.empty()) text += "    which is: " + std::string(values) + "\n";
  std::printf("%s    (%s:%d)\n", text.c_str(), file, line);
}

namespace {

// Whether all its claims hold.
bool passes(const Test& test) {
  failures = 0;
  context.clear();
  try {
    test.run();
  } catch (const Abandoned&) {
  } catch (const std::exception& error) {
    report("no error", error.what(), __FILE__, __LINE__);
  }
  if (failures > kShown) std::printf("  and %zu more\n", failures - kShown);
  std::printf("%s: %s\n", failures == 0 ? "passed" : "FAILED", test.name);
  std::fflush(stdout);
  return failures == 0;
}

// Throws keyway::Error for a name that NO_GRADCHECK has and no operator.
void check_exceptions() {
  std::string_view names = KEYWAY_NO_GRADCHECK;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const bool known = std::any_of(kOpCases.begin(), kOpCases.end(), [&](const OpCases& op) { return op.op == name; });
    KEYWAY_CHECK(known, "NO_GRADCHECK: the library has no operator '{}'", name);
  }
}

int run(const std::vector<std::string_view>& names) {
#if defined(KEYWAY_SUITE_LIBRARY)
  load_library(KEYWAY_SUITE_LIBRARY);
#endif
  check_exceptions();
  std::size_t found = 0, wrong = 0;
  for (const Test& test : all_tests()) {
    if (!names.empty() && std::find(names.begin(), names.end(), test.name) == names.end()) continue;
    ++found;
    if (!passes(test)) ++wrong;
  }
  KEYWAY_CHECK(found >= std::max<std::size_t>(names.size(), 1), "there is no test of that name");
  return wrong == 0 ? 0 : 1;
}

}  // namespace

}  // namespace keyway::inline v1::testing::framework

int main(int count, char** arguments) {
  try {
    return keyway::testing::framework::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 2;
  }
}
