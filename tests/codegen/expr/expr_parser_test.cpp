#include <keyway/codegen/expr/expr.h>
#include <keyway/codegen/expr/expr_error.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>

#include <random>

using namespace keyway;

namespace {

std::string canonical(std::string_view text) { return to_text(*parse_expr(text)); }

// "column: text" of the error, columns from 1.
std::string error_of(std::string_view text) {
  try {
    parse_expr(text);
  } catch (const ExprError& error) {
    return std::to_string(error.offset() + 1) + ": " + error.what();
  }
  return "no error";
}

// A random tree, printed with a parenthesis around every operand.
std::string random_text(std::mt19937& random, int depth) {
  const auto part = [&] { return "(" + random_text(random, depth - 1) + ")"; };
  const auto pick = [&](std::initializer_list<const char*> texts) {
    return std::string(texts.begin()[random() % texts.size()]);
  };
  if (depth == 0) return pick({"x", "1", "2.5e-3", "'s'", "None", "True", "[]", "f()"});
  switch (random() % 9) {
    case 0: return part() + pick({"||", "&&", "|", "+", "-", "*", "/", "%"}) + part();
    case 1: return pick({"-", "!"}) + part();
    case 2: return part() + pick({"==", "<", ">="}) + part() + pick({"!=", "<="}) + part();
    case 3: return part() + " in {" + part() + "," + part() + "}";
    case 4: return part() + "?" + part() + ":" + part();
    case 5: return "f(" + part() + ", k=" + part() + ")";
    case 6: return part() + ".m(" + part() + ")";
    case 7: return part() + pick({"[1]", "[1:]", "[:y]", "[:]"});
    default: return pick({"[", "("}) == "[" ? "[" + part() + "," + part() + "]" : "(" + part() + "," + part() + ")";
  }
}

}  // namespace

TEST_CASE("an expression prints with single spaces and the parentheses that it needs") {
  CHECK(canonical("((a))+ b *c") == "a + b * c");
  CHECK(canonical("(a+b)*c") == "(a + b) * c");
  CHECK(canonical("a-(b-c)") == "a - (b - c)");
  CHECK(canonical("(a-b)-c") == "a - b - c");
  CHECK(canonical("-(-x) . f( )") == "-(-x).f()");
  CHECK(canonical("!(a&&b)||c") == "!(a && b) || c");
  CHECK(canonical("0<=i<n") == "0 <= i < n");
  CHECK(canonical("(0<=i)<n") == "(0 <= i) < n");
  CHECK(canonical("a?b:(c?d:e)") == "a ? b : c ? d : e");
  CHECK(canonical("(a?b:c)?d:e") == "(a ? b : c) ? d : e");
  CHECK(canonical("len(x)in{1 ,n}") == "len(x) in {1, n}");
  CHECK(canonical("floating|complex") == "floating | complex");
  CHECK(canonical("x[-n:][0]") == "x[-n:][0]");
  CHECK(canonical("let n=x.dim()-2") == "let n = x.dim() - 2");
  CHECK(canonical("f([1,2.50],(a,),(a,b),'s',\"it's\",k=None)") == "f([1, 2.50], (a,), (a, b), 's', \"it's\", k=None)");
}

TEST_CASE("printing and parsing again gives the same expression") {
  std::mt19937 random(7);
  for (int i = 0; i < testing::campaign(2000); ++i) {
    const std::string text = random_text(random, 1 + static_cast<int>(random() % 4));
    const std::string printed = canonical(text);
    INFO(text);
    CHECK(canonical(printed) == printed);
  }
}

TEST_CASE("a node points at its place in the text") {
  const ExprPtr expr = parse_expr("a + foo(b)");
  CHECK(expr->offset == 2);
  CHECK(children(*expr)[0]->offset == 0);
  CHECK(children(*expr)[1]->offset == 4);
  CHECK(children(*children(*expr)[1])[0]->offset == 8);
}

TEST_CASE("a syntax error says what was expected and where") {
  CHECK(error_of("") == "1: expected a value, but the text ends here");
  CHECK(error_of("a +") == "4: expected a value, but the text ends here");
  CHECK(error_of("a b") == "3: expected the end of the expression, but found 'b'");
  CHECK(error_of("f(a, b") == "7: expected ',', but the text ends here");
  CHECK(error_of("self.") == "6: expected the name of a method, but the text ends here");
  CHECK(error_of("self.sizes") == "11: expected '(', but the text ends here");
  CHECK(error_of("a ? b") == "6: expected ':', but the text ends here");
  CHECK(error_of("x in {}") == "3: the set after 'in' is empty");
  CHECK(error_of("f(k=1, 2)") == "8: a positional argument behind one with a name");
  CHECK(error_of("f(k=1, k=2)") == "8: argument 'k' is given twice");
  CHECK(error_of("a = b") == "3: expected the end of the expression, but found '='");
  CHECK(error_of("a $ b") == "3: unexpected character '$'");
  CHECK(error_of("a \xC3\xA9") == "3: unexpected character '\xC3\xA9'");
  CHECK(error_of("12abc") == "1: '12abc' is no number");
  CHECK(error_of("99999999999999999999") == "1: this number does not fit in 64 bits");
  CHECK(error_of("1e999") == "1: this number does not fit in a double");
  CHECK(error_of("'open") == "1: this string has no closing quote");
  CHECK(error_of("'a\\n'") == "3: a string has no escapes here");
  CHECK(error_of("f(let x = 1)") == "3: expected a value, but found 'let'");
}

TEST_CASE("deep expressions are refused, nested or long") {
  const auto repeated = [](std::string_view text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  for (const char* text : {"(", "[", "-", "!", "f(", "x ? ", "x[", "x + ("})
    CHECK(error_of(repeated(text, 20000)).find("nested more than 64 deep") != std::string::npos);
  CHECK(error_of("x" + repeated(" + x", 20000)).find("nested more than 64 deep") != std::string::npos);
  CHECK(error_of("x" + repeated(".f()", 20000)).find("nested more than 64 deep") != std::string::npos);
  CHECK(error_of("x" + repeated(" + x", 50)) == "no error");
  CHECK(error_of("[x" + repeated(", x", 20000) + "]") == "no error");
}
