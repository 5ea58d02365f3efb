#include <keyway/core/base/error.h>
#include <keyway/tests/catch.h>

#include <atomic>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

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

TEST_CASE("threads may rethrow one error inside operators, and keep what it told them") {
  const std::exception_ptr error = std::make_exception_ptr(Error(ErrorKind::Index, "no such index", "file.cpp", 7));
  std::atomic<int> wrong{0};
  const auto rethrow = [&](std::string_view op) {
    for (int round = 0; round < 500; ++round) {
      try {
        std::rethrow_exception(error);
      } catch (Error& caught) {
        const char* const before = caught.what();
        const std::string text = before;
        caught.leave_op(op);
        const std::string_view named = caught.op();
        if (text != before || (named != "first" && named != "second") || caught.message() != "no such index") ++wrong;
      }
    }
  };
  std::thread one(rethrow, "first"), other(rethrow, "second");
  one.join();
  other.join();
  CHECK(wrong == 0);
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
