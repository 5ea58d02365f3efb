#include <keyway/core/schema/hash.h>
#include <keyway/core/schema/literal.h>
#include <keyway/core/schema/parser.h>
#include <keyway/core/schema/type_kind.h>
#include <keyway/tests/catch.h>

#include <type_traits>

using namespace keyway;

namespace {

// 64 arguments stay below the step limits of both compilers.
constexpr FunctionSchema kLargest = schema_literal<
    "f(Tensor(a!)[] a0, Tensor? a1, int[2] a2=0, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int "
    "b0, "
    "int b1, int b2, int b3, int b4, int b5, int b6, int b7, int b8, int b9, int c0, int c1, int c2, int c3, "
    "int c4, "
    "int c5, int c6, int c7, int c8, int c9, int d0, int d1, int d2, int d3, int d4, int d5, int d6, int d7, "
    "int d8, "
    "int d9, int e0, int e1, int e2, int e3, int e4, int e5, int e6, int e7, int e8, int e9, int f0, int f1, "
    "int f2, "
    "int f3, int f4, int f5, int f6, int f7, int f8, int f9, Tensor g0, Dict(str, Tensor) g1, float "
    "g2=1e-05, "
    "ScalarType? g3=long) -> (Tensor, Tensor)">;
static_assert(kLargest.arguments().size() == 64);

constexpr FunctionSchema kSmall = schema_literal<"relu(Tensor self) -> Tensor">;
static_assert(hash(kSmall) == hash(schema_literal<"relu( Tensor  self)->Tensor">));
static_assert(hash(kSmall) != hash(schema_literal<"relu_(Tensor self) -> Tensor">));
static_assert(kSmall == schema_literal<"relu( Tensor  self)->Tensor">);

// What is constant-initialised is trivially destructible too, and can be passed by value.
static_assert(std::is_trivially_destructible_v<FunctionSchema> && std::is_trivially_copyable_v<FunctionSchema>);
static_assert(sizeof(detail::kSchemaTables<"relu(Tensor self) -> Tensor">) < 100);

// A parse that fails is a value like any other.
static_assert(!parse_schema("f(tensor x) -> ()").ok());
static_assert(parse_schema("f(tensor x) -> ()").column() == 3);
static_assert(parse_schema("f(tensor x) -> ()").error.code == SchemaErrorCode::UnknownType);
static_assert(parse_schema("f(tensor x) -> ()").error.detail == "Tensor");
static_assert(fixed_text<detail::SchemaMessage<detail::kParseError<"f(u x) -> ()">>>().view() == "'u' is not a type");

static_assert(detail::suggest_type_name("tensor") == "Tensor");
static_assert(detail::suggest_type_name("memoryformat") == "MemoryFormat");
static_assert(detail::suggest_type_name("x").empty());

}  // namespace

TEST_CASE("a literal is one object wherever it is named") {
  CHECK(schema_literal<"relu(Tensor self) -> Tensor">.text().data() == kSmall.text().data());
}
