#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/known_failures.h>

using namespace keyway;
using namespace keyway::testing;
using namespace keyway::tools;

TEST_CASE("known failures name an operator and a dtype, or all of its dtypes, and are used or not") {
  KnownFailures known("# a comment\n\nmm float64  # no unit for it\nerfinv *\nexp float16\n");
  CHECK(known.has("mm", kDouble));
  CHECK(!known.has("mm", kFloat));
  CHECK(known.has("erfinv", kHalf));
  CHECK(!known.has("exp", kFloat));
  CHECK(known.unused() == std::vector<std::string>{"exp float16"});
}

TEST_CASE("a line that is no known failure is an error with its number") {
  CHECK(error_of([] { KnownFailures("mm float64\nmm"); }) ==
        "line 2 of the known failures is 'mm', but must be 'operator dtype' or 'operator *'");
  CHECK(error_of([] { KnownFailures("mm float64 gpu"); }).starts_with("line 1 "));
}
