#include <keyway/core/schema/literal.h>
#include <keyway/core/schema/parser.h>
#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/type.h>
#include <keyway/tests/catch.h>

#include <cstddef>
#include <string>

using namespace keyway;

TEST_CASE("a type is read from the outside in") {
  const SchemaType type = schema_literal<"f(int[2]? x) -> ()">.arguments()[0].type();
  REQUIRE(type.kind() == TypeKind::Optional);
  REQUIRE(type.element().kind() == TypeKind::List);
  CHECK(type.element().list_size() == 2);
  CHECK(type.element().element().kind() == TypeKind::Int);
  CHECK(type.list_size() == 0);
  CHECK(type.parts().size() == 1);
}

TEST_CASE("suffixes nest in any order") {
  constexpr FunctionSchema schema = schema_literal<"f(Tensor?[] a, Tensor[]? b, Tensor[][] c, int[2][3] d) -> ()">;
  const auto kinds = [&](std::size_t i) {
    std::string text;
    for (SchemaType type = schema.arguments()[i].type();; type = type.element()) {
      text += type.kind() == TypeKind::List ? 'L' : type.kind() == TypeKind::Optional ? 'O' : 'T';
      if (type.parts().empty()) return text;
    }
  };
  CHECK(kinds(0) == "LOT");
  CHECK(kinds(1) == "OLT");
  CHECK(kinds(2) == "LLT");
  CHECK(schema.arguments()[3].type().list_size() == 3);
  CHECK(schema.arguments()[3].type().element().list_size() == 2);
}

TEST_CASE("types made of several have their parts in order") {
  constexpr FunctionSchema schema =
      schema_literal<"f(Dict(str, (int, t)[]) d, Union(Tensor, None, Future(RRef(int))) u) -> ()">;
  const SchemaType dict = schema.arguments()[0].type();
  REQUIRE(dict.parts().size() == 2);
  auto part = dict.parts().begin();
  CHECK((*part).kind() == TypeKind::Str);
  ++part;
  CHECK((*part).element().kind() == TypeKind::Tuple);
  CHECK((*part).element().parts().size() == 2);

  const SchemaType choice = schema.arguments()[1].type();
  std::string names;
  for (const SchemaType type : choice.parts()) names += to_string(type) + ";";
  CHECK(names == "Tensor;None;Future(RRef(int));");
}

TEST_CASE("a class is named by its whole path") {
  const SchemaType type = schema_literal<"f(__torch__.torch.classes.ns.C? x) -> ()">.arguments()[0].type();
  CHECK(type.element().kind() == TypeKind::Class);
  CHECK(type.element().name() == "__torch__.torch.classes.ns.C");
}

TEST_CASE("every simple type name parses to its own kind and prints as it was") {
  for (const detail::TypeName& entry : detail::kTypeNames) {
    if (entry.kind >= TypeKind::List) continue;
    const std::string text = "f(" + std::string(entry.name) + " x) -> " + std::string(entry.name);
    const ParseResult result = parse_schema(text);
    INFO(text);
    REQUIRE(result.ok());
    CHECK(result.schema().arguments()[0].type().kind() == entry.kind);
    CHECK(to_string(result.schema()) == text);
  }
}

TEST_CASE("an annotation belongs to the type it follows") {
  constexpr FunctionSchema schema = schema_literal<"f(Tensor(a!)[](b) x, Tensor(c)? y, t[](d!) z, Tensor w) -> ()">;
  const SchemaType list = schema.arguments()[0].type();
  CHECK(list.alias().before() == AliasSet("b"));
  CHECK(list.element().alias().before() == AliasSet("a"));
  CHECK_FALSE(list.alias().is_write());
  CHECK(list.is_write());  // its elements are
  CHECK_FALSE(schema.arguments()[1].type().alias());
  CHECK(schema.arguments()[1].type().is_alias());
  CHECK(schema.arguments()[2].type().alias().is_write());
  CHECK_FALSE(schema.arguments()[3].type().is_alias());
}

TEST_CASE("types of different schemas compare by structure") {
  constexpr FunctionSchema a = schema_literal<"f(int x, Dict(str, Tensor(a!)[2])? y) -> ()">;
  constexpr FunctionSchema b = schema_literal<"g(Dict( str,Tensor( a ! )[2] )? y, int[] z) -> ()">;
  CHECK(a.arguments()[1].type() == b.arguments()[0].type());
  CHECK_FALSE(a.arguments()[0].type() == b.arguments()[1].type());
}
