#include <keyway/codegen/base/names.h>
#include <keyway/tests/catch.h>

using namespace keyway;

TEST_CASE("a name that cannot stand in generated code is refused with the reason") {
  CHECK_FALSE(name_fault("self").has_value());
  CHECK_FALSE(name_fault("_index").has_value());
  CHECK(name_fault("") == "is empty");
  CHECK(name_fault("register") == "is a C++ keyword");
  CHECK(name_fault("xor") == "is a C++ keyword");
  for (const char* bad : {"1st", "a b", "a-b", "a'b", "a\"b", "a\nb", "a*/b",
                          "gr\xC3\xB6\xC3\x9F"
                          "e",
                          "a::b"})
    CHECK(name_fault(bad) == "is not an identifier (letters, digits and underscores, no digit first)");
  CHECK(name_fault(std::string(65536, 'a')) == "has 65536 characters, but a name has 128 at most");
}

TEST_CASE("an argument has no name that hides what generated code needs") {
  CHECK_FALSE(argument_name_fault("out").has_value());
  CHECK(argument_name_fault("items") == "is a function that generated code calls");
  for (const char* name : {"Element", "T", "like"})
    CHECK(argument_name_fault(name) == "is a name that generated code has for something else");
}

TEST_CASE("a qualified name is made of names") {
  CHECK_FALSE(qualified_name_fault("nn::relu").has_value());
  CHECK(qualified_name_fault("nn::").has_value());
  CHECK(qualified_name_fault("nn::new") == "is a C++ keyword");
}

TEST_CASE("quotes show a text on one line and cut a long one") {
  CHECK(in_quotes("other") == "'other'");
  CHECK(in_quotes("a\nb\x7F") == "'a\\x0ab\\x7f'");
  CHECK(in_quotes(std::string(100, 'x')) == "'" + std::string(60, 'x') + "...'");
  CHECK(in_quotes(std::string(59, 'x') + "\xC3\x9F and more") == "'" + std::string(59, 'x') + "...'");
}

TEST_CASE("the nearest candidate is suggested, and none where none is near") {
  const std::vector<std::string> names = {"self", "other", "alpha"};
  CHECK(did_you_mean("othr", names) == "; did you mean 'other'?");
  CHECK(did_you_mean("aplha", names) == "; did you mean 'alpha'?");
  CHECK(did_you_mean("weight", names).empty());
  CHECK(did_you_mean(std::string(65536, 'a'), names).empty());
}
