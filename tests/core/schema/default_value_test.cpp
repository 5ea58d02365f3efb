#include <keyway/core/schema/default_value.h>
#include <keyway/tests/catch.h>

#include <cstdint>
#include <limits>

using namespace keyway;

static_assert(DefaultValue("-100").as_int() == -100);
static_assert(DefaultValue("[0,1]").elements()[1].as_int() == 1);

TEST_CASE("the spelling of a default tells its kind") {
  const auto kind = [](const char* text) { return DefaultValue(text).kind(); };
  CHECK(kind("None") == DefaultKind::None);
  CHECK(kind("True") == DefaultKind::Bool);
  CHECK(kind("-1") == DefaultKind::Int);
  CHECK(kind("1e-05") == DefaultKind::Float);
  CHECK(kind("1.") == DefaultKind::Float);
  CHECK(kind(".5") == DefaultKind::Float);
  CHECK(kind("-inf") == DefaultKind::Float);
  CHECK(kind("nan") == DefaultKind::Float);
  CHECK(kind("1j") == DefaultKind::Complex);
  CHECK(kind("'none'") == DefaultKind::String);
  CHECK(kind("\"None\"") == DefaultKind::String);
  CHECK(kind("[]") == DefaultKind::List);
  CHECK(kind("contiguous_format") == DefaultKind::Identifier);
  CHECK(kind("Mean") == DefaultKind::Identifier);
}

TEST_CASE("a value is there only for its own kind") {
  CHECK(DefaultValue("True").as_bool() == true);
  CHECK(DefaultValue("False").as_bool() == false);
  CHECK_FALSE(DefaultValue("1").as_bool());
  CHECK_FALSE(DefaultValue("1.0").as_int());
  CHECK_FALSE(DefaultValue("None").as_string());
  CHECK(DefaultValue("'a\\'b'").as_string() == "a\\'b");
}

TEST_CASE("an integer is read to the last of 64 bits and not further") {
  CHECK(DefaultValue("9223372036854775807").as_int() == std::numeric_limits<std::int64_t>::max());
  CHECK(DefaultValue("-9223372036854775808").as_int() == std::numeric_limits<std::int64_t>::min());
  CHECK_FALSE(DefaultValue("9223372036854775808").as_int());
  CHECK_FALSE(DefaultValue("-9223372036854775809").as_int());
  CHECK_FALSE(DefaultValue("99999999999999999999999").as_int());
}

TEST_CASE("the elements of a list are defaults, whatever stands inside them") {
  const DefaultValue::Elements list = DefaultValue("[ 'a, ]', [1,2] , \"x\\\"]\" ]").elements();
  REQUIRE(list.size() == 3);
  CHECK(list[0].as_string() == "a, ]");
  CHECK(list[1].elements().size() == 2);
  CHECK(list[1].elements()[1].as_int() == 2);
  CHECK(list[2].as_string() == "x\\\"]");
  CHECK(DefaultValue("[]").elements().size() == 0);
  CHECK(DefaultValue("[ ]").elements().size() == 0);
  CHECK(DefaultValue("7").elements().size() == 0);
}

TEST_CASE("lists are equal up to white space, other defaults as spelled") {
  CHECK(DefaultValue("[0, 1]") == DefaultValue("[ 0,1 ]"));
  CHECK_FALSE(DefaultValue("[0,1]") == DefaultValue("[0,1,2]"));
  CHECK_FALSE(DefaultValue("1.0") == DefaultValue("1."));
}
