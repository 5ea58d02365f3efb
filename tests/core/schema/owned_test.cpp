#include <keyway/core/schema/owned.h>
#include <keyway/core/schema/printer.h>
#include <keyway/tests/catch.h>

#include <string>
#include <utility>
#include <vector>

using namespace keyway;

TEST_CASE("an owned schema outlives the text it was parsed from") {
  std::string text = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
  const std::string before = text;
  const OwnedSchema schema(text);
  text.assign(text.size(), 'x');
  CHECK(to_string(*schema) == before);
}

TEST_CASE("views of an owned schema stay valid when it is moved, and while a copy lives") {
  std::vector<OwnedSchema> schemas;
  schemas.emplace_back("f(Tensor(a!) self) -> Tensor(a!)");
  const FunctionSchema view = *schemas[0];
  const Argument self = view.arguments()[0];
  for (int i = 0; i < 100; ++i) schemas.emplace_back("g() -> ()");
  OwnedSchema moved = std::move(schemas[0]);
  schemas.clear();
  CHECK(view.name() == "f");
  CHECK(to_string(self) == "Tensor(a!) self");
  const OwnedSchema copy = moved;
  moved = OwnedSchema("h() -> ()");
  CHECK(self.name() == "self");
  CHECK(copy->name() == "f");
}

TEST_CASE("text that cannot be parsed is an error that quotes it, with the column") {
  CHECK(testing::error_of([] { OwnedSchema("add(tensor a) -> Tensor"); }) ==
        "schema 'add(tensor a) -> Tensor', column 5: 'tensor' is not a type; did you mean 'Tensor'?");
  try {
    OwnedSchema("f(");
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Parse);
  }
}
