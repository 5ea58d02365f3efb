#include <keyway/core/schema/alias.h>
#include <keyway/tests/catch.h>

using namespace keyway;

static_assert(!AliasInfo());
static_assert(AliasInfo("a!").is_write() && !AliasInfo("a").is_write());

TEST_CASE("an annotation without an arrow has one set before and after the call") {
  constexpr AliasInfo alias("a");
  CHECK(alias);
  CHECK(alias.before().size() == 1);
  CHECK(alias.before()[0] == "a");
  CHECK(alias.after() == alias.before());
  CHECK_FALSE(alias.has_after());
}

TEST_CASE("an annotation with an arrow has two sets, and only the first is written to") {
  constexpr AliasInfo alias(" a ! -> a | bc ");
  CHECK(alias.is_write());
  CHECK(alias.has_after());
  CHECK(alias.before() == AliasSet("a"));
  REQUIRE(alias.after().size() == 2);
  CHECK(alias.after()[0] == "a");
  CHECK(alias.after()[1] == "bc");
  CHECK(alias.after().contains("bc"));
  CHECK_FALSE(alias.after().contains("b"));
}

TEST_CASE("the star is the wildcard set") {
  CHECK(AliasInfo("*").before().is_wildcard());
  CHECK(AliasInfo("a -> *").after().is_wildcard());
  CHECK_FALSE(AliasInfo("a -> *").before().is_wildcard());
}

TEST_CASE("an exclamation mark alone is a fresh set that is written to") {
  constexpr AliasInfo fresh("!");
  CHECK(fresh.is_fresh());
  CHECK(fresh.is_write());
  CHECK(fresh.before().empty());
  CHECK_FALSE(AliasInfo("a!").is_fresh());
  CHECK_FALSE(AliasInfo().is_fresh());
}

TEST_CASE("annotations are equal up to white space") {
  CHECK(AliasInfo("a!->a|b") == AliasInfo(" a !  ->  a | b"));
  CHECK(AliasInfo("a") != AliasInfo("a!"));
  CHECK(AliasInfo("a") != AliasInfo("a -> a"));
  CHECK(AliasInfo("a") != AliasInfo());
}
