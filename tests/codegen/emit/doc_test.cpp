#include <keyway/codegen/emit/doc.h>
#include <keyway/tests/catch.h>

#include <string>

using namespace keyway;

namespace {

// A name of that many columns.
std::string name(std::size_t size) { return std::string(size, 'x'); }
std::string blanks(std::size_t size) { return std::string(size, ' '); }

}  // namespace

TEST_CASE("what fits in 120 columns stays in one line") {
  CHECK((Doc::assignment("y", Doc::list("f(", {"a", Doc::infix("b", "+", "c")}, ")")) + ";").lines(2) ==
        "  y = f(a, b + c);\n");
  CHECK(Doc::list("f(", {name(59), name(56)}, ")").lines() == "f(" + name(59) + ", " + name(56) + ")\n");
  CHECK(Doc::list("f(", {name(59), name(57)}, ")").lines() == "f(" + name(59) + ",\n  " + name(57) + ")\n");
  CHECK(Doc::list("f(", {name(59), name(56)}, ")").lines(1) == " f(" + name(59) + ",\n   " + name(56) + ")\n");
  CHECK(Doc("f(x)").fits(116));
  CHECK_FALSE(Doc("f(x)").fits(117));
}

TEST_CASE("what has no place to break stays in one line, too") {
  CHECK(Doc(name(200)).lines(2) == "  " + name(200) + "\n");
  CHECK(Doc::list("f(", {name(200)}, ");").lines() == "f(" + name(200) + ");\n");
  CHECK(Doc::list("name(", {name(200)}, ");").lines() == "name(\n    " + name(200) + ");\n");
  CHECK(Doc::literal(name(200)).lines() == "\"" + name(200) + "\"\n");
  CHECK(Doc().lines() == "\n");
}

TEST_CASE("items stand below the first one, or four columns in if that saves lines") {
  CHECK(Doc::list("call(", {name(50), name(50), name(50)}, ");").lines(2) ==
        "  call(" + name(50) + ", " + name(50) + ",\n       " + name(50) + ");\n");
  CHECK(Doc::list(name(80) + "(", {name(35), name(35), name(35)}, ");").lines(2) ==
        "  " + name(80) + "(\n      " + name(35) + ", " + name(35) + ", " + name(35) + ");\n");
  CHECK(Doc::list(name(100) + "(", {name(35), name(35)}, ");").lines() ==
        name(100) + "(\n    " + name(35) + ", " + name(35) + ");\n");
}

TEST_CASE("a line breaks as far out as it can") {
  const Doc inner = Doc::list("g(", {name(40), name(40)}, ")");
  CHECK(Doc::list("f(", {name(40), inner}, ");").lines() ==
        "f(" + name(40) + ",\n  g(" + name(40) + ", " + name(40) + "));\n");
  CHECK(("return " + Doc::list("f(", {Doc::list("g(", {name(50), name(55)}, ")")}, ");")).lines(2) ==
        "  return f(\n      g(" + name(50) + ", " + name(55) + "));\n");
}

TEST_CASE("what follows brackets stays on their last line") {
  const Doc condition = Doc::infix(Doc::list("f(", {name(50), name(50)}, ")"), "&&", "b");
  CHECK(("if (" + condition + ") [[unlikely]] {").lines() ==
        "if (f(" + name(50) + ", " + name(50) + ") &&\n    b) [[unlikely]] {\n");
  const Doc narrow = "if (" + Doc::list("f(", {name(50), name(50)}, ")") + ") [[unlikely]] {";
  CHECK(narrow.lines() == "if (f(" + name(50) + ",\n      " + name(50) + ")) [[unlikely]] {\n");
}

TEST_CASE("operands stand below each other, and those of one operator in one run") {
  const Doc all = Doc::infix(Doc::infix(name(50), "||", name(50)), "||", name(50));
  CHECK(("if (" + all + ") {").lines() == "if (" + name(50) + " || " + name(50) + " ||\n    " + name(50) + ") {\n");
  const Doc either = Doc::choice(name(20), name(60), name(60));
  CHECK(("return " + either + ";").lines() ==
        "return " + name(20) + "\n" + blanks(11) + "? " + name(60) + "\n" + blanks(11) + ": " + name(60) + ";\n");
}

TEST_CASE("an assignment may go on in the next line") {
  CHECK((Doc::assignment("const auto y", name(105)) + ";").lines(2) == "  const auto y =\n      " + name(105) + ";\n");
  CHECK((Doc::assignment("y", Doc::list("f(", {name(60), name(70)}, ")")) + ";").lines() ==
        "y = f(" + name(60) + ",\n      " + name(70) + ");\n");
}

TEST_CASE("a statement goes below its condition") {
  CHECK(Doc::conditional("a", ")", "f();").lines() == "if (a) f();\n");
  CHECK(Doc::conditional(name(60), ")", name(70) + ";").lines(2) == "  if (" + name(60) + ")\n    " + name(70) + ";\n");
  const Doc condition = "!" + Doc::list(name(60) + "(", {name(40), name(60)}, ")");
  CHECK(Doc::conditional(condition, ") {").lines() ==
        "if (!" + name(60) + "(\n        " + name(40) + ", " + name(60) + ")) {\n");
}

TEST_CASE("a literal breaks behind a blank, and its pieces stand below each other") {
  CHECK((Doc::assignment(".doc", Doc::literal(name(70) + " a, " + name(60) + " b")) + ",").lines(4) ==
        "    .doc = \"" + name(70) + " a, \"\n" + blanks(11) + "\"" + name(60) + " b\",\n");
  CHECK(Doc::literal(name(70) + " " + name(70), 4).lines(1) == " \"" + name(70) + " \"\n     \"" + name(70) + "\"\n");
}

TEST_CASE("a literal escapes what C++ does, and no escape is broken") {
  CHECK(cpp_string("a \"b\" \\ c\n") == "\"a \\\"b\\\" \\\\ c\\n\"");
  CHECK(Doc::literal(name(110) + " \"quoted\"\n").lines() == "\"" + name(110) + " \"\n\"\\\"quoted\\\"\\n\"\n");
  CHECK(cpp_string("\t1\x7F") == "\"\\0111\\177\"");  // three digits: what follows is not one of them
  CHECK(Doc::literal("").flat() == "\"\"");
  CHECK(Doc::literal(" ").flat() == "\" \"");
  CHECK(Doc::literal("a  b ").flat() == "\"a  b \"");
}

TEST_CASE("empty brackets are a text") {
  CHECK(Doc::list("f(", {}, ")").lines() == "f()\n");
  CHECK(Doc::rows("{", {}, "}").lines() == "{}\n");
}

TEST_CASE("rows have a line each, and begin one") {
  const Doc rows = Doc::rows("{", {"{a, 1}", "{b, 2}"}, "}");
  CHECK(rows.lines(2) == "  {{a, 1},\n   {b, 2}}\n");
  CHECK(Doc::below(Doc::rows("T kTable[] = {", {"{}", "{a}"}, "};")).lines() == "T kTable[] = {\n    {},\n    {a}};\n");
  CHECK(Doc::below(Doc::list("f(", {"a", "b", rows}, ");")).lines(2) ==
        "  f(\n      a, b,\n      {{a, 1},\n       {b, 2}});\n");
}
