#include <keyway/core/base/error.h>
#include <keyway/tests/catch.h>

using namespace keyway;

TEST_CASE("an error's text puts values in place of braces") {
  const std::int64_t sizes[] = {2, 3};
  const std::string text = testing::error_of([&] {
    KEYWAY_CHECK(false, "shape {} has {} dimensions, not {{{}}}; contiguous is {}", IntArrayRef(sizes), 2, 1.5, true);
  });
  CHECK(text == "shape [2, 3] has 2 dimensions, not {1.5}; contiguous is True");
}

TEST_CASE("an error names the innermost operator first and then its callers") {
  Error error(ErrorKind::Value, "sizes differ", "file.cpp", 7);
  error.leave_op("mm");
  error.leave_op("mm");
  error.leave_op("linear");
  CHECK(std::string(error.what()) == "mm: sizes differ (called from linear)");
  CHECK(error.op() == "mm");
  CHECK(error.message() == "sizes differ");
  CHECK(error.line() == 7);
}

TEST_CASE("KEYWAY_CHECK does not evaluate its values when the condition holds") {
  int evaluated = 0;
  KEYWAY_CHECK(true, "never {}", ++evaluated);
  CHECK(evaluated == 0);
}

TEST_CASE("KEYWAY_FAIL sets the kind") {
  try {
    KEYWAY_FAIL(Index, "index {} is out of range", 7);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Index);
    CHECK(std::string(error.file()).find("error_test.cpp") != std::string::npos);
    return;
  }
  FAIL("nothing was thrown");
}
