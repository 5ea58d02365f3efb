#include <keyway/tests/catch.h>
#include <keyway/tests/core/schema/error_in.h>

#include <string>

using namespace keyway;
using keyway::testing::error_in;

TEST_CASE("an unknown type is an error that suggests what was meant") {
  CHECK(error_in("f(tensor x) -> ()") == "3: 'tensor' is not a type; did you mean 'Tensor'?");
  CHECK(error_in("f(Int x) -> ()") == "3: 'Int' is not a type; did you mean 'int'?");
  CHECK(error_in("f(symint[] x) -> ()") == "3: 'symint' is not a type; did you mean 'SymInt'?");
  CHECK(error_in("f(Tesnor x) -> ()") == "3: 'Tesnor' is not a type; did you mean 'Tensor'?");
  CHECK(error_in("f(Int64 x) -> ()") == "3: 'Int64' is not a type; did you mean 'int'?");
  CHECK(error_in("f(string x) -> ()") == "3: 'string' is not a type; did you mean 'str'?");
  CHECK(error_in("f(double x) -> ()") == "3: 'double' is not a type; did you mean 'float'?");
  CHECK(error_in("f(Zebra x) -> ()") == "3: 'Zebra' is not a type");
  CHECK(error_in("f(Tensor x) -> Dict(str, u)") == "26: 'u' is not a type");
}

TEST_CASE("what stands in the wrong place is named together with what should stand there") {
  CHECK(error_in("") == "1: expected the operator's name, but the text ends here");
  CHECK(error_in("1f() -> ()") == "1: '1f' is not a number");
  CHECK(error_in("f -> ()") == "3: expected '(' and the arguments, but found '->'");
  CHECK(error_in("f(") == "3: expected a type, but the text ends here");
  CHECK(error_in("f(Tensor) -> ()") == "9: expected the argument's name, but found ')'");
  CHECK(error_in("f(Tensor a Tensor b) -> ()") == "12: expected ',' or ')' after an argument, but found 'Tensor'");
  CHECK(error_in("f(Tensor a,) -> ()") == "12: expected a type, but found ')'");
  CHECK(error_in("f(Tensor a)") == "12: expected '->' and the returns, but the text ends here");
  CHECK(error_in("f(Tensor a) Tensor") == "13: expected '->' and the returns, but found 'Tensor'");
  CHECK(error_in("f(Tensor a) ->") == "15: expected a type, but the text ends here");
  CHECK(error_in("f() -> Tensor, Tensor") == "14: expected nothing after the returns, but found ','");
  CHECK(error_in("f() -> () x") == "11: expected nothing after the returns, but found 'x'");
  CHECK(error_in("f() -> (Tensor, ") == "17: expected a type, but the text ends here");
  CHECK(error_in("f(int x=) -> ()") == "9: expected a default value, but found ')'");
  CHECK(error_in("f(int[] x=[1 2]) -> ()") == "14: expected ',' or ']' after an element, but found '2'");
}

TEST_CASE("a name must be whole and an overload's must not be reserved") {
  CHECK(error_in("f.default() -> ()") ==
        "3: 'default' cannot name an overload: 'default' and names that begin with '__' are reserved");
  CHECK(error_in("f.__x() -> ()") ==
        "3: '__x' cannot name an overload: 'default' and names that begin with '__' are reserved");
  CHECK(error_in("f._x() -> ()") == "ok");
  CHECK(error_in("a:: f() -> ()") == "5: expected a name right after '::', but found 'f'");
  CHECK(error_in("f .x() -> ()") == "3: expected '(' and the arguments, but found '.'");
  CHECK(error_in("f. x() -> ()") == "4: expected the overload's name right after '.', but found 'x'");
  CHECK(error_in("a::b::f() -> ()") == "5: expected '(' and the arguments, but found '::'");
}

TEST_CASE("names are unique among the arguments and among the returns") {
  CHECK(error_in("f(int x, *, Tensor x) -> ()") == "20: there are two arguments named 'x'");
  CHECK(error_in("f() -> (int r, int r)") == "20: there are two returns named 'r'");
  CHECK(error_in("f(Tensor x) -> Tensor x") == "ok");
}

