#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/line_breaks.h>
#include <keyway/tests/catch.h>

#include <string>

using namespace keyway;

namespace {

const std::string kLong(60, 'x');

}  // namespace

TEST_CASE("a line that fits stays, and so does a comment") {
  const std::string text = "  f(a, b);\n\n// " + kLong + ", " + kLong + "\n";
  CHECK(with_breaks(text) == text);
  CHECK(with_breaks("no newline") == "no newline");
  CHECK(with_breaks("").empty());
}

TEST_CASE("a line is broken as far out, and as late, as it can be") {
  CHECK(with_breaks("  f(g(a, " + kLong + "), b, " + kLong + ");\n") ==
        "  f(g(a, " + kLong + "), b,\n      " + kLong + ");\n");
  CHECK(with_breaks("  if (" + kLong + " || a(b, c) && " + kLong + ") {\n") ==
        "  if (" + kLong + " || a(b, c) &&\n      " + kLong + ") {\n");
}

TEST_CASE("a literal is broken only where nothing else is left") {
  CHECK(with_breaks("  f(\"" + kLong + " a\", " + kLong + ");\n") ==
        "  f(\"" + kLong + " a\",\n      " + kLong + ");\n");
  CHECK(with_breaks("  f(\"" + kLong + " a " + kLong + "\");\n") ==
        "  f(\"" + kLong + " a \"\n      \"" + kLong + "\");\n");
}

TEST_CASE("commas in a literal are no places to break between arguments") {
  const std::string line = "  f(\"" + kLong + ", " + kLong + "\");\n";
  CHECK(with_breaks(line) == "  f(\"" + kLong + ", \"\n      \"" + kLong + "\");\n");
}

TEST_CASE("a line without a place to break stays") {
  const std::string line = "  " + kLong + kLong + kLong + ";\n";
  CHECK(with_breaks(line) == line);
}
