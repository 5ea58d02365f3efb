#include <keyway/core/schema/literal.h>
#include <keyway/core/schema/schema.h>
#include <keyway/tests/catch.h>

#include <string>

using namespace keyway;

namespace {
constexpr FunctionSchema kAddOut =
    schema_literal<"aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)">;
}

// What a schema says is known to the compiler.
static_assert(kAddOut.name() == "add" && kAddOut.overload_name() == "out" && kAddOut.namespace_name() == "aten");
static_assert(kAddOut.full_name() == "aten::add.out");
static_assert(kAddOut.arguments().size() == 4 && kAddOut.positional_count() == 2);
static_assert(kAddOut.arguments()[2].default_value()->as_int() == 1);
static_assert(kAddOut.arguments()[3].is_out() && !kAddOut.arguments()[2].is_out());
static_assert(kAddOut.is_out() && kAddOut.out_count() == 1 && kAddOut.is_mutable() && !kAddOut.is_inplace());
static_assert(kAddOut.returns().size() == 1 && kAddOut.returns()[0].name().empty());
static_assert(kAddOut.arguments().find("alpha") == 2 && !kAddOut.arguments().find("Alpha"));

TEST_CASE("a name is split into namespace, base and overload") {
  constexpr FunctionSchema plain = schema_literal<"relu(Tensor self) -> Tensor">;
  CHECK(plain.namespace_name().empty());
  CHECK(plain.overload_name().empty());
  CHECK(plain.full_name() == "relu");
  constexpr FunctionSchema special = schema_literal<"ns::__and__._x(Tensor self) -> Tensor">;
  CHECK(special.namespace_name() == "ns");
  CHECK(special.name() == "__and__");
  CHECK(special.overload_name() == "_x");
  CHECK(schema_literal<"  relu.out (Tensor self) -> Tensor">.full_name() == "relu.out");
}

TEST_CASE("in-place means a name that says so and a first argument that is written to") {
  CHECK(schema_literal<"add_(Tensor(a!) self) -> Tensor(a!)">.is_inplace());
  CHECK(schema_literal<"__iand__(Tensor(a!) self) -> Tensor(a!)">.is_inplace());
  CHECK_FALSE(schema_literal<"__and__(Tensor self) -> Tensor">.is_inplace());
  CHECK_FALSE(schema_literal<"add_(Tensor self) -> Tensor">.is_inplace());
  CHECK_FALSE(schema_literal<"record_stream(Tensor(a!) self) -> ()">.is_inplace());
}

TEST_CASE("a view aliases an argument and writes to none") {
  constexpr FunctionSchema view = schema_literal<"view(Tensor(a) self, SymInt[] size) -> Tensor(a)">;
  CHECK(view.is_alias());
  CHECK_FALSE(view.is_mutable());
  CHECK_FALSE(view.is_out());
}

TEST_CASE("arguments after the star are keyword-only, whatever their default") {
  constexpr FunctionSchema schema = schema_literal<"f(Tensor a, int b=1, *, int c, int d=2) -> ()">;
  std::string keyword_only;
  for (const Argument argument : schema.arguments()) {
    if (argument.is_kwarg_only()) keyword_only += argument.name();
  }
  CHECK(keyword_only == "cd");
  CHECK_FALSE(schema.arguments()[2].has_default());
  CHECK(schema_literal<"f(*, int a) -> ()">.positional_count() == 0);
}

TEST_CASE("one value stands for all of a list of fixed size") {
  constexpr FunctionSchema schema =
      schema_literal<"f(int[2] a=0, int[2]? b=1, int[2] c=[], int[2]? d=None, int[2] e, int f=1) -> ()">;
  std::string replicated;
  for (const Argument argument : schema.arguments()) {
    if (argument.replicates_default()) replicated += argument.name();
  }
  CHECK(replicated == "ab");
}

TEST_CASE("returns may be none, one, several, named or open") {
  CHECK(schema_literal<"f() -> ()">.returns().empty());
  CHECK(schema_literal<"f() -> (Tensor)">.returns().size() == 1);
  CHECK(schema_literal<"f() -> Tensor result">.returns()[0].name() == "result");
  constexpr FunctionSchema pair = schema_literal<"f() -> (Tensor values, Tensor indices)">;
  CHECK(pair.returns().find("indices") == 1);
  CHECK_FALSE(pair.is_varret());
  constexpr FunctionSchema open = schema_literal<"f(int n, ...) -> (int, ...)">;
  CHECK(open.is_vararg());
  CHECK(open.is_varret());
  CHECK(open.arguments().size() == 1);
  CHECK(open.returns().size() == 1);
  CHECK(schema_literal<"f(...) -> ...">.is_varret());
}

TEST_CASE("words that C++ or Python reserve are good names of arguments") {
  CHECK(
      schema_literal<"f(int self, int from, int to, int end, int lambd, int in, int for, int t) -> ()">.arguments().size() ==
      8);
}

TEST_CASE("schemas are equal up to white space") {
  CHECK(schema_literal<"f(int[2] x=[0,1], *, Tensor(a! -> *) y)->(Tensor)"> ==
        schema_literal<" f ( int [ 2 ]  x = [ 0, 1 ],*,Tensor ( a !->* )y )  ->  Tensor ">);
  constexpr FunctionSchema base = schema_literal<"f(int x, *, int y=1) -> int">;
  CHECK_FALSE(base == schema_literal<"g(int x, *, int y=1) -> int">);
  CHECK_FALSE(base == schema_literal<"f(int x, int y=1) -> int">);
  CHECK_FALSE(base == schema_literal<"f(int x, *, int y=2) -> int">);
  CHECK_FALSE(base == schema_literal<"f(int x, *, int z=1) -> int">);
  CHECK_FALSE(base == schema_literal<"f(int x, *, int y=1) -> float">);
  CHECK_FALSE(base == schema_literal<"f(int x, *, int y=1) -> int r">);
  CHECK_FALSE(base == schema_literal<"f.o(int x, *, int y=1) -> int">);
}