TEST_CASE("a star stands once, before an argument, and dots stand last") {
  CHECK(error_in("f(*, int x, *, int y) -> ()") == "13: there is a second '*' among the arguments");
  CHECK(error_in("f(int x, *) -> ()") == "10: no keyword-only argument follows the '*'");
  CHECK(error_in("f(..., int x) -> ()") == "8: '...' must come last");
  CHECK(error_in("f() -> (..., int)") == "14: '...' must come last");
  CHECK(error_in("f(int x=1, ...) -> ()") == "12: an operator that takes '...' cannot have default values");
}

TEST_CASE("a default must fit its type") {
  CHECK(error_in("f(int x=1.5) -> ()") == "9: the default '1.5' does not fit the type 'int'");
  CHECK(error_in("f(Tensor x=1) -> ()") == "12: the default '1' does not fit the type 'Tensor'");
  CHECK(error_in("f(Tensor x=None) -> ()") == "12: the default 'None' does not fit the type 'Tensor'");
  CHECK(error_in("f(Tensor(a!)? x=0) -> ()") == "17: the default '0' does not fit the type 'Tensor(a!)?'");
  CHECK(error_in("f(int[] x=1) -> ()") == "11: the default '1' does not fit the type 'int[]'");
  CHECK(error_in("f(int[2] x=[1, a]) -> ()") == "12: '[1, a]' is not a value of the type 'int[2]'");
  CHECK(error_in("f(bool x=true) -> ()") == "10: the default 'true' does not fit the type 'bool'");
  CHECK(error_in("f(str x=none) -> ()") == "9: the default 'none' does not fit the type 'str'");
  CHECK(error_in("f(ScalarType x=lnog) -> ()") == "16: 'lnog' is not a value of the type 'ScalarType'");
  CHECK(error_in("f(int x=9223372036854775808) -> ()") ==
        "9: the default '9223372036854775808' does not fit the type 'int'");
  CHECK(error_in("f(Union(int, str) x='a', float? y=1, Any z=[1,'a']) -> ()") == "ok");
}

TEST_CASE("malformed numbers and strings are named whole") {
  CHECK(error_in("f(int x=12abc) -> ()") == "9: '12abc' is not a number");
  CHECK(error_in("f(float x=1e) -> ()") == "11: '1e' is not a number");
  CHECK(error_in("f(float x=-.) -> ()") == "11: '-.' is not a number");
  CHECK(error_in("f(str x='abc) -> ()") == "9: the string ''abc) -> ()' has no closing quote");
  CHECK(error_in("f(str x=\"a\nb\") -> ()").starts_with("9: the string '\"a\\x0ab"));
}

TEST_CASE("the parts of a type are checked") {
  CHECK(error_in("f(int[0] x) -> ()") == "7: the size of a list is a whole number from 1 to 65535, not '0'");
  CHECK(error_in("f(int[-1] x) -> ()") == "7: the size of a list is a whole number from 1 to 65535, not '-1'");
  CHECK(error_in("f(int[1.5] x) -> ()") == "7: the size of a list is a whole number from 1 to 65535, not '1.5'");
  CHECK(error_in("f(int[65536] x) -> ()") == "7: the size of a list is a whole number from 1 to 65535, not '65536'");
  CHECK(error_in("f(int[n] x) -> ()") == "7: expected ']' or the list's size, but found 'n'");
  CHECK(error_in("f(Dict(str) x) -> ()") == "3: 'Dict' is made of a key and a value");
  CHECK(error_in("f(Future(int, int) x) -> ()") == "3: 'Future' is made of one type");
  CHECK(error_in("f(Future x) -> ()") == "10: expected '(' and what the type is made of, but found 'x'");
  CHECK(error_in("f(() x) -> ()") == "4: expected a type, but found ')'");
  CHECK(error_in("f(__torch__ x) -> ()") == "13: expected '.' and the rest of the class's name, but found 'x'");
  CHECK(error_in("f(__torch__.a. b x) -> ()") == "16: expected a name right after '.', but found 'b'");
}

TEST_CASE("the parts of an annotation are checked") {
  CHECK(error_in("f(Tensor(!) x) -> ()") == "10: expected the name of an alias set, or '*', but found '!'");
  CHECK(error_in("f(Tensor(a x) -> ()") == "12: expected ')' after an alias annotation, but found 'x'");
  CHECK(error_in("f(Tensor(a|) x) -> ()") == "12: expected the name of an alias set, or '*', but found ')'");
  CHECK(error_in("f(Tensor(a -> ) x) -> ()") == "15: expected the name of an alias set, or '*', but found ')'");
}
